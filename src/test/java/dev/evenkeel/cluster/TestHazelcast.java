package dev.evenkeel.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.protocol.HostPort;

/** Hazelcast members of tests. */
final class TestHazelcast {
  private TestHazelcast() {}

  /** The member in this JVM that listens at a port. */
  static HazelcastInstance at(int port) {
    return Hazelcast.getAllHazelcastInstances().stream()
        .filter(each -> each.getCluster().getLocalMember().getAddress().getPort() == port)
        .findFirst()
        .orElseThrow();
  }

  /** Of a lite member, at any port, that joins by a node at {@code member}. */
  static Config lite(String clusterName, String host, String member) {
    return HazelcastConfigs.lite(clusterName, host, HostPort.parse(member));
  }
}
