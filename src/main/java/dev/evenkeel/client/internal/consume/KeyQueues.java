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
 * busy is parked in the key's lane, so that those behind it with other keys can pass. What is
 * parked is bounded by what the source has: the pending limits.
 */
final class KeyQueues implements OrderQueue {
  /** A busy key, and what is parked behind its message. It is its own key in the map. */
  static final class Lane {
    private final byte[] key;
    private final int hash;
    private ArrayDeque<Task> parked;

    /** Whose turn it is. */
    private Task front;

    Lane(byte[] key) {
      this.key = key;
      hash = Arrays.hashCode(key);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Lane lane && hash == lane.hash && Arrays.equals(key, lane.key);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  private final Map<Lane, Lane> busy = new HashMap<>();
  private final Consumer<Task> crowded;

  /** By offset: the older a message, the sooner it closes a hole in the window. */
  private final PriorityQueue<Task> startable =
      new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

  /**
   * @param crowded is told of a message that is watched when another is parked behind it
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
      Lane fresh = new Lane(task.message.key());
      Lane lane = busy.putIfAbsent(fresh, fresh);
      if (lane == null) {
        task.lane = fresh;
        fresh.front = task;
        return task;
      }
      task.lane = lane;
      if (lane.parked == null) {
        lane.parked = new ArrayDeque<>(4);
      }
      lane.parked.add(task);
      if (lane.front.watched) {
        crowded.accept(lane.front);
      }
    }
    return null;
  }

  @Override
  public Iterator<Task> behind(Task front) {
    Lane lane = front.lane;
    return lane == null || lane.parked == null
        ? Collections.emptyIterator()
        : lane.parked.iterator();
  }

  @Override
  public void takeBehind(Task front, Set<Task> some) {
    front.lane.parked.removeAll(some);
    some.forEach(task -> task.lane = null);
  }

  @Override
  public void finished(Task task) {
    Lane lane = task.lane;
    if (lane == null) {
      return;
    }
    Task behind = lane.parked == null ? null : lane.parked.poll();
    if (behind == null) {
      busy.remove(lane);
    } else {
      lane.front = behind;
      startable.add(behind);
    }
  }

  @Override
  public void dropFrom(long from) {
    // What runs keeps its lane until it is finished. What is startable comes before all that is
    // parked behind it.
    for (Lane lane : busy.values()) {
      if (lane.parked != null) {
        lane.parked.removeIf(task -> task.offset >= from);
      }
    }
    startable.removeIf(
        task -> {
          boolean dropped = task.offset >= from;
          if (dropped) {
            busy.remove(task.lane);
          }
          return dropped;
        });
  }

  @Override
  public void forEachParked(Consumer<Task> look) {
    startable.forEach(look);
    for (Lane lane : busy.values()) {
      if (lane.parked != null) {
        lane.parked.forEach(look);
      }
    }
  }
}
