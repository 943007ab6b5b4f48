package dev.evenkeel.cluster;

import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.cluster.MembershipListener;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import com.hazelcast.instance.impl.HazelcastInstanceImpl;
import com.hazelcast.internal.cluster.impl.TcpIpJoiner;

/**
 * Forgets where clients were. Hazelcast asks for a while at the addresses of former members whether
 * their cluster fell apart from this one. The kernel gives the port of a client that has gone to
 * the next that asks, maybe a client of another cluster of the same name, and the two would become
 * one.
 */
final class FormerClients implements MembershipListener, HazelcastInstanceAware {
  private volatile TcpIpJoiner joiner;

  @Override
  public void setHazelcastInstance(HazelcastInstance hazelcast) {
    joiner = (TcpIpJoiner) ((HazelcastInstanceImpl) hazelcast).node.getJoiner();
  }

  @Override
  public void memberAdded(MembershipEvent event) {
    // Where a member is may be known.
  }

  @Override
  public void memberRemoved(MembershipEvent event) {
    if (event.getMember().isLiteMember()) {
      joiner.getKnownMemberAddresses().remove(event.getMember().getAddress());
    }
  }
}
