package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Something for some messages, until the group is done below them or is reset; at most so many
 * entries.
 */
final class MessageMap<T> {
  /** Those of one shard are of one generation, the latest that was told of. */
  private static final class Entries<T> {
    final long generation;
    final TreeMap<Long, T> byOffset = new TreeMap<>();

    Entries(long generation) {
      this.generation = generation;
    }
  }

  private final int max;
  private final Map<Shard, Entries<T>> byShard = new HashMap<>();
  private int size;

  MessageMap(int max) {
    this.max = max;
  }

  int size() {
    return size;
  }

  /**
   * Returns false, and notes nothing, if there is an entry already, or no room, or the shard was
   * reset since.
   */
  boolean add(MessageId id, T value) {
    if (size >= max) {
      return false;
    }
    Entries<T> shard = byShard.get(id.shard());
    if (shard != null && id.generation() < shard.generation) {
      return false;
    }
    if (shard == null || shard.generation < id.generation()) {
      size -= shard == null ? 0 : shard.byOffset.size();
      shard = new Entries<>(id.generation());
      byShard.put(id.shard(), shard);
    }
    if (shard.byOffset.putIfAbsent(id.offset(), value) != null) {
      return false;
    }
    size++;
    return true;
  }

  /** Takes the entry out, or gives null. */
  T remove(MessageId id) {
    if (size == 0) {
      return null;
    }
    Entries<T> shard = byShard.get(id.shard());
    boolean other = shard == null || shard.generation != id.generation();
    T value = other ? null : shard.byOffset.remove(id.offset());
    if (value != null) {
      size--;
      forgetIfEmpty(id.shard(), shard);
    }
    return value;
  }

  /** Takes the entry out if it is {@code value}. */
  void remove(MessageId id, T value) {
    Entries<T> shard = byShard.get(id.shard());
    if (shard != null && shard.byOffset.get(id.offset()) == value) {
      remove(id);
    }
  }

  void dropBelow(Shard shard, long offset) {
    Entries<T> entries = byShard.get(shard);
    if (entries == null) {
      return;
    }
    while (!entries.byOffset.isEmpty() && entries.byOffset.firstKey() < offset) {
      entries.byOffset.pollFirstEntry();
      size--;
    }
    forgetIfEmpty(shard, entries);
  }

  private void forgetIfEmpty(Shard shard, Entries<T> entries) {
    if (entries.byOffset.isEmpty()) {
      byShard.remove(shard);
    }
  }
}
