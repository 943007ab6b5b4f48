package dev.evenkeel.broker.serve;

import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.wire.BatchWalk;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds those of many filters that take a message, in a time that depends on the number of
 * different headers in the filters and not on the number of filters. Each filter is found by the
 * conditions on its key or on one of its headers, its access predicate, and then compared with the
 * message as a whole: see F. Fabret and others, "Filtering Algorithms and Implementation for Very
 * Fast Publish/Subscribe Systems", SIGMOD 2001.
 *
 * <p>Safe for use from any thread.
 *
 * @param <T> whoever has a filter
 */
final class FilterIndex<T> {
  private record Entry<T>(T holder, MessageFilter filter) {}

  /** Some bytes, as a key of a map. One that is used to look up is changed for each look. */
  private static final class Slice {
    private byte[] bytes;
    private int from;
    private int to;
    private int hash;

    Slice at(byte[] newBytes, int newFrom, int newTo) {
      bytes = newBytes;
      from = newFrom;
      to = newTo;
      int newHash = 1;
      for (int i = newFrom; i < newTo; i++) {
        newHash = 31 * newHash + newBytes[i];
      }
      hash = newHash;
      return this;
    }

    static Slice of(byte[] whole) {
      return new Slice().at(whole, 0, whole.length);
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Slice that
          && Arrays.equals(bytes, from, to, that.bytes, that.from, that.to);
    }
  }

  /** The filters that are found by the key, or by one header. */
  private static final class Table<T> {
    final byte[] header;
    final Map<Slice, Set<Entry<T>>> values = new HashMap<>();
    final Map<Slice, Set<Entry<T>>> prefixes = new HashMap<>();

    /** How many prefixes there are of each length. */
    final TreeMap<Integer, Integer> lengths = new TreeMap<>();

    Table(byte[] header) {
      this.header = header;
    }

    void add(MessageFilter.Field field, Entry<T> entry) {
      for (byte[] value : field.values()) {
        values.computeIfAbsent(Slice.of(value), any -> new LinkedHashSet<>(2)).add(entry);
      }
      for (byte[] prefix : field.prefixes()) {
        Slice slice = Slice.of(prefix);
        if (!prefixes.containsKey(slice)) {
          lengths.merge(prefix.length, 1, Integer::sum);
        }
        prefixes.computeIfAbsent(slice, any -> new LinkedHashSet<>(2)).add(entry);
      }
    }

    void remove(MessageFilter.Field field, Entry<T> entry) {
      for (byte[] value : field.values()) {
        remove(values, Slice.of(value), entry);
      }
      for (byte[] prefix : field.prefixes()) {
        if (remove(prefixes, Slice.of(prefix), entry)) {
          lengths.computeIfPresent(prefix.length, (length, count) -> count == 1 ? null : count - 1);
        }
      }
    }

    /** Returns whether it was the last one. */
    private static <T> boolean remove(Map<Slice, Set<Entry<T>>> from, Slice slice, Entry<T> entry) {
      Set<Entry<T>> of = from.get(slice);
      if (of == null || !of.remove(entry) || !of.isEmpty()) {
        return false;
      }
      from.remove(slice);
      return true;
    }

    boolean isEmpty() {
      return values.isEmpty() && prefixes.isEmpty();
    }

    void match(BatchWalk walk, Slice slice, Set<T> found) {
      long value = walk.find(header);
      if (value < 0) {
        return;
      }
      byte[] bytes = walk.bytes();
      int from = BatchWalk.from(value);
      int to = BatchWalk.to(value);
      if (!values.isEmpty()) {
        take(values.get(slice.at(bytes, from, to)), walk, found);
      }
      for (int length : lengths.keySet()) {
        if (length > to - from) {
          break;
        }
        take(prefixes.get(slice.at(bytes, from, from + length)), walk, found);
      }
    }

    private static <T> void take(Set<Entry<T>> entries, BatchWalk walk, Set<T> found) {
      if (entries != null) {
        for (Entry<T> each : entries) {
          if (!found.contains(each.holder) && walk.isTakenBy(each.filter)) {
            found.add(each.holder);
          }
        }
      }
    }
  }

  private final Map<Slice, Table<T>> byHeader = new HashMap<>();
  private Table<T> byKey = new Table<>(null);
  private final Slice slice = new Slice();

  /**
   * @param filter has at least one condition
   */
  synchronized void add(T holder, MessageFilter filter) {
    MessageFilter.Field field = access(filter);
    Table<T> table =
        field.header() == null
            ? byKey
            : byHeader.computeIfAbsent(
                Slice.of(field.header()), any -> new Table<>(field.header()));
    table.add(field, new Entry<>(holder, filter));
  }

  /** Removes what was added. */
  synchronized void remove(T holder, MessageFilter filter) {
    MessageFilter.Field field = access(filter);
    Table<T> table = field.header() == null ? byKey : byHeader.get(Slice.of(field.header()));
    if (table != null) {
      table.remove(field, new Entry<>(holder, filter));
      if (table.isEmpty() && field.header() != null) {
        byHeader.remove(Slice.of(field.header()));
      }
    }
  }

  /** Removes everything. */
  synchronized void clear() {
    byHeader.clear();
    byKey = new Table<>(null);
  }

  /** Adds those whose filters take the message over which the walk has gone last. */
  synchronized void match(BatchWalk walk, Set<T> found) {
    byKey.match(walk, slice, found);
    for (Table<T> each : byHeader.values()) {
      each.match(walk, slice, found);
    }
  }

  /** The conditions by which a filter is found: those that name whole values, if there are some. */
  private static MessageFilter.Field access(MessageFilter filter) {
    for (MessageFilter.Field each : filter.fields()) {
      if (each.prefixes().length == 0) {
        return each;
      }
    }
    return filter.fields().get(0);
  }
}
