/**
 * A node's place among the others: forming a cluster, replacing a lost node, and which node leads
 * which log group.
 *
 * <p>Begin with {@link dev.evenkeel.broker.member.Membership}. {@code LeaderBalancer} and {@code
 * ViewWatch} decide, and know neither the event bus nor a clock.
 */
package dev.evenkeel.broker.member;
