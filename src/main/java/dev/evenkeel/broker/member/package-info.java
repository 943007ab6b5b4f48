/**
 * A node's place among the others: forming a cluster, replacing a lost node, and who leads which
 * log. {@link dev.evenkeel.broker.member.Membership} speaks on the event bus; what it decides is in
 * classes that know neither the bus nor a clock.
 */
package dev.evenkeel.broker.member;
