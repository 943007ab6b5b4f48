package dev.evenkeel.broker.serve;

import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.wire.BatchWalk;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Finds those of many filters that take a message, in a time that depends on the message and not on
 * the number of filters. Each filter is found by the conditions on its key or on one of its
 * headers, its access predicate, and then compared with the message as a whole: see F. Fabret and
 * others, "Filtering Algorithms and Implementation for Very Fast Publish/Subscribe Systems", SIGMOD
 * 2001. Equal filters are one, and are compared once.
 *
 * <p>Safe for use from any thread.
 *
 * @param <T> whoever has a filter
 */
final class FilterIndex<T> {
  private static final byte[] NO_BYTES = {};

  /** A filter, and everybody who has it. */
  private static final class Entry<T> {
    final MessageFilter filter;
    final Set<T> holders = new LinkedHashSet<>(2);

    /** The last message with which it was compared. */
    long comparedWith;

    Entry(MessageFilter filter) {
      this.filter = filter;
    }
  }

  /** Some bytes, as a key of a map. One that is used to look up is changed for each look. */
  private static final class Slice {
    private byte[] bytes;
    private int from;
    private int to;
    private int hash;

    Slice at(byte[] newBytes, int newFrom, int newTo) {
      bytes = newBytes;
      from = newFrom;
      to = newFrom;
      hash = 1;
      return upTo(newTo);
    }

    /** The same with more bytes. */
    Slice upTo(int newTo) {
      int newHash = hash;
      for (int i = to; i < newTo; i++) {
        newHash = 31 * newHash + bytes[i];
      }
      to = newTo;
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

  /** Filters by some bytes. Most bytes have one filter, which needs no set. */
  private static final class ByBytes<T> {
    private final Map<Slice, Object> found = new HashMap<>();

    /** Returns whether it is the first one with these bytes. */
    boolean add(Slice slice, Entry<T> entry) {
      Object present = found.putIfAbsent(slice, entry);
      if (present == null || present == entry) {
        return present == null;
      }
      if (present instanceof Entry) {
        present = new LinkedHashSet<>(List.of(present));
        found.put(slice, present);
      }
      ByBytes.<T>set(present).add(entry);
      return false;
    }

    /** Returns whether it was the last one with these bytes. */
    boolean remove(Slice slice, Entry<T> entry) {
      Object present = found.get(slice);
      if (present == null || present instanceof Entry && present != entry) {
        return false;
      }
      if (present == entry || set(present).remove(entry) && set(present).isEmpty()) {
        found.remove(slice);
        return true;
      }
      return false;
    }

    boolean isEmpty() {
      return found.isEmpty();
    }

    void each(Slice slice, Consumer<Entry<T>> action) {
      Object present = found.get(slice);
      if (present instanceof Set) {
        ByBytes.<T>set(present).forEach(action);
      } else if (present != null) {
        action.accept(ByBytes.<T>one(present));
      }
    }

    @SuppressWarnings("unchecked")
    private static <T> Entry<T> one(Object present) {
      return (Entry<T>) present;
    }

    @SuppressWarnings("unchecked")
    private static <T> Set<Entry<T>> set(Object present) {
      return (Set<Entry<T>>) present;
    }
  }

  /** The filters that are found by the key, or by one header. */
  private static final class Table<T> {
    final byte[] header;
    final ByBytes<T> values = new ByBytes<>();
    final ByBytes<T> prefixes = new ByBytes<>();

    /** How many prefixes there are of each length. */
    final TreeMap<Integer, Integer> lengths = new TreeMap<>();

    Table(byte[] header) {
      this.header = header;
    }

    void add(MessageFilter.Field field, Entry<T> entry) {
      for (byte[] value : field.values()) {
        values.add(Slice.of(value), entry);
      }
      for (byte[] prefix : field.prefixes()) {
        if (prefixes.add(Slice.of(prefix), entry)) {
          lengths.merge(prefix.length, 1, Integer::sum);
        }
      }
    }

    void remove(MessageFilter.Field field, Entry<T> entry) {
      for (byte[] value : field.values()) {
        values.remove(Slice.of(value), entry);
      }
      for (byte[] prefix : field.prefixes()) {
        if (prefixes.remove(Slice.of(prefix), entry)) {
          lengths.computeIfPresent(prefix.length, (length, count) -> count == 1 ? null : count - 1);
        }
      }
    }

    boolean isEmpty() {
      return values.isEmpty() && prefixes.isEmpty();
    }
  }

  private final Map<MessageFilter, Entry<T>> entries = new HashMap<>();
  private final Map<Slice, Table<T>> byHeader = new HashMap<>();
  private final Table<T> byKey = new Table<>(null);
  private final Slice slice = new Slice();

  // Of the match under way

  private final Consumer<Entry<T>> compare = this::compare;
  private BatchWalk message;
  private Set<T> taking;
  private long number;
  private int steps;

  /**
   * @param filter has at least one condition
   */
  synchronized void add(T holder, MessageFilter filter) {
    Entry<T> present = entries.get(filter);
    if (present != null) {
      present.holders.add(holder);
      return;
    }
    Entry<T> entry = new Entry<>(filter);
    entry.holders.add(holder);
    entries.put(filter, entry);
    MessageFilter.Field field = access(filter);
    Table<T> table =
        field.header() == null
            ? byKey
            : byHeader.computeIfAbsent(
                Slice.of(field.header()), any -> new Table<>(field.header()));
    table.add(field, entry);
  }

  /** Removes what was added. */
  synchronized void remove(T holder, MessageFilter filter) {
    Entry<T> entry = entries.get(filter);
    if (entry == null || !entry.holders.remove(holder) || !entry.holders.isEmpty()) {
      return;
    }
    entries.remove(filter);
    MessageFilter.Field field = access(entry.filter);
    Table<T> table = field.header() == null ? byKey : byHeader.get(Slice.of(field.header()));
    table.remove(field, entry);
    if (table.isEmpty() && field.header() != null) {
      byHeader.remove(Slice.of(field.header()));
    }
  }

  /** Everybody who was added; a copy. */
  synchronized Set<T> all() {
    Set<T> all = new LinkedHashSet<>();
    entries.values().forEach(each -> all.addAll(each.holders));
    return all;
  }

  /** How many different filters there are. */
  synchronized int size() {
    return entries.size();
  }

  /**
   * Adds those whose filters take the message over which the walk has gone last. Returns how many
   * steps that took: a filter that was compared is one, and a holder that was added.
   */
  synchronized int match(BatchWalk walk, Set<T> found) {
    message = walk;
    taking = found;
    number++;
    steps = 1;
    match(byKey);
    if (byHeader.size() <= walk.headers()) {
      byHeader.values().forEach(this::match);
    } else {
      int at = walk.headersFrom();
      for (int i = 0; i < walk.headers(); i++) {
        long name = walk.headerName(at);
        Table<T> table =
            byHeader.get(slice.at(walk.bytes(), BatchWalk.from(name), BatchWalk.to(name)));
        if (table != null) {
          match(table);
        }
        at = walk.headerEnd(at);
      }
    }
    // It keeps no bytes of messages.
    message = null;
    taking = null;
    slice.at(NO_BYTES, 0, 0);
    return steps;
  }

  private void match(Table<T> table) {
    if (table.isEmpty()) {
      return;
    }
    steps++;
    long value = message.find(table.header);
    if (value < 0) {
      return;
    }
    byte[] bytes = message.bytes();
    int from = BatchWalk.from(value);
    int to = BatchWalk.to(value);
    if (!table.values.isEmpty()) {
      table.values.each(slice.at(bytes, from, to), compare);
    }
    slice.at(bytes, from, from);
    for (int length : table.lengths.keySet()) {
      if (length > to - from) {
        break;
      }
      steps++;
      table.prefixes.each(slice.upTo(from + length), compare);
    }
  }

  private void compare(Entry<T> entry) {
    if (entry.comparedWith != number) {
      entry.comparedWith = number;
      steps++;
      if (message.isTakenBy(entry.filter)) {
        steps += entry.holders.size();
        taking.addAll(entry.holders);
      }
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
