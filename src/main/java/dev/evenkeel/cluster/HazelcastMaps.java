package dev.evenkeel.cluster;

import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Vertx;

/** The {@link SharedMaps} of a Hazelcast instance. Their names are a contract. */
final class HazelcastMaps implements SharedMaps {
  static final String REGISTRY = "evenkeel.registry";
  static final String OWNERSHIP = "evenkeel.ownership";

  private final MapCalls calls = new MapCalls("evenkeel-maps");
  private final HazelcastTable registry;
  private final HazelcastTable ownership;

  /** Blocks while Hazelcast makes the maps. */
  HazelcastMaps(Vertx vertx, HazelcastInstance hazelcast) {
    registry = new HazelcastTable(vertx, hazelcast.getMap(REGISTRY), calls);
    ownership = new HazelcastTable(vertx, hazelcast.getMap(OWNERSHIP), calls);
  }

  @Override
  public SharedTable registry() {
    return registry;
  }

  @Override
  public SharedTable ownership() {
    return ownership;
  }

  /** Refuses calls from now on. */
  void close() {
    calls.close();
  }
}
