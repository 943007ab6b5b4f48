/**
 * Membership and shared maps. No other package knows Hazelcast.
 *
 * <p>What the maps say may be late or wrong, and nothing unsafe may follow from it. Begin with
 * {@link dev.evenkeel.cluster.ClusterMembers}.
 *
 * <p>{@code ClusterMembers}, {@code ClusterMember} and {@code NodeSettings} serve launchers that
 * start a node of their own. The rest is no API for applications: it changes without notice.
 */
package dev.evenkeel.cluster;
