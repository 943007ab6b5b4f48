package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.multimap.MultiMap;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Vertx;
import io.vertx.core.spi.cluster.NodeInfo;
import io.vertx.core.spi.cluster.RegistrationInfo;
import io.vertx.spi.cluster.hazelcast.impl.HazelcastNodeInfo;
import io.vertx.spi.cluster.hazelcast.impl.HazelcastRegistrationInfo;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the maps of vertx-hazelcast right, which say who listens where. Nodes find each other by
 * the member list. These maps are for the others: for applications with a clustered Vert.x of their
 * own and for nodes of former versions, which look only there, and for the addresses of members,
 * which no list has.
 *
 * <p>Vert.x writes and removes entries once, when something happens. The partitions of the maps may
 * have no owners at that moment, or another part of the cluster may bring its own copies later. So
 * each node writes its own entries again if they are lost, and the oldest one removes those of
 * members that have left.
 *
 * <p>It looks often after members have come or left, and now and then otherwise. Times are
 * monotonic.
 */
final class MapRegistrations {
  /** The map in which vertx-hazelcast keeps who listens at which address. */
  static final String REGISTRATIONS = "__vertx.subs";

  /** The map in which it keeps the ports of Vert.x nodes. */
  static final String NODES = "__vertx.nodeInfo";

  /**
   * How long a registered member may be unknown here: a new member registers before everybody has
   * heard of it.
   */
  static final long PATIENCE_MILLIS = 5_000;

  private static final long LOOK_MILLIS = 2_000;
  private static final long OFTEN_MILLIS = 60_000;
  private static final long SELDOM_MILLIS = 30_000;
  private static final Logger LOG = LoggerFactory.getLogger(MapRegistrations.class);

  /** By address. */
  private final Map<String, Set<RegistrationInfo>> own = new ConcurrentHashMap<>();

  private volatile NodeInfo node;
  private volatile long changedMillis = MonotonicClock.millis();
  private long lookedMillis;
  private volatile boolean looking;

  /** What the last look has missed: only what two looks have missed is lost. */
  private volatile Set<String> missed = Set.of();

  /**
   * When registered nodes that are not members were seen first. Only the look under way uses it.
   */
  private final Map<String, Long> strangers = new HashMap<>();

  /** This node listens there from now on. */
  void added(String address, RegistrationInfo registration) {
    if (!registration.localOnly()) {
      own.compute(
          address,
          (key, present) -> {
            Set<RegistrationInfo> all = present == null ? ConcurrentHashMap.newKeySet() : present;
            all.add(registration);
            return all;
          });
    }
  }

  void removed(String address, RegistrationInfo registration) {
    own.computeIfPresent(
        address,
        (key, present) -> {
          present.remove(registration);
          return present.isEmpty() ? null : present;
        });
  }

  /** Where the event bus of this node listens; null: it does not yet. */
  NodeInfo node() {
    return node;
  }

  void node(NodeInfo info) {
    node = info;
  }

  /** Members have come or left. */
  void membersChanged() {
    changedMillis = MonotonicClock.millis();
  }

  /** Begins to look periodically, one look at a time, until the Vert.x is closed. */
  void begin(Vertx vertx, HazelcastInstance hazelcast) {
    vertx.setPeriodic(
        LOOK_MILLIS,
        timer -> {
          long now = MonotonicClock.millis();
          boolean due =
              now - changedMillis < OFTEN_MILLIS
                  || now - lookedMillis >= SELDOM_MILLIS
                  || !missed.isEmpty();
          if (due && !looking && hazelcast.getLifecycleService().isRunning()) {
            looking = true;
            lookedMillis = now;
            vertx
                .executeBlocking(() -> look(hazelcast), false)
                .onComplete(looked -> looking = false);
          }
        });
  }

  /** Blocks on the maps. Fails while they are out of reach; then the next look tries again. */
  private Void look(HazelcastInstance hazelcast) {
    Map<String, HazelcastNodeInfo> nodes = hazelcast.getMap(NODES);
    MultiMap<String, HazelcastRegistrationInfo> map = hazelcast.getMultiMap(REGISTRATIONS);
    String id = hazelcast.getCluster().getLocalMember().getAttribute(NodeList.ID);
    if (node != null && !nodes.containsKey(id)) {
      nodes.put(id, new HazelcastNodeInfo(node));
    }
    Set<Map.Entry<String, HazelcastRegistrationInfo>> present = map.entrySet();
    writeLost(id, present, map);
    removeFormer(hazelcast, present, map, nodes.keySet());
    return null;
  }

  private void writeLost(
      String id,
      Set<Map.Entry<String, HazelcastRegistrationInfo>> present,
      MultiMap<String, HazelcastRegistrationInfo> map) {
    Set<String> missing = new HashSet<>(own.keySet());
    for (var each : present) {
      if (each.getValue().unwrap().nodeId().equals(id)) {
        missing.remove(each.getKey());
      }
    }
    Set<String> lost = new HashSet<>(missing);
    lost.retainAll(missed);
    missed = missing;
    lost.forEach(address -> write(address, map));
    if (!lost.isEmpty()) {
      LOG.warn("the shared maps had lost where this node listens; said again: {}", lost);
    }
  }

  private void write(String address, MultiMap<String, HazelcastRegistrationInfo> map) {
    for (RegistrationInfo each : own.getOrDefault(address, Set.of())) {
      map.put(address, new HazelcastRegistrationInfo(each));
      // It may have ended meanwhile.
      if (!own.getOrDefault(address, Set.of()).contains(each)) {
        map.remove(address, new HazelcastRegistrationInfo(each));
      }
    }
  }

  private void removeFormer(
      HazelcastInstance hazelcast,
      Set<Map.Entry<String, HazelcastRegistrationInfo>> present,
      MultiMap<String, HazelcastRegistrationInfo> map,
      Set<String> nodes) {
    Member first =
        hazelcast.getCluster().getMembers().stream()
            .filter(member -> !member.isLiteMember())
            .findFirst()
            .orElse(null);
    if (first == null || !first.localMember()) {
      strangers.clear();
      return;
    }
    Set<String> registered = new HashSet<>(nodes);
    present.forEach(each -> registered.add(each.getValue().unwrap().nodeId()));
    Set<String> members = NodeList.of(hazelcast.getCluster().getMembers()).ids();
    Set<String> gone = gone(registered, members, MonotonicClock.millis(), strangers);
    for (var each : present) {
      if (gone.contains(each.getValue().unwrap().nodeId())) {
        map.remove(each.getKey(), each.getValue());
      }
    }
    gone.forEach(hazelcast.getMap(NODES)::delete);
    if (!gone.isEmpty()) {
      LOG.info("removed event-bus registrations of members that have left: {}", gone);
    }
  }

  /**
   * The nodes that have been registered for {@link #PATIENCE_MILLIS} without being members.
   *
   * @param strangers when each such node was seen first; updated here
   */
  static Set<String> gone(
      Set<String> registered, Set<String> members, long nowMillis, Map<String, Long> strangers) {
    strangers.keySet().retainAll(registered);
    strangers.keySet().removeAll(members);
    Set<String> gone = new HashSet<>();
    for (String node : registered) {
      if (!members.contains(node)
          && nowMillis - strangers.computeIfAbsent(node, first -> nowMillis) >= PATIENCE_MILLIS) {
        gone.add(node);
      }
    }
    return gone;
  }
}
