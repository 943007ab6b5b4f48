/**
 * Membership and shared maps. No other package uses Hazelcast.
 *
 * <p>The maps may be late or wrong, so nothing unsafe may follow from them, and nodes reach each
 * other without them: see {@code MemberListManager}. Begin with {@link
 * dev.evenkeel.cluster.ClusterMembers}.
 *
 * <p>{@code ClusterMembers}, {@code ClusterMember} and {@code NodeSettings} serve launchers that
 * start a node of their own. The rest is no API for applications: it changes without notice.
 */
package dev.evenkeel.cluster;
