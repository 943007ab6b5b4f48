package dev.evenkeel.dispatcher;

import dev.evenkeel.cluster.SharedTable;
import io.vertx.core.Context;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes wanted entries to a shared table in the background: at most {@link #WRITES_MAX} writes at
 * once, one for each key, and only the last value. The next {@link #reconcile()} repairs what
 * failed or was cleared. To be used on one context.
 */
final class SharedMapMirror {
  static final int WRITES_MAX = 64;

  private final SharedTable table;
  private final Context context;
  private final Map<String, JsonObject> wanted = new HashMap<>();
  private final LinkedHashSet<String> dirty = new LinkedHashSet<>();
  private final Set<String> writing = new HashSet<>();
  private boolean closed;

  SharedMapMirror(SharedTable table, Context context) {
    this.table = table;
    this.context = context;
  }

  /** Takes an entry that is there already as wanted. */
  void adopt(String key, JsonObject value) {
    wanted.put(key, value);
  }

  void put(String key, JsonObject value) {
    wanted.put(key, value);
    dirty.add(key);
    write();
  }

  void remove(String key) {
    wanted.remove(key);
    dirty.add(key);
    write();
  }

  /** Wants these entries and no others. */
  void putAll(Map<String, JsonObject> entries) {
    for (String key : List.copyOf(wanted.keySet())) {
      if (!entries.containsKey(key)) {
        remove(key);
      }
    }
    entries.forEach(
        (key, value) -> {
          if (!value.equals(wanted.get(key))) {
            put(key, value);
          }
        });
  }

  /** Puts what is missing or has another value, removes what is too much. */
  void reconcile() {
    table
        .all()
        .onSuccess(
            there ->
                context.runOnContext(
                    ignored -> {
                      wanted.forEach(
                          (key, value) -> {
                            // What is being written may have been read before.
                            if (!writing.contains(key) && !value.equals(there.get(key))) {
                              dirty.add(key);
                            }
                          });
                      there.keySet().stream()
                          .filter(k -> !wanted.containsKey(k))
                          .forEach(dirty::add);
                      write();
                    }));
  }

  private void write() {
    Iterator<String> keys = dirty.iterator();
    while (!closed && writing.size() < WRITES_MAX && keys.hasNext()) {
      String key = keys.next();
      if (writing.add(key)) {
        keys.remove();
        JsonObject value = wanted.get(key);
        (value == null ? table.remove(key) : table.put(key, value))
            .onComplete(ignored -> context.runOnContext(now -> written(key)));
      }
    }
  }

  private void written(String key) {
    writing.remove(key);
    write();
  }

  /** Writes nothing from now on: another dispatcher does. */
  void close() {
    closed = true;
  }
}
