package dev.evenkeel.consumer.core;

import dev.evenkeel.model.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Messages that came back from the log for another attempt: one of a lane after another. */
final class RetriesInHand {
  /** By offset, until the log has taken what became of them. */
  private final Map<Long, Task> tasks = new LinkedHashMap<>();

  private final ArrayDeque<Task> startable = new ArrayDeque<>();

  /** Lanes of which one is startable or runs, and those behind it. */
  private final Map<Long, ArrayDeque<Task>> busy = new HashMap<>();

  int size() {
    return tasks.size();
  }

  boolean has(long offset) {
    return tasks.containsKey(offset);
  }

  boolean hasLane(long lane) {
    return busy.containsKey(lane);
  }

  List<Long> offsets() {
    return new ArrayList<>(tasks.keySet());
  }

  void add(Task task) {
    tasks.put(task.offset, task);
    if (task.laneHash != Outcome.NO_LANE) {
      ArrayDeque<Task> behind = busy.get(task.laneHash);
      if (behind != null) {
        behind.add(task);
        return;
      }
      busy.put(task.laneHash, new ArrayDeque<>());
    }
    startable.add(task);
  }

  boolean isReady() {
    return !startable.isEmpty();
  }

  /** The next that may start, or null. */
  Task next() {
    return startable.poll();
  }

  /**
   * Its handler has ended well: the one behind it may start. It stays in hand until {@link #gone}.
   */
  void finished(Task task) {
    ArrayDeque<Task> behind = busy.get(task.laneHash);
    if (task.laneHash == Outcome.NO_LANE || behind == null) {
      return;
    }
    Task next = behind.poll();
    if (next == null) {
      busy.remove(task.laneHash);
    } else {
      startable.add(next);
    }
  }

  /** It failed: those behind it go back, and are returned. It stays in hand until {@link #gone}. */
  List<Task> failed(Task task) {
    if (task.laneHash == Outcome.NO_LANE) {
      return List.of();
    }
    ArrayDeque<Task> behind = busy.remove(task.laneHash);
    if (behind == null) {
      return List.of();
    }
    behind.forEach(each -> tasks.remove(each.offset));
    return List.copyOf(behind);
  }

  /** The log knows what became of it, or has it back. */
  void gone(long offset) {
    tasks.remove(offset);
  }

  /** Gives back all that were not started, and returns them. */
  List<Task> dropNotStarted() {
    List<Task> dropped = new ArrayList<>(startable);
    startable.clear();
    busy.values().forEach(dropped::addAll);
    for (Task task : dropped) {
      tasks.remove(task.offset);
    }
    busy.values().forEach(ArrayDeque::clear);
    busy.keySet()
        .removeIf(lane -> tasks.values().stream().noneMatch(task -> task.laneHash == lane));
    return dropped;
  }
}
