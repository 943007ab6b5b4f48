package dev.evenkeel.client.internal.consume;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;

/**
 * One message of a key after another; messages without a key have no order. A message whose key is
 * busy is kept in the key's queue, so that those behind it with other keys can pass. What is
 * waiting is bounded by what the source has: the pending limits.
 */
final class KeyQueues implements OrderQueue {
  /** A busy key, and what is waiting behind its message. It is its own key in the map. */
  static final class KeyQueue {
    private final byte[] key;
    private final int hash;
    private ArrayDeque<Task> waiting;

    /** Whose turn it is. */
    private Task front;

    KeyQueue(byte[] key) {
      this.key = key;
      hash = Arrays.hashCode(key);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof KeyQueue queue && hash == queue.hash && Arrays.equals(key, queue.key);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  private final Map<KeyQueue, KeyQueue> busy = new HashMap<>();
  private final Consumer<Task> crowded;

  /** By offset: the older a message, the sooner it closes a hole in the window. */
  private final PriorityQueue<Task> startable =
      new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

  /**
   * @param crowded is told of a message that is watched when another is waiting behind it
   */
  KeyQueues(Consumer<Task> crowded) {
    this.crowded = crowded;
  }

  @Override
  public Task next(Source source) {
    Task task = startable.poll();
    if (task != null) {
      return task;
    }
    while ((task = source.next()) != null) {
      if (task.message.key() == null) {
        return task;
      }
      KeyQueue fresh = new KeyQueue(task.message.key());
      KeyQueue queue = busy.putIfAbsent(fresh, fresh);
      if (queue == null) {
        task.queue = fresh;
        fresh.front = task;
        return task;
      }
      task.queue = queue;
      if (queue.waiting == null) {
        queue.waiting = new ArrayDeque<>(4);
      }
      queue.waiting.add(task);
      if (queue.front.watched()) {
        crowded.accept(queue.front);
      }
    }
    return null;
  }

  @Override
  public Iterator<Task> behind(Task front) {
    KeyQueue queue = front.queue;
    return queue == null || queue.waiting == null
        ? Collections.emptyIterator()
        : queue.waiting.iterator();
  }

  @Override
  public void takeBehind(Task front, Set<Task> some) {
    front.queue.waiting.removeAll(some);
    some.forEach(task -> task.queue = null);
  }

  @Override
  public void finished(Task task) {
    KeyQueue queue = task.queue;
    if (queue == null) {
      return;
    }
    Task behind = queue.waiting == null ? null : queue.waiting.poll();
    if (behind == null) {
      busy.remove(queue);
    } else {
      queue.front = behind;
      startable.add(behind);
    }
  }

  @Override
  public void dropFrom(long from) {
    // What runs keeps its queue until it is finished. What is startable comes before all that is
    // waiting behind it.
    for (KeyQueue queue : busy.values()) {
      if (queue.waiting != null) {
        queue.waiting.removeIf(task -> task.offset >= from);
      }
    }
    startable.removeIf(
        task -> {
          boolean dropped = task.offset >= from;
          if (dropped) {
            busy.remove(task.queue);
          }
          return dropped;
        });
  }

  @Override
  public void forEachWaiting(Consumer<Task> look) {
    startable.forEach(look);
    for (KeyQueue queue : busy.values()) {
      if (queue.waiting != null) {
        queue.waiting.forEach(look);
      }
    }
  }
}
