package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.FailureRow;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Table FAILURES as it is after the changes decided so far: one outcome of a command may depend on
 * the one before it. Use one instance per command.
 */
final class FailureRows {
  private static final byte[] GONE = new byte[0];

  private final Store store;
  private final NavigableMap<byte[], byte[]> edits = new TreeMap<>(Arrays::compareUnsigned);

  FailureRows(Store store) {
    this.store = store;
  }

  /** The value of a row. */
  byte @Nullable [] get(byte[] key) {
    byte[] edited = edits.get(key);
    if (edited != null) {
      return edited == GONE ? null : edited;
    }
    return store.get(Store.Table.FAILURES, key);
  }

  boolean has(byte[] key) {
    return get(key) != null;
  }

  /** Puts a row that needs no value. */
  void mark(byte[] key) {
    put(key, new byte[] {1});
  }

  void put(byte[] key, byte[] value) {
    edits.put(key, value);
  }

  void delete(byte[] key) {
    edits.put(key, GONE);
  }

  boolean deletes(byte[] key) {
    return edits.get(key) == GONE;
  }

  /** The first key that this command has put, from {@code from} to {@code to} (exclusive). */
  byte @Nullable [] added(byte[] from, byte[] to) {
    for (var each : edits.subMap(from, true, to, false).entrySet()) {
      if (each.getValue() != GONE) {
        return each.getKey();
      }
    }
    return null;
  }

  /** The first key from {@code from} (inclusive) to {@code to} (exclusive). */
  byte @Nullable [] first(byte[] from, byte[] to) {
    byte[] added = added(from, to);
    try (Store.Cursor cursor = store.scan(Store.Table.FAILURES, from, to)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        if (added != null && Arrays.compareUnsigned(added, key) <= 0) {
          return added;
        }
        if (!deletes(key)) {
          return key;
        }
      }
    }
    return added;
  }

  List<FailureRow> changed() {
    List<FailureRow> rows = new ArrayList<>(edits.size());
    edits.forEach((key, value) -> rows.add(new FailureRow(key, value == GONE ? null : value)));
    return rows;
  }

  boolean isEmpty() {
    return edits.isEmpty();
  }
}
