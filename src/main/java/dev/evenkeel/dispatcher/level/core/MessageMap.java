package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.Comparator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A map by message, of limited size. Entries go when the group commits past them or is reset on
 * their shard; those of one shard are of its latest generation.
 */
final class MessageMap<T> {
  private final int max;
  private final TreeMap<MessageId, T> values =
      new TreeMap<>(
          Comparator.comparing(MessageId::shard)
              .thenComparingLong(MessageId::offset)
              .thenComparingLong(MessageId::generation));

  MessageMap(int max) {
    this.max = max;
  }

  int size() {
    return values.size();
  }

  /**
   * Returns false, and adds nothing, if there is an entry already, or no room, or the shard was
   * reset since.
   */
  boolean add(MessageId id, T value) {
    if (values.size() >= max) {
      return false;
    }
    NavigableMap<MessageId, T> shard = below(id.shard(), Long.MAX_VALUE);
    long generation = shard.isEmpty() ? id.generation() : shard.firstKey().generation();
    if (id.generation() < generation) {
      return false;
    }
    if (id.generation() > generation) {
      shard.clear();
    }
    return values.putIfAbsent(id, value) == null;
  }

  /** The entry of a message. */
  @Nullable T get(MessageId id) {
    return values.isEmpty() ? null : values.get(id);
  }

  /** The entries of a shard from an offset up to another, which is not among them. */
  Map<MessageId, T> of(Shard shard, long from, long to) {
    return values.subMap(new MessageId(shard, from, 0), true, new MessageId(shard, to, 0), false);
  }

  /** Takes the entry out. */
  @Nullable T remove(MessageId id) {
    return values.isEmpty() ? null : values.remove(id);
  }

  /** Takes the entry out if it is {@code value}. */
  void remove(MessageId id, T value) {
    values.remove(id, value);
  }

  void dropBelow(Shard shard, long offset) {
    if (!values.isEmpty()) {
      below(shard, offset).clear();
    }
  }

  private NavigableMap<MessageId, T> below(Shard shard, long offset) {
    return values.subMap(new MessageId(shard, 0, 0), true, new MessageId(shard, offset, 0), false);
  }
}
