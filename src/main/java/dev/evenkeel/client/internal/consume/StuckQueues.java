package dev.evenkeel.client.internal.consume;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Messages of the window that should be parked behind their lane and found no room in the log. They
 * wait here, in their order, and begin one after another once the log has nothing of the lane.
 */
final class StuckQueues {
  private static final class Lane {
    final ArrayDeque<Task> waiting = new ArrayDeque<>();

    /** One of them is on its way through a handler. */
    boolean busy;
  }

  private final Map<Long, Lane> lanes = new HashMap<>();

  boolean isEmpty() {
    return lanes.isEmpty();
  }

  boolean has(long lane) {
    return lanes.containsKey(lane);
  }

  void add(Task task) {
    task.stuck = true;
    lanes.computeIfAbsent(task.laneHash, any -> new Lane()).waiting.add(task);
  }

  /** One that came out of here has left the window, or is to wait in the log. */
  void ended(Task task) {
    Lane lane = lanes.get(task.laneHash);
    if (task.stuck && lane != null) {
      lane.busy = false;
      if (lane.waiting.isEmpty()) {
        lanes.remove(task.laneHash);
      }
    }
  }

  /** The next of a lane of which the log has nothing, or null while none may begin. */
  Task next(long hash) {
    Lane lane = lanes.get(hash);
    if (lane == null || lane.busy) {
      return null;
    }
    lane.busy = true;
    return lane.waiting.poll();
  }

  void forEach(Consumer<Task> look) {
    lanes.values().forEach(lane -> lane.waiting.forEach(look));
  }

  void removeIf(Predicate<Task> dropped) {
    lanes.values().forEach(lane -> lane.waiting.removeIf(dropped));
    lanes.values().removeIf(lane -> !lane.busy && lane.waiting.isEmpty());
  }

  void clear() {
    lanes.clear();
  }
}
