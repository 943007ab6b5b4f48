package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions.Order;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Keeps the order of one shard: hands out its messages one by one, as the order allows. A message
 * keeps its turn from {@link #next} to {@link #finished}, through all its retries.
 *
 * <p>With order {@code shard} one message is out at a time, and none is taken ahead. With order
 * {@code key} one message of each key is out at a time; a message whose key is busy waits in the
 * queue of its key, so that messages of other keys can pass. Messages without a key have no order,
 * and with order {@code none} all are treated so. The source bounds how many wait here: by the
 * pending limits.
 */
final class OrderQueue {
  private final Order order;

  /** Order shard: a message is out. */
  private boolean busyShard;

  private final Map<BusyKey, BusyKey> busy = new HashMap<>();
  private final Consumer<Task> crowded;

  /** By offset: the older a message, the sooner it closes a hole in the window. */
  private final PriorityQueue<Task> startable =
      new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

  /**
   * @param crowded gets a {@link Task#watched} message when another one comes to wait behind it
   */
  OrderQueue(Order order, Consumer<Task> crowded) {
    this.order = order;
    this.crowded = crowded;
  }

  /**
   * The next message that may start, or null while all messages must wait.
   *
   * @param source gives the messages of the shard by ascending offset; null: there is none now
   */
  Task next(Supplier<Task> source) {
    if (busyShard) {
      return null;
    }
    Task task = startable.poll();
    if (task != null) {
      busyShard = order == Order.SHARD;
      return task;
    }
    while ((task = source.get()) != null) {
      if (order != Order.KEY || !task.message.hasKey()) {
        busyShard = order == Order.SHARD;
        return task;
      }
      BusyKey fresh = new BusyKey(task.message.key());
      BusyKey queue = busy.putIfAbsent(fresh, fresh);
      if (queue == null) {
        task.queue = fresh;
        fresh.front = task;
        return task;
      }
      task.queue = queue;
      task.detach();
      if (queue.waiting == null) {
        queue.waiting = new ArrayDeque<>(4);
      }
      queue.waiting.add(task);
      if (queue.front.watched) {
        crowded.accept(queue.front);
      }
    }
    return null;
  }

  /**
   * The next message of the source, to be out together with the one before it; null if another one
   * comes first. Not for order {@code key}.
   */
  Task nextOfBatch(Supplier<Task> source) {
    return startable.isEmpty() ? source.get() : null;
  }

  /** A message that came from the source is the next one that may start after all. */
  void putBack(Task task) {
    startable.add(task);
  }

  /** The messages that wait behind {@code front}, which is out, in their order. */
  Iterator<Task> behind(Task front) {
    BusyKey queue = front.queue;
    return queue == null || queue.waiting == null
        ? Collections.emptyIterator()
        : queue.waiting.iterator();
  }

  /** Forgets some of the messages behind {@code front}. */
  void takeBehind(Task front, Set<Task> some) {
    front.queue.waiting.removeAll(some);
    some.forEach(task -> task.queue = null);
  }

  /** The handler of {@code task} has ended well: the message behind it may start. */
  void finished(Task task) {
    busyShard = false;
    BusyKey queue = task.queue;
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

  /** Forgets the messages that wait here and lie at {@code from} or above. */
  void dropFrom(long from) {
    // What runs keeps its queue until it is finished. What is startable comes before all that is
    // waiting behind it.
    for (BusyKey queue : busy.values()) {
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

  /** Forgets all messages that wait here. */
  void clear() {
    dropFrom(Long.MIN_VALUE);
  }

  /** Shows the messages that wait here, in no order. */
  void forEachWaiting(Consumer<Task> look) {
    startable.forEach(look);
    for (BusyKey queue : busy.values()) {
      if (queue.waiting != null) {
        queue.waiting.forEach(look);
      }
    }
  }
}
