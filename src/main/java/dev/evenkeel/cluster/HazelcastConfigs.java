package dev.evenkeel.cluster;

import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.cluster.MembershipListener;
import com.hazelcast.config.AdvancedNetworkConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.ExecutorConfig;
import com.hazelcast.config.InMemoryFormat;
import com.hazelcast.config.ListenerConfig;
import com.hazelcast.config.MapConfig;
import com.hazelcast.config.MultiMapConfig;
import com.hazelcast.config.ServerSocketEndpointConfig;
import com.hazelcast.config.TcpIpConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.HazelcastInstanceImpl;
import com.hazelcast.internal.cluster.impl.TcpIpJoiner;
import dev.evenkeel.protocol.HostPort;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The Hazelcast configuration of nodes. Hazelcast's defaults are made for large data grids; here it
 * holds a few small maps, and must notice a lost member soon.
 */
final class HazelcastConfigs {
  /** Small maps: few partitions start faster and cost less, and still spread over some nodes. */
  private static final int PARTITIONS = 31;

  /**
   * A member that is silent for longer counts as gone. The connection of a killed process breaks at
   * once, so this is for processes that hang. It is better to wait for a short pause, as on an
   * overloaded machine, than to expel the member and let it join again; the logs elect other
   * leaders meanwhile.
   */
  static final int MEMBER_SILENCE_SECONDS_MAX = 8;

  /** Longest wait of any operation on a map. */
  private static final int OPERATION_MILLIS_MAX = 10_000;

  private static final int LITE_JOIN_SECONDS_MAX = 16;

  private HazelcastConfigs() {}

  static Config node(NodeSettings settings) {
    Config config = common(settings.clusterName(), settings.host());
    ServerSocketEndpointConfig socket = socket(config).setPort(settings.hazelcastPort());
    if (!settings.publicHost().equals(settings.host())) {
      socket.setPublicAddress(
          new HostPort(settings.publicHost(), settings.hazelcastPort()).toString());
    }
    if (settings.addresses().node() != null) {
      NodeList.announce(
          config,
          settings.addresses().node(),
          new HostPort(settings.publicHost(), settings.eventBusPort()),
          System.currentTimeMillis());
    }
    TcpIpConfig join = config.getAdvancedNetworkConfig().getJoin().getTcpIpConfig();
    join.setMembers(List.of());
    settings.peers().forEach(peer -> join.addMember(peer.hazelcast().toString()));
    return config;
  }

  /** Of a member without data, at any port, that joins by the node whose Hazelcast is there. */
  static Config lite(String clusterName, String host, HostPort node) {
    Config config = common(clusterName, host).setLiteMember(true);
    config.setProperty("hazelcast.max.join.seconds", String.valueOf(LITE_JOIN_SECONDS_MAX));
    socket(config).setPort(0);
    // A required member: without it this one fails, and forms no cluster of its own.
    TcpIpConfig join = config.getAdvancedNetworkConfig().getJoin().getTcpIpConfig();
    join.setRequiredMember(node.toString());
    return config;
  }

  static Config common(String clusterName, String host) {
    Config config = new Config();
    config.setClusterName(clusterName);
    config.setClassLoader(AllowedClasses.loader());
    config.getSerializationConfig().setJavaSerializationFilterConfig(AllowedClasses.filter());
    network(config);
    config.getJetConfig().setEnabled(false);
    config.getMetricsConfig().setEnabled(false);
    maps(config);
    executors(config);
    addresses(config, host);
    membership(config);
    threads(config);
    set(config, "hazelcast.logging.type", "slf4j");
    set(config, "hazelcast.logging.emoji.enabled", false);
    set(config, "hazelcast.phone.home.enabled", false);
    set(config, "hazelcast.shutdownhook.enabled", false);
    set(config, "hazelcast.partition.count", PARTITIONS);
    set(config, "hazelcast.operation.call.timeout.millis", OPERATION_MILLIS_MAX);
    // If a starting member cannot take a partition yet, Hazelcast moves it again at once, and
    // members that take no part in that learn of it only with the next partition table. If such a
    // member becomes the master before, it applies the versions of the failed moves over the later
    // ones, finds two tables of one version, and repeats that for ever (5.3.8,
    // FetchMostRecentPartitionTableTask).
    set(config, "hazelcast.partition.table.send.interval", 1);
    // An operation for a member that died is sent again to the new owner of its partition.
    set(config, "hazelcast.invocation.retry.pause.millis", 100);
    set(config, "hazelcast.health.monitoring.level", "OFF");
    set(config, "hazelcast.slow.operation.detector.enabled", false);
    return config;
  }

  /**
   * Uses the "advanced" network, although there is only one socket, for members. In the simple one,
   * the socket also serves clients, and a member that connects to one that hangs spins until that
   * one answers (5.3.8, UnifiedProtocolEncoder). Its only writing thread then sends nothing to
   * anybody, and the live members lose each other.
   */
  private static void network(Config config) {
    AdvancedNetworkConfig network = config.getAdvancedNetworkConfig().setEnabled(true);
    network.setMemberEndpointConfig(
        new ServerSocketEndpointConfig().setPortAutoIncrement(false).setReuseAddress(true));
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getTcpIpConfig().setEnabled(true).setConnectionTimeoutSeconds(2);
  }

  static ServerSocketEndpointConfig socket(Config config) {
    return (ServerSocketEndpointConfig)
        config.getAdvancedNetworkConfig().getEndpointConfigs().get(EndpointQualifier.MEMBER);
  }

  /** The maps of vertx-hazelcast, as in its default configuration, and our own. */
  private static void maps(Config config) {
    config.addMultiMapConfig(
        new MultiMapConfig("__vertx.subs")
            .setBackupCount(1)
            .setValueCollectionType(MultiMapConfig.ValueCollectionType.SET));
    for (String map :
        List.of(
            "__vertx.haInfo",
            "__vertx.nodeInfo",
            SharedMaps.REGISTRY,
            SharedMaps.OWNERSHIP,
            SharedMaps.DEDUP_KEYS)) {
      config.addMapConfig(new MapConfig(map).setBackupCount(1));
    }
    config.addMapConfig(
        new MapConfig(HazelcastAutomata.MAP)
            .setBackupCount(1)
            // Steps change buckets in place; in binary format each step would read and write a
            // whole bucket.
            .setInMemoryFormat(InMemoryFormat.OBJECT));
  }

  /** Its tasks take microseconds. */
  private static void executors(Config config) {
    config.addExecutorConfig(new ExecutorConfig(HeardRounds.EXECUTOR, 1));
  }

  private static void addresses(Config config, String host) {
    config.setProperty("hazelcast.local.localAddress", host);
    set(config, "hazelcast.socket.bind.any", false);
    set(config, "hazelcast.socket.server.bind.any", false);
    set(config, "hazelcast.socket.client.bind.any", false);
    set(config, "hazelcast.socket.client.bind", true);
    set(config, "hazelcast.prefer.ipv4.stack", host.indexOf(':') < 0);
  }

  private static void membership(Config config) {
    set(config, "hazelcast.wait.seconds.before.join", 0);
    set(config, "hazelcast.max.wait.seconds.before.join", 0);
    set(config, "hazelcast.heartbeat.interval.seconds", 1);
    set(config, "hazelcast.max.no.heartbeat.seconds", MEMBER_SILENCE_SECONDS_MAX);
    // Not set: hazelcast.mastership.claim.timeout.seconds. It is also how often the next master
    // asks a member that still sees the former one to agree, the first five times at once. A member
    // that has not agreed by then is left behind in a cluster of its own.

    // The connection of a killed process breaks, and new ones are refused. Two refusals are enough.
    set(config, "hazelcast.connection.monitor.interval", 50);
    set(config, "hazelcast.connection.monitor.max.faults", 2);
    set(config, "hazelcast.socket.connect.timeout.seconds", 2);
    set(config, "hazelcast.merge.first.run.delay.seconds", 5);
    set(config, "hazelcast.merge.next.run.delay.seconds", 2);
    // A member that leaves moves its partitions to others. Each has a copy elsewhere, and the log
    // and the next heartbeats fill the maps again, so a short wait is enough.
    set(config, "hazelcast.graceful.shutdown.max.wait", 1);
    set(config, "hazelcast.cluster.shutdown.timeout.seconds", 5);
    // After a split, a member asks the nodes where their oldest member is, which may be a client.
    // It remembers such addresses for this time.
    set(config, "hazelcast.tcp.join.previously.joined.member.address.retention.seconds", 60);
    config.addListenerConfig(new ListenerConfig(new FormerClients()));
    config.addListenerConfig(
        new ListenerConfig(
            new SplitBrainRecovery(TimeUnit.SECONDS.toMillis(MEMBER_SILENCE_SECONDS_MAX))));
  }

  private static void threads(Config config) {
    set(config, "hazelcast.operation.thread.count", 2);
    set(config, "hazelcast.operation.generic.thread.count", 2);
    set(config, "hazelcast.operation.response.thread.count", 1);
    set(config, "hazelcast.io.thread.count", 1);
    set(config, "hazelcast.event.thread.count", 1);
    set(config, "hazelcast.event.queue.capacity", 100_000);
    set(config, "hazelcast.clientengine.thread.count", 1);
    set(config, "hazelcast.clientengine.query.thread.count", 1);
    set(config, "hazelcast.clientengine.blocking.thread.count", 1);
  }

  private static void set(Config config, String property, Object value) {
    config.setProperty(property, String.valueOf(value));
  }

  /**
   * Makes Hazelcast forget the addresses of clients that have left. After a split it asks the
   * addresses of former members for a while. The port of a former client may by then belong to a
   * client of another cluster with the same name, and the two clusters would merge.
   */
  private static final class FormerClients implements MembershipListener, HazelcastInstanceAware {
    private volatile TcpIpJoiner joiner;

    @Override
    public void setHazelcastInstance(HazelcastInstance hazelcast) {
      joiner = (TcpIpJoiner) ((HazelcastInstanceImpl) hazelcast).node.getJoiner();
    }

    @Override
    public void memberAdded(MembershipEvent event) {
      // Addresses of present members may stay known.
    }

    @Override
    public void memberRemoved(MembershipEvent event) {
      if (event.getMember().isLiteMember()) {
        joiner.getKnownMemberAddresses().remove(event.getMember().getAddress());
      }
    }
  }
}
