/**
 * Membership and shared maps. No other package knows Hazelcast.
 *
 * <p>What the maps say may be late or wrong, and nothing unsafe may follow from it. Begin with
 * {@link dev.evenkeel.cluster.ClusterMembers}.
 */
package dev.evenkeel.cluster;
