package examples;

import com.hazelcast.config.AdvancedNetworkConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.ServerSocketEndpointConfig;
import com.hazelcast.core.EntryAdapter;
import com.hazelcast.core.EntryEvent;
import com.hazelcast.map.IMap;
import com.hazelcast.map.MapEvent;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * Watches the shared maps with Vert.x and Hazelcast alone: {@code MapsExample HOST:PORT}, where
 * Hazelcast of a node listens: at 5704, unless the node has another base port. It prints a line for
 * each change until it is killed: the map, the key, and the entry or {@code -}.
 */
public final class MapsExample {
  private static final long READ_MILLIS = 5_000;

  private final IMap<String, String> map;
  private final WorkerExecutor worker;
  private final Map<String, String> shown = new HashMap<>();

  private MapsExample(IMap<String, String> map, WorkerExecutor worker) {
    this.map = map;
    this.worker = worker;
  }

  public static void main(String[] args) {
    HazelcastClusterManager manager = new HazelcastClusterManager(config(args[0]));
    String host = args[0].substring(0, args[0].lastIndexOf(':'));
    Vertx.builder()
        .with(new VertxOptions().setEventBusOptions(new EventBusOptions().setHost(host).setPort(0)))
        .withClusterManager(manager)
        .buildClustered()
        .onSuccess(vertx -> watch(vertx, manager))
        .onFailure(
            failure -> {
              System.err.println("not joined: " + failure.getMessage());
              System.exit(1);
            });
  }

  private static void watch(Vertx vertx, HazelcastClusterManager manager) {
    // One thread: what is read later is also shown later.
    WorkerExecutor worker = vertx.createSharedWorkerExecutor("maps", 1);
    for (String name : List.of("evenkeel.registry", "evenkeel.ownership")) {
      worker.executeBlocking(
          () -> {
            new MapsExample(manager.getHazelcastInstance().getMap(name), worker).watch(vertx);
            return null;
          });
    }
  }

  private void watch(Vertx vertx) {
    map.addEntryListener(
        new EntryAdapter<String, String>() {
          @Override
          public void onEntryEvent(EntryEvent<String, String> event) {
            String key = event.getKey();
            worker.executeBlocking(() -> show(key, map.get(key)));
          }

          @Override
          public void onMapEvent(MapEvent event) {
            worker.executeBlocking(MapsExample.this::showAll);
          }
        },
        false);
    showAll();
    // An event may get lost, for example when a node dies.
    vertx.setPeriodic(READ_MILLIS, timer -> worker.executeBlocking(this::showAll));
  }

  private Void showAll() {
    Map<String, String> now = new HashMap<>();
    map.entrySet().forEach(entry -> now.put(entry.getKey(), entry.getValue()));
    TreeSet<String> keys = new TreeSet<>(shown.keySet());
    keys.addAll(now.keySet());
    keys.forEach(key -> show(key, now.get(key)));
    return null;
  }

  /**
   * @param text the entry; null: it is gone
   */
  private Void show(String key, String text) {
    String before = text == null ? shown.remove(key) : shown.put(key, text);
    if (!Objects.equals(before, text)) {
      System.out.println(map.getName() + " " + key + " " + (text == null ? "-" : brief(text)));
    }
    return null;
  }

  private static String brief(String text) {
    JsonObject entry;
    try {
      entry = new JsonObject(text);
    } catch (DecodeException e) {
      return "of a stranger";
    }
    return entry.containsKey("state")
        ? entry.getString("state") + " " + entry.getString("owner") + " " + entry.getLong("epoch")
        : entry.getString("mode") + " " + entry.getLong("consumed");
  }

  /** A Hazelcast lite member. Vert.x cannot start if the node is not there. */
  private static Config config(String node) {
    Config config = ConfigUtil.loadConfig(); // what vertx-hazelcast needs of its maps
    config.setClusterName("evenkeel").setLiteMember(true);
    // Must be what the nodes have, or they refuse the member.
    config.setProperty("hazelcast.partition.count", "31");
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    config.setProperty("hazelcast.max.join.seconds", "30");
    // Its own address: here the one on which the node is, too.
    config.setProperty("hazelcast.local.localAddress", node.substring(0, node.lastIndexOf(':')));
    config.setProperty("hazelcast.socket.bind.any", "false");
    AdvancedNetworkConfig network = config.getAdvancedNetworkConfig().setEnabled(true);
    network.setMemberEndpointConfig(new ServerSocketEndpointConfig().setPort(0));
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getTcpIpConfig().setEnabled(true).setRequiredMember(node);
    return config;
  }
}
