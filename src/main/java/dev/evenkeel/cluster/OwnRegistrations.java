package dev.evenkeel.cluster;

import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.multimap.MultiMap;
import io.vertx.core.Completable;
import io.vertx.core.Vertx;
import io.vertx.core.spi.cluster.NodeInfo;
import io.vertx.core.spi.cluster.RegistrationInfo;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import io.vertx.spi.cluster.hazelcast.impl.HazelcastRegistrationInfo;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers where this node listens on the event bus, and says so again when the shared maps have
 * lost it. Vert.x says it again once, at the moment when another member leaves; the partitions of
 * the maps may have no owners then, or another part of the cluster may bring its own copies later.
 * A node whose registrations are lost lives, but nobody reaches it.
 *
 * <p>It looks often after members have come or left, and now and then otherwise. Times are
 * monotonic.
 */
final class OwnRegistrations extends HazelcastClusterManager {
  static final long LOOK_MILLIS = 2_000;
  private static final long OFTEN_MILLIS = 60_000;
  private static final long SELDOM_MILLIS = 30_000;
  private static final Logger LOG = LoggerFactory.getLogger(OwnRegistrations.class);

  /** By address. */
  private final Map<String, Set<RegistrationInfo>> own = new ConcurrentHashMap<>();

  /** What the last look has missed: only what two looks have missed is lost. */
  private Set<String> missed = Set.of();

  private volatile long changedMillis = nowMillis();
  private volatile NodeInfo node;
  private long lookedMillis;
  private boolean looking;

  OwnRegistrations(Config config) {
    super(config);
  }

  OwnRegistrations(HazelcastInstance hazelcast) {
    super(hazelcast);
  }

  @Override
  public void addRegistration(
      String address, RegistrationInfo registration, Completable<Void> promise) {
    if (!registration.localOnly()) {
      own.compute(
          address,
          (key, present) -> {
            Set<RegistrationInfo> all = present == null ? ConcurrentHashMap.newKeySet() : present;
            all.add(registration);
            return all;
          });
    }
    super.addRegistration(address, registration, promise);
  }

  @Override
  public void removeRegistration(
      String address, RegistrationInfo registration, Completable<Void> promise) {
    own.computeIfPresent(
        address,
        (key, present) -> {
          present.remove(registration);
          return present.isEmpty() ? null : present;
        });
    super.removeRegistration(address, registration, promise);
  }

  @Override
  public void setNodeInfo(NodeInfo info, Completable<Void> promise) {
    node = info;
    super.setNodeInfo(info, promise);
  }

  @Override
  public synchronized void memberAdded(MembershipEvent event) {
    changedMillis = nowMillis();
    super.memberAdded(event);
  }

  @Override
  public synchronized void memberRemoved(MembershipEvent event) {
    changedMillis = nowMillis();
    super.memberRemoved(event);
  }

  /** Begins to look periodically, one look at a time, until the Vert.x is closed. */
  void begin(Vertx vertx) {
    vertx.setPeriodic(
        LOOK_MILLIS,
        timer -> {
          long now = nowMillis();
          boolean due =
              now - changedMillis < OFTEN_MILLIS
                  || now - lookedMillis >= SELDOM_MILLIS
                  || !missed.isEmpty();
          if (due && !looking && isActive()) {
            looking = true;
            lookedMillis = now;
            vertx.executeBlocking(this::look, false).onComplete(looked -> looking = false);
          }
        });
  }

  /** Blocks on the maps. Fails while they are out of reach; then the next look tries again. */
  private Void look() {
    HazelcastInstance hazelcast = getHazelcastInstance();
    if (node != null && !hazelcast.getMap(FormerRegistrations.NODES).containsKey(getNodeId())) {
      super.setNodeInfo(node, (done, failure) -> {});
    }
    Set<String> missing = new HashSet<>(own.keySet());
    hazelcast
        .<String, HazelcastRegistrationInfo>getMultiMap(FormerRegistrations.REGISTRATIONS)
        .entrySet()
        .forEach(
            each -> {
              if (each.getValue().unwrap().nodeId().equals(getNodeId())) {
                missing.remove(each.getKey());
              }
            });
    Set<String> lost = new HashSet<>(missing);
    lost.retainAll(missed);
    missed = missing;
    lost.forEach(address -> sayAgain(hazelcast, address));
    if (!lost.isEmpty()) {
      LOG.warn("the shared maps had lost where this node listens; said again: {}", lost);
    }
    return null;
  }

  private void sayAgain(HazelcastInstance hazelcast, String address) {
    MultiMap<String, HazelcastRegistrationInfo> registrations =
        hazelcast.getMultiMap(FormerRegistrations.REGISTRATIONS);
    for (RegistrationInfo each : own.getOrDefault(address, Set.of())) {
      registrations.put(address, new HazelcastRegistrationInfo(each));
      // It may have ended meanwhile.
      if (!own.getOrDefault(address, Set.of()).contains(each)) {
        registrations.remove(address, new HazelcastRegistrationInfo(each));
      }
    }
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
