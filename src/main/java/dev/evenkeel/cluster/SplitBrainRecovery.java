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
 * Keeps short what takes Hazelcast long when a cluster falls apart and finds together again
 * (5.3.8). It acts on the oldest member of a part only, which leads it:
 *
 * <ul>
 *   <li>Whoever becomes the oldest asks all others what members they know, and waits for their
 *       answers one after another, 5 s each ({@code MembershipManager.fetchLatestMembersView}).
 *       Until then the lost parts of the maps have no owner, nobody can join, and nobody looks for
 *       the other part. Here the question to a member that has been silent for too long fails at
 *       once.
 *   <li>Whoever looks for other parts opens one connection after another, waits 5 s for each, and
 *       does not try again meanwhile ({@code AbstractJoiner.sendSplitBrainJoinMessage}). Here they
 *       are opened beforehand, and again and again.
 * </ul>
 */
final class SplitBrainRecovery implements LifecycleListener, HazelcastInstanceAware {
  private static final String EXECUTOR = "evenkeel:split-brain";
  private static final long LOOK_MILLIS = 500;

  private final long silenceMillisMax;
  private volatile Node node;

  /**
   * @param silenceMillisMax after which Hazelcast suspects a member to be dead
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
      // There are such members only while this one asks who is there: it expels them when it has
      // become the oldest.
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
