/**
 * Membership and shared tables, and the only place that knows Hazelcast.
 *
 * <p>What it tells may be late or wrong; nothing unsafe may follow from it. It imports {@code
 * model} and {@code dedup}.
 */
package dev.evenkeel.cluster;
