package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Predicate;

/** Messages that came back from the log for another attempt: one of a lane after another. */
final class RetriesInHand {
  private static final class Lane {
    /** By offset. */
    final PriorityQueue<Task> waiting =
        new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

    boolean running;
  }

  /** By offset, until the log has taken what became of them. */
  private final Map<Long, Task> tasks = new LinkedHashMap<>();

  /** Not started, and of no lane. */
  private final ArrayDeque<Task> free = new ArrayDeque<>();

  private final Map<Long, Lane> lanes = new HashMap<>();
  private int notStarted;

  int size() {
    return tasks.size();
  }

  boolean has(long offset) {
    return tasks.containsKey(offset);
  }

  boolean hasLane(long lane) {
    return lanes.containsKey(lane);
  }

  List<Long> offsets() {
    return new ArrayList<>(tasks.keySet());
  }

  void add(Task task) {
    tasks.put(task.offset, task);
    notStarted++;
    if (task.laneHash == Outcome.NO_LANE) {
      free.add(task);
    } else {
      lanes.computeIfAbsent(task.laneHash, any -> new Lane()).waiting.add(task);
    }
  }

  /**
   * The next that may start, or null.
   *
   * @param eligible asked of the first of a lane
   */
  Task next(Predicate<Task> eligible) {
    if (notStarted == 0) {
      return null;
    }
    Task task = free.poll();
    Iterator<Lane> each = lanes.values().iterator();
    while (task == null && each.hasNext()) {
      Lane lane = each.next();
      if (!lane.running && !lane.waiting.isEmpty() && eligible.test(lane.waiting.peek())) {
        lane.running = true;
        task = lane.waiting.poll();
      }
    }
    if (task != null) {
      notStarted--;
    }
    return task;
  }

  /**
   * Its handler has ended well: the one behind it may start. It stays in hand until {@link #gone}.
   */
  void finished(Task task) {
    Lane lane = lanes.get(task.laneHash);
    if (lane != null) {
      lane.running = false;
      if (lane.waiting.isEmpty()) {
        lanes.remove(task.laneHash);
      }
    }
  }

  /** It failed: those behind it go back, and are returned. It stays in hand until {@link #gone}. */
  List<Task> failed(Task task) {
    Lane lane = lanes.remove(task.laneHash);
    return lane == null ? List.of() : forget(lane.waiting);
  }

  /** Gives back what of a lane was not started and lies above {@code offset}, and returns it. */
  List<Task> giveBackAbove(long lane, long offset) {
    Lane of = lanes.get(lane);
    if (of == null) {
      return List.of();
    }
    List<Task> above = new ArrayList<>(of.waiting);
    above.removeIf(task -> task.offset < offset);
    of.waiting.removeAll(above);
    if (!of.running && of.waiting.isEmpty()) {
      lanes.remove(lane);
    }
    return forget(above);
  }

  private List<Task> forget(Iterable<Task> some) {
    List<Task> forgotten = new ArrayList<>();
    for (Task task : some) {
      tasks.remove(task.offset);
      notStarted--;
      forgotten.add(task);
    }
    return forgotten;
  }

  /** The log knows what became of it, or has it back. */
  void gone(long offset) {
    tasks.remove(offset);
  }

  /** Gives back all that were not started, and returns them. */
  List<Task> dropNotStarted() {
    List<Task> dropped = forget(free);
    free.clear();
    for (Lane lane : lanes.values()) {
      dropped.addAll(forget(lane.waiting));
      lane.waiting.clear();
    }
    lanes.values().removeIf(lane -> !lane.running);
    return dropped;
  }
}
