package dev.evenkeel.bench;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * One of three members of a plain Hazelcast cluster with its defaults, which are CP members too:
 * {@code HazelcastNode PORT PORTS}. It prints a line when all are there, and runs until it is
 * killed.
 */
public final class HazelcastNode {
  static final String HOST = "127.0.0.1";
  private static final String NAME = "bench";
  private static final int MEMBERS = 3;

  /** As long as members of ours may be silent. Hazelcast's own default is five minutes. */
  static final int SESSION_SECONDS = 5;

  private HazelcastNode() {}

  public static void main(String[] args) throws InterruptedException {
    Config config = config(args[1]);
    config.getNetworkConfig().setPort(Integer.parseInt(args[0])).setPortAutoIncrement(false);
    HazelcastInstance member = Hazelcast.newHazelcastInstance(config);
    if (!member
        .getCPSubsystem()
        .getCPSubsystemManagementService()
        .awaitUntilDiscoveryCompleted(2, TimeUnit.MINUTES)) {
      throw new IllegalStateException("the CP subsystem does not start");
    }
    System.out.println("ready");
    Thread.currentThread().join();
  }

  /** Of a member that is in the cluster of these ports. */
  private static Config config(String ports) {
    Config config = ConfigUtil.loadConfig();
    config.setClusterName(NAME);
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.local.localAddress", HOST);
    config.getJetConfig().setEnabled(false);
    JoinConfig join = config.getNetworkConfig().getJoin();
    join.getMulticastConfig().setEnabled(false);
    join.getAutoDetectionConfig().setEnabled(false);
    join.getTcpIpConfig().setEnabled(true);
    Arrays.stream(ports.split(","))
        .forEach(port -> join.getTcpIpConfig().addMember(HOST + ":" + port));
    config
        .getCPSubsystemConfig()
        .setCPMemberCount(MEMBERS)
        .setSessionHeartbeatIntervalSeconds(1)
        .setSessionTimeToLiveSeconds(SESSION_SECONDS);
    return config;
  }

  /** Of a member without data. */
  static Config lite(String ports) {
    Config config = config(ports).setLiteMember(true);
    config.getNetworkConfig().setPort(0);
    return config;
  }

  /** A client of the cluster. */
  static HazelcastInstance client(String ports) {
    ClientConfig config = new ClientConfig();
    config.setClusterName(NAME);
    config.setProperty("hazelcast.logging.type", "slf4j");
    Arrays.stream(ports.split(","))
        .forEach(port -> config.getNetworkConfig().addAddress(HOST + ":" + port));
    return HazelcastClient.newHazelcastClient(config);
  }
}
