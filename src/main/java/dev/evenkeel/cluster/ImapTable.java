package dev.evenkeel.cluster;

import com.hazelcast.core.EntryEvent;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryEvictedListener;
import com.hazelcast.map.listener.EntryExpiredListener;
import com.hazelcast.map.listener.EntryRemovedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** A {@link SharedTable} over a Hazelcast map of JSON texts. */
final class ImapTable implements SharedTable {
  static final String REGISTRY = "evenkeel.registry";
  static final String OWNERSHIP = "evenkeel.ownership";

  private final Vertx vertx;
  private final IMap<String, String> map;
  private final MapCalls calls;

  ImapTable(Vertx vertx, IMap<String, String> map, MapCalls calls) {
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

  @Override
  public void onChange(BiConsumer<String, JsonObject> handler) {
    calls.run(vertx, () -> map.addEntryListener(new Listener(handler), true));
  }

  private record Listener(BiConsumer<String, JsonObject> handler)
      implements EntryAddedListener<String, String>,
          EntryUpdatedListener<String, String>,
          EntryRemovedListener<String, String>,
          EntryEvictedListener<String, String>,
          EntryExpiredListener<String, String> {
    @Override
    public void entryAdded(EntryEvent<String, String> event) {
      changed(event);
    }

    @Override
    public void entryUpdated(EntryEvent<String, String> event) {
      changed(event);
    }

    @Override
    public void entryRemoved(EntryEvent<String, String> event) {
      handler.accept(event.getKey(), null);
    }

    @Override
    public void entryEvicted(EntryEvent<String, String> event) {
      handler.accept(event.getKey(), null);
    }

    @Override
    public void entryExpired(EntryEvent<String, String> event) {
      handler.accept(event.getKey(), null);
    }

    private void changed(EntryEvent<String, String> event) {
      handler.accept(event.getKey(), new JsonObject(event.getValue()));
    }
  }
}
