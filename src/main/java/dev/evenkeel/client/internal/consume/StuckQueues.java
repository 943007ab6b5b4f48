package dev.evenkeel.client.internal.consume;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Messages of the window that should be parked behind others of their key, but the log has no room.
 * They wait here in their order, and begin one after another once the log has no message of the
 * key.
 */
final class StuckQueues {
  private static final class KeyQueue {
    final ArrayDeque<Task> waiting = new ArrayDeque<>();

    /** One of them is with a handler or about to be. */
    boolean busy;
  }

  private final Map<Long, KeyQueue> queues = new HashMap<>();

  boolean isEmpty() {
    return queues.isEmpty();
  }

  boolean has(long key) {
    return queues.containsKey(key);
  }

  void add(Task task) {
    task.stuck = true;
    task.detach();
    queues.computeIfAbsent(task.keyHash, any -> new KeyQueue()).waiting.add(task);
  }

  /** A message that came out of here has left the window, or now waits in the log. */
  void ended(Task task) {
    KeyQueue queue = task.stuck ? queues.get(task.keyHash) : null;
    if (queue != null) {
      queue.busy = false;
      if (queue.waiting.isEmpty()) {
        queues.remove(task.keyHash);
      }
    }
  }

  /** The next message of a key of which the log has none, or null while none may begin. */
  Task next(long hash) {
    KeyQueue queue = queues.get(hash);
    if (queue == null || queue.busy) {
      return null;
    }
    queue.busy = true;
    return queue.waiting.poll();
  }

  void forEach(Consumer<Task> look) {
    queues.values().forEach(queue -> queue.waiting.forEach(look));
  }

  void removeIf(Predicate<Task> dropped) {
    queues.values().forEach(queue -> queue.waiting.removeIf(dropped));
    queues.values().removeIf(queue -> !queue.busy && queue.waiting.isEmpty());
  }

  void clear() {
    queues.clear();
  }
}
