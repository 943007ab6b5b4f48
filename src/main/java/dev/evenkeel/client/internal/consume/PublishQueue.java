package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the handlers of one hold have published and the log has not acknowledged, in the order of
 * their inputs: the outputs of one leave when everything below it is finished or has left before.
 *
 * <p>A batch whose sequence is not above the highest is taken for a repeat, so no batch may
 * overtake another of its shard: at most one request to a data group is on its way. What gathers
 * meanwhile makes the next one. Bounded by the messages of a shard that may be handed out at once:
 * those that wait here are among them.
 */
final class PublishQueue {
  /** Batches join a request up to this size. */
  private static final int REQUEST_BYTES_MAX = 1 << 20;

  /** What goes to one data group. */
  private static final class Lane {
    final ArrayDeque<PublishRequest.Out> waiting = new ArrayDeque<>();
    PublishRequest inFlight;

    /** To be sent again from {@link #notBeforeMillis} on; else it awaits its answer. */
    boolean again;

    long notBeforeMillis;
  }

  /** By offset: handled, and not to leave yet. */
  private final TreeMap<Long, Task> ready = new TreeMap<>();

  /** Everything below has left, or has nothing to leave. */
  private long frontier;

  private final Map<Integer, Lane> lanes = new HashMap<>();

  /** Batches of each task that are not acknowledged. */
  private final Map<Task, Integer> open = new HashMap<>();

  private final long producerId;
  private final int epoch;
  private final int groups;

  /**
   * @param producerId of the hold's generation
   * @param epoch of the lease
   * @param groups number of data groups
   */
  PublishQueue(long producerId, int epoch, int groups) {
    this.producerId = producerId;
    this.epoch = epoch;
    this.groups = groups;
  }

  /** A handler that published has ended well. */
  void add(Task task) {
    open.put(task, 0);
    if (task.retry) {
      // Its place in the sequence is long over, so nobody can tell a repeat of it.
      leave(task, 0);
    } else {
      ready.put(task.offset, task);
    }
  }

  private void leave(Task task, long producer) {
    task.effects.batches(
        producer,
        epoch,
        task.offset,
        (shard, batch) -> {
          open.merge(task, 1, Integer::sum);
          lane(shard).waiting.add(new PublishRequest.Out(task, shard, batch));
        });
  }

  private Lane lane(Shard to) {
    return lanes.computeIfAbsent(to.dataGroup(groups), group -> new Lane());
  }

  /** What may be sent now, at most one request for each data group. */
  List<PublishRequest> next(Window window, long now) {
    advance(window);
    List<PublishRequest> requests = new ArrayList<>();
    lanes.forEach(
        (group, lane) -> {
          if (lane.inFlight == null && !lane.waiting.isEmpty()) {
            lane.inFlight = new PublishRequest(group, take(lane.waiting));
            requests.add(lane.inFlight);
          } else if (lane.again && now >= lane.notBeforeMillis) {
            lane.again = false;
            requests.add(lane.inFlight);
          }
        });
    return requests;
  }

  private void advance(Window window) {
    if (ready.isEmpty()) {
      return;
    }
    frontier = Math.max(frontier, window.committed());
    while (frontier < window.next()) {
      Task task = ready.remove(frontier);
      if (task != null) {
        leave(task, producerId);
      } else if (!window.isFinished(frontier)) {
        return;
      }
      frontier++;
    }
  }

  private static List<PublishRequest.Out> take(ArrayDeque<PublishRequest.Out> waiting) {
    List<PublishRequest.Out> taken = new ArrayList<>();
    int bytes = 0;
    while (!waiting.isEmpty() && taken.size() < AppendBody.BATCHES_MAX) {
      bytes += waiting.peek().bytes();
      if (!taken.isEmpty() && bytes > REQUEST_BYTES_MAX) {
        break;
      }
      taken.add(waiting.poll());
    }
    return taken;
  }

  /** The log has all of a request: returns the tasks of which it has everything now. */
  List<Task> taken(PublishRequest request) {
    Lane lane = lanes.get(request.group());
    if (lane == null || lane.inFlight != request) {
      return List.of();
    }
    lane.inFlight = null;
    lane.again = false;
    List<Task> whole = new ArrayList<>();
    for (PublishRequest.Out out : request.outs()) {
      int left = open.merge(out.task(), -1, Integer::sum);
      if (left == 0) {
        open.remove(out.task());
        whole.add(out.task());
      }
    }
    return whole;
  }

  /** A request is to be sent again: nobody knows, or it had no effect. */
  void again(PublishRequest request, long notBeforeMillis) {
    Lane lane = lanes.get(request.group());
    if (lane != null && lane.inFlight == request) {
      lane.again = true;
      lane.notBeforeMillis = notBeforeMillis;
    }
  }

  /**
   * If all that is left waits for a message below that does not run: forgets these and returns
   * them. Nothing of them was sent.
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
    tasks.forEach(open::remove);
    return tasks;
  }

  /** Nothing more leaves: returns the tasks whose outputs are not all in the log. */
  List<Task> clear() {
    List<Task> tasks = List.copyOf(open.keySet());
    open.clear();
    ready.clear();
    lanes.clear();
    return tasks;
  }
}
