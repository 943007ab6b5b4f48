package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait, by shard. Those of one shard keep their order. Shards take turns, so that no
 * shard waits until the backlog of another has been handed out.
 */
final class ShardQueues {
  private final Map<Shard, ArrayDeque<Item>> byShard = new HashMap<>();

  /** Those that are not empty. The first one has the next turn. */
  private final ArrayDeque<ArrayDeque<Item>> turns = new ArrayDeque<>();

  private int size;

  int size() {
    return size;
  }

  void add(Item item) {
    ArrayDeque<Item> queue = byShard.computeIfAbsent(item.id.shard(), of -> new ArrayDeque<>());
    if (queue.isEmpty()) {
      turns.add(queue);
    }
    queue.add(item);
    size++;
  }

  /** Takes the next message. */
  @Nullable Item poll() {
    ArrayDeque<Item> queue = turns.poll();
    if (queue == null) {
      return null;
    }
    Item item = queue.poll();
    if (!queue.isEmpty()) {
      turns.add(queue);
    }
    size--;
    return item;
  }

  /** Takes all messages of a shard, in their order. */
  Collection<Item> remove(Shard shard) {
    ArrayDeque<Item> queue = byShard.remove(shard);
    if (queue == null) {
      return List.of();
    }
    // By identity: deques have no other equality.
    turns.remove(queue);
    size -= queue.size();
    return queue;
  }
}
