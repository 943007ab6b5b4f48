package dev.evenkeel.cluster;

import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Vertx;

/** The {@link SharedMaps} of a Hazelcast instance. */
final class HazelcastMaps implements SharedMaps {
  private final MapCalls calls = new MapCalls("evenkeel-maps");
  private final HazelcastTable registry;
  private final HazelcastTable ownership;
  private final HazelcastTable dedupKeys;

  /** Blocks while Hazelcast makes the maps. */
  HazelcastMaps(Vertx vertx, HazelcastInstance hazelcast) {
    registry = new HazelcastTable(vertx, hazelcast.getMap(REGISTRY), calls);
    ownership = new HazelcastTable(vertx, hazelcast.getMap(OWNERSHIP), calls);
    dedupKeys = new HazelcastTable(vertx, hazelcast.getMap(DEDUP_KEYS), calls);
  }

  @Override
  public SharedTable registry() {
    return registry;
  }

  @Override
  public SharedTable ownership() {
    return ownership;
  }

  @Override
  public SharedTable dedupKeys() {
    return dedupKeys;
  }

  /** Refuses calls from now on. */
  void close() {
    calls.close();
  }
}
