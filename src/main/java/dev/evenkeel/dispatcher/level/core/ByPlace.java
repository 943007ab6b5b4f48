package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.model.Shard;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Something for some messages, until the group is done below them; at most so many entries. */
final class ByPlace<T> {
  private final int max;
  private final Map<Shard, TreeMap<Long, T>> byShard = new HashMap<>();
  private int size;

  ByPlace(int max) {
    this.max = max;
  }

  int size() {
    return size;
  }

  /** Returns false, and notes nothing, if there is an entry already or no room. */
  boolean add(MessageId id, T value) {
    if (size >= max) {
      return false;
    }
    TreeMap<Long, T> shard = byShard.computeIfAbsent(id.shard(), key -> new TreeMap<>());
    if (shard.putIfAbsent(id.offset(), value) != null) {
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
    TreeMap<Long, T> shard = byShard.get(id.shard());
    T value = shard == null ? null : shard.remove(id.offset());
    if (value != null) {
      size--;
      forgetIfEmpty(id.shard(), shard);
    }
    return value;
  }

  /** Takes the entry out if it is {@code value}. */
  void remove(MessageId id, T value) {
    TreeMap<Long, T> shard = byShard.get(id.shard());
    if (shard != null && shard.get(id.offset()) == value) {
      remove(id);
    }
  }

  void dropBelow(Shard shard, long offset) {
    TreeMap<Long, T> entries = byShard.get(shard);
    if (entries == null) {
      return;
    }
    while (!entries.isEmpty() && entries.firstKey() < offset) {
      entries.pollFirstEntry();
      size--;
    }
    forgetIfEmpty(shard, entries);
  }

  private void forgetIfEmpty(Shard shard, TreeMap<Long, T> entries) {
    if (entries.isEmpty()) {
      byShard.remove(shard);
    }
  }
}
