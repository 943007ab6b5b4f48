package dev.evenkeel.cluster;

import com.hazelcast.map.IMap;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/** A {@link SharedTable} over a Hazelcast map of JSON texts. */
final class HazelcastTable implements SharedTable {
  static final String REGISTRY = "evenkeel.registry";
  static final String OWNERSHIP = "evenkeel.ownership";

  private final Vertx vertx;
  private final IMap<String, String> map;
  private final MapCalls calls;

  HazelcastTable(Vertx vertx, IMap<String, String> map, MapCalls calls) {
    this.vertx = vertx;
    this.map = map;
    this.calls = calls;
  }

  @Override
  public Future<Void> put(String key, JsonObject value) {
    String text = value.encode();
    return calls.stage(vertx, () -> map.setAsync(key, text));
  }

  @Override
  public Future<Void> remove(String key) {
    return calls.stage(vertx, () -> map.removeAsync(key)).mapEmpty();
  }

  @Override
  public Future<Map<String, JsonObject>> all() {
    return calls.run(
        vertx,
        () -> {
          Map<String, JsonObject> all = new LinkedHashMap<>();
          map.entrySet()
              .forEach(entry -> all.put(entry.getKey(), new JsonObject(entry.getValue())));
          return all;
        });
  }

  @Override
  public Future<Void> clear() {
    return calls.run(
        vertx,
        () -> {
          map.clear();
          return null;
        });
  }
}
