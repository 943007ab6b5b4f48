/**
 * A node's place among the others: forming a cluster, replacing a lost node, and which node leads
 * which log group.
 *
 * <p>Begin with {@link dev.evenkeel.broker.member.Membership}, which speaks on the event bus. The
 * other classes decide, and know neither the bus nor a clock.
 */
package dev.evenkeel.broker.member;
