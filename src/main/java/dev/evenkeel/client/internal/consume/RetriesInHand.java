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

/** Messages that the log gave out for another attempt. One message of a key runs at a time. */
final class RetriesInHand {
  private static final class KeyQueue {
    /** By offset. */
    final PriorityQueue<Task> waiting =
        new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

    boolean running;
  }

  /** By offset, until the log has recorded what became of them. */
  private final Map<Long, Task> tasks = new LinkedHashMap<>();

  /** Messages that have not started and have no key. */
  private final ArrayDeque<Task> free = new ArrayDeque<>();

  private final Map<Long, KeyQueue> queues = new HashMap<>();
  private int notStarted;

  int size() {
    return tasks.size();
  }

  boolean has(long offset) {
    return tasks.containsKey(offset);
  }

  boolean hasKey(long key) {
    return queues.containsKey(key);
  }

  List<Long> offsets() {
    return new ArrayList<>(tasks.keySet());
  }

  void add(Task task) {
    tasks.put(task.offset, task);
    notStarted++;
    if (task.keyHash == Outcome.NO_KEY) {
      free.add(task);
    } else {
      queues.computeIfAbsent(task.keyHash, any -> new KeyQueue()).waiting.add(task);
    }
  }

  /** The next that may start, or null. */
  Task next() {
    if (notStarted == 0) {
      return null;
    }
    Task task = free.poll();
    Iterator<KeyQueue> each = queues.values().iterator();
    while (task == null && each.hasNext()) {
      KeyQueue queue = each.next();
      if (!queue.running && !queue.waiting.isEmpty()) {
        queue.running = true;
        task = queue.waiting.poll();
      }
    }
    if (task != null) {
      notStarted--;
    }
    return task;
  }

  /**
   * Its handler has ended well: the message behind it may start. It stays in hand until {@link
   * #gone}.
   */
  void finished(Task task) {
    KeyQueue queue = queues.get(task.keyHash);
    if (queue != null) {
      queue.running = false;
      if (queue.waiting.isEmpty()) {
        queues.remove(task.keyHash);
      }
    }
  }

  /**
   * It failed: the messages behind it go back to the log, and are returned. It stays in hand until
   * {@link #gone}.
   */
  List<Task> failed(Task task) {
    KeyQueue queue = queues.remove(task.keyHash);
    return queue == null ? List.of() : forget(queue.waiting);
  }

  /**
   * Gives back the messages of a key that have not started and lie above {@code offset}, and
   * returns them.
   */
  List<Task> giveBackAbove(long key, long offset) {
    KeyQueue of = queues.get(key);
    if (of == null) {
      return List.of();
    }
    List<Task> above = new ArrayList<>(of.waiting);
    above.removeIf(task -> task.offset < offset);
    of.waiting.removeAll(above);
    if (!of.running && of.waiting.isEmpty()) {
      queues.remove(key);
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

  /** The log has recorded what became of it, or has it back. */
  void gone(long offset) {
    tasks.remove(offset);
  }

  /** Gives back all messages that have not started, and returns them. */
  List<Task> dropNotStarted() {
    List<Task> dropped = forget(free);
    free.clear();
    for (KeyQueue queue : queues.values()) {
      dropped.addAll(forget(queue.waiting));
      queue.waiting.clear();
    }
    queues.values().removeIf(queue -> !queue.running);
    return dropped;
  }
}
