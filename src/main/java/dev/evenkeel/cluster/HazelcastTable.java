package dev.evenkeel.cluster;

import com.hazelcast.map.IMap;
import com.hazelcast.nio.serialization.HazelcastSerializationException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link SharedTable} over a Hazelcast map of JSON texts, which every member of the cluster can
 * read without our classes.
 */
final class HazelcastTable implements SharedTable {
  private static final Logger LOG = LoggerFactory.getLogger(HazelcastTable.class);

  /** Most unreadable entries that it remembers, so that it logs each once. */
  private static final int UNREADABLE_MAX = 1_000;

  private final Vertx vertx;
  private final IMap<Object, Object> map;
  private final MapCalls calls;

  /** What {@link #all} could not read when it was called last. */
  private Set<String> unreadable = Set.of();

  /** Keys of values of which nodes make no objects, as it found then. */
  private volatile Set<String> foreign = Set.of();

  HazelcastTable(Vertx vertx, IMap<Object, Object> map, MapCalls calls) {
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
    // Hazelcast gives the value that it removes, and never answers if it cannot make an object.
    Future<Void> readable = foreign.contains(key) ? put(key, new JsonObject()) : null;
    Future<Object> removed = calls.stage(vertx, () -> map.removeAsync(key));
    return readable == null ? removed.mapEmpty() : Future.join(readable, removed).mapEmpty();
  }

  @Override
  public Future<Map<String, JsonObject>> all() {
    return calls.run(
        vertx,
        () -> {
          Map<String, JsonObject> all = new LinkedHashMap<>();
          Set<String> problems = new HashSet<>();
          Set<String> foreignNow = new HashSet<>();
          boolean whole =
              each(
                  map.entrySet(), entry -> all.put((String) entry.getKey(), read(entry, problems)));
          if (!whole) {
            // Of a class that nodes make no objects of: the key of a value, or the key itself.
            whole =
                each(
                    map.keySet(),
                    key -> {
                      if (all.putIfAbsent((String) key, new JsonObject()) == null) {
                        foreignNow.add((String) key);
                        note(problems, "at '" + key + "': its value is of a foreign class");
                      }
                    });
          }
          if (!whole) {
            note(problems, "with a key that is no text");
          }
          foreign = foreignNow;
          logNew(problems);
          return all;
        });
  }

  /** Hazelcast makes objects one by one while it is asked for them, and may fail each time. */
  private static <T> boolean each(Collection<T> items, Consumer<T> reader) {
    boolean whole = true;
    Iterator<T> iterator = items.iterator();
    while (iterator.hasNext()) {
      try {
        reader.accept(iterator.next());
      } catch (HazelcastSerializationException | SecurityException | ClassCastException e) {
        whole = false;
      }
    }
    return whole;
  }

  private static JsonObject read(Map.Entry<Object, Object> entry, Set<String> problems) {
    String problem = "its value is no text";
    if (entry.getValue() instanceof String text) {
      try {
        return new JsonObject(text);
      } catch (DecodeException e) {
        problem = "its text is no JSON object";
      }
    }
    note(problems, "at '" + entry.getKey() + "': " + problem);
    return new JsonObject();
  }

  private static void note(Set<String> problems, String problem) {
    if (problems.size() < UNREADABLE_MAX) {
      problems.add(problem);
    }
  }

  private synchronized void logNew(Set<String> problems) {
    for (String each : problems) {
      if (!unreadable.contains(each)) {
        LOG.warn(
            "map {} has an entry that no node wrote, {}. Nodes ignore it: find out who writes to"
                + " the map, which only nodes may do",
            map.getName(),
            each);
      }
    }
    unreadable = problems;
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
