package dev.evenkeel.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;

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
    Config config = HazelcastConfigs.common(clusterName, host);
    config.setLiteMember(true);
    HazelcastConfigs.socket(config).setPort(0);
    config.getAdvancedNetworkConfig().getJoin().getTcpIpConfig().setRequiredMember(member);
    return config;
  }
}
