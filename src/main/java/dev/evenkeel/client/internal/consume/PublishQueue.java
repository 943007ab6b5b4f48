package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.rate.RequestLimits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/**
 * What the handlers of one owned shard have published and the log has not acknowledged, in the
 * order of their inputs. The output of an input is sent when everything below it is finished or has
 * been sent.
 *
 * <p>The log takes a batch for a repeat if its sequence is not above the highest one, so no batch
 * may overtake another one of its shard: at most one request to a data group is under way. What
 * gathers meanwhile makes the next request. The messages of a shard that may be handed out at once
 * bound the queue, because the inputs that wait here are among them.
 */
final class PublishQueue {
  /** Batches are joined into a request up to this size. */
  private static final int REQUEST_BYTES_MAX = 1 << 20;

  /** The batches for one data group. */
  private static final class GroupQueue {
    final ArrayDeque<PublishRequest.Out> waiting = new ArrayDeque<>();

    /** Its answer is awaited. */
    PublishRequest inFlight;

    /** Nothing is sent before. */
    long notBeforeMillis = Long.MIN_VALUE;
  }

  /** Handled inputs whose output may not be sent yet, by offset. */
  private final TreeMap<Long, Task> ready = new TreeMap<>();

  /** Everything below has been sent, or had nothing to send. */
  private long frontier;

  private final Map<Integer, GroupQueue> queues = new HashMap<>();

  private final RequestLimits limits = new RequestLimits();

  /** How many batches of each task are not acknowledged. */
  private final Map<Task, Integer> unacknowledged = new HashMap<>();

  private final long producerId;
  private final int epoch;
  private final ToIntFunction<Shard> groups;
  private final Map<Shard, Long> last;

  /**
   * @param producerId of the generation
   * @param epoch of the lease
   * @param groups gives the data group of a shard
   * @param last by shard, the last sequence that it had of the producer when the epoch was opened
   */
  PublishQueue(long producerId, int epoch, ToIntFunction<Shard> groups, Map<Shard, Long> last) {
    this.producerId = producerId;
    this.epoch = epoch;
    this.groups = groups;
    this.last = last;
  }

  /** What matters of the last sequences if no input below {@code offset} comes again. */
  static Map<Shard, Long> from(long offset, Map<Shard, Long> last) {
    Map<Shard, Long> from = new HashMap<>(last);
    from.values().removeIf(sequence -> sequence < Effects.sequence(offset));
    return from;
  }

  /** Whether the sealed shard has what the input at {@code offset} published to it. */
  boolean hasPublished(Shard sealed, long offset) {
    return last.getOrDefault(sealed, -1L) >= Effects.sequence(offset);
  }

  /** A handler that published has ended well. */
  void add(Task task) {
    unacknowledged.put(task, 0);
    if (task.retry) {
      // Its sequence is long past, so the log cannot detect a repeat of it.
      send(task, 0);
    } else {
      ready.put(task.offset, task);
    }
  }

  /** Handled inputs whose output may not be sent yet, because of earlier ones. */
  int held() {
    return ready.size();
  }

  private void send(Task task, long producer) {
    task.effects.batches(
        producer,
        epoch,
        task.offset,
        (shard, batch) -> {
          unacknowledged.merge(task, 1, Integer::sum);
          queue(shard).waiting.add(new PublishRequest.Out(task, shard, batch));
        });
  }

  private GroupQueue queue(Shard to) {
    return queues.computeIfAbsent(groups.applyAsInt(to), group -> new GroupQueue());
  }

  /** The requests to send now, at most one for each data group. */
  List<PublishRequest> next(Window window, long now) {
    advance(window);
    List<PublishRequest> requests = new ArrayList<>();
    queues.forEach(
        (group, queue) -> {
          boolean free = queue.inFlight == null && now >= queue.notBeforeMillis;
          if (free && !queue.waiting.isEmpty() && admits(group, queue.waiting.peek(), now)) {
            queue.inFlight = new PublishRequest(group, take(queue.waiting, now));
            requests.add(queue.inFlight);
          }
        });
    return requests;
  }

  private boolean admits(int group, PublishRequest.Out first, long now) {
    return limits.admits(group, first.batch().count(), first.bytes(), now);
  }

  private void advance(Window window) {
    if (ready.isEmpty()) {
      return;
    }
    frontier = Math.max(frontier, window.committed());
    while (frontier < window.next()) {
      Task task = ready.remove(frontier);
      if (task != null) {
        send(task, producerId);
      } else if (!window.isFinished(frontier)) {
        return;
      }
      frontier++;
    }
  }

  private List<PublishRequest.Out> take(ArrayDeque<PublishRequest.Out> waiting, long now) {
    List<PublishRequest.Out> taken = new ArrayList<>();
    long bytesMax = Math.min(REQUEST_BYTES_MAX, limits.bytesMax(now));
    long messagesMax = limits.messagesMax(now);
    int bytes = 0;
    int messages = 0;
    while (!waiting.isEmpty() && taken.size() < AppendBody.BATCHES_MAX) {
      bytes += waiting.peek().bytes();
      messages += waiting.peek().batch().count();
      if (!taken.isEmpty() && (bytes > bytesMax || messages > messagesMax)) {
        break;
      }
      taken.add(waiting.poll());
    }
    return taken;
  }

  /** The log has everything of a request. Returns the tasks of which it now has everything. */
  List<Task> taken(PublishRequest request) {
    GroupQueue queue = queues.get(request.group());
    if (queue == null || queue.inFlight != request) {
      return List.of();
    }
    queue.inFlight = null;
    limits.over(request.group());
    List<Task> whole = new ArrayList<>();
    for (PublishRequest.Out out : request.outs()) {
      int left = unacknowledged.merge(out.task(), -1, Integer::sum);
      if (left == 0) {
        unacknowledged.remove(out.task());
        whole.add(out.task());
      }
    }
    return whole;
  }

  /**
   * Sends the batches of a request again later: it failed, or its result is unknown. They may be in
   * other requests then, in the same order.
   */
  void again(PublishRequest request, long notBeforeMillis) {
    limits.over(request.group());
    putBack(request, notBeforeMillis);
  }

  private void putBack(PublishRequest request, long notBeforeMillis) {
    GroupQueue queue = queues.get(request.group());
    if (queue != null && queue.inFlight == request) {
      queue.inFlight = null;
      queue.notBeforeMillis = notBeforeMillis;
      for (int i = request.outs().size() - 1; i >= 0; i--) {
        queue.waiting.addFirst(request.outs().get(i));
      }
    }
  }

  /** Sends them again when the quota that refused them said, as much at once as it takes. */
  void again(PublishRequest request, RefusedException.QuotaReached why, long now) {
    putBack(request, now + limits.refused(why, now));
  }

  /**
   * If all that is left waits for a message below that does not run: forgets these tasks and
   * returns them. Nothing of them was sent.
   *
   * @param running handlers that have not ended, and tasks that wait here
   */
  List<Task> giveUp(Window window, int running) {
    advance(window);
    if (running > ready.size()) {
      return List.of();
    }
    List<Task> tasks = List.copyOf(ready.values());
    ready.clear();
    tasks.forEach(unacknowledged::remove);
    return tasks;
  }

  /** Sends nothing more. Returns the tasks whose outputs are not all in the log. */
  List<Task> clear() {
    List<Task> tasks = List.copyOf(unacknowledged.keySet());
    unacknowledged.clear();
    ready.clear();
    queues.clear();
    return tasks;
  }
}
