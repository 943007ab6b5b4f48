package dev.evenkeel.cluster;

import com.hazelcast.cluster.Address;
import com.hazelcast.cluster.impl.MemberImpl;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import com.hazelcast.core.LifecycleEvent;
import com.hazelcast.core.LifecycleListener;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.HazelcastInstanceImpl;
import com.hazelcast.instance.impl.Node;
import com.hazelcast.internal.cluster.impl.ClusterServiceImpl;
import com.hazelcast.internal.cluster.impl.TcpIpJoiner;
import com.hazelcast.internal.server.ServerConnectionManager;
import java.util.concurrent.TimeUnit;

/**
 * Shortens two delays of Hazelcast (5.3.8) when a cluster splits and merges again. It acts only on
 * the oldest member of each part:
 *
 * <ul>
 *   <li>A member that becomes the oldest asks all others which members they know, and waits up to 5
 *       s for each answer, one after another ({@code MembershipManager.fetchLatestMembersView}).
 *       Until then the lost partitions have no owner, nobody can join, and nobody looks for the
 *       other part. With this class the question to a member that has been silent for too long
 *       fails at once.
 *   <li>While it looks for other parts, it opens one connection after another, waits up to 5 s for
 *       each, and does not try again meanwhile ({@code AbstractJoiner.sendSplitBrainJoinMessage}).
 *       This class opens them beforehand, and tries again and again.
 * </ul>
 */
final class SplitBrainRecovery implements LifecycleListener, HazelcastInstanceAware {
  private static final String EXECUTOR = "evenkeel:split-brain";
  private static final long LOOK_MILLIS = 500;

  private final long silenceMillisMax;
  private volatile Node node;

  /**
   * @param silenceMillisMax silence after which Hazelcast suspects that a member is dead
   */
  SplitBrainRecovery(long silenceMillisMax) {
    this.silenceMillisMax = silenceMillisMax;
  }

  @Override
  public void setHazelcastInstance(HazelcastInstance hazelcast) {
    node = ((HazelcastInstanceImpl) hazelcast).node;
  }

  @Override
  public void stateChanged(LifecycleEvent event) {
    if (event.getState() == LifecycleEvent.LifecycleState.STARTED) {
      node.getNodeEngine()
          .getExecutionService()
          .scheduleWithRepetition(
              EXECUTOR, this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void look() {
    ClusterServiceImpl cluster = node.getClusterService();
    if (!cluster.isJoined() || !cluster.isMaster()) {
      return;
    }
    long silentSince = cluster.getClusterTime() - silenceMillisMax;
    for (MemberImpl member : cluster.getMemberImpls()) {
      // Such members exist only while this one asks who is there: once it has become the oldest, it
      // expels them.
      if (!member.localMember()
          && cluster.getClusterHeartbeatManager().getLastHeartbeatTime(member) <= silentSince) {
        node.getNodeEngine().getOperationService().onEndpointLeft(member.getAddress());
      }
    }
    ServerConnectionManager connections =
        node.getServer().getConnectionManager(EndpointQualifier.MEMBER);
    for (Address address : ((TcpIpJoiner) node.getJoiner()).getFilteredPossibleAddresses()) {
      connections.getOrConnect(address, true);
    }
  }
}
