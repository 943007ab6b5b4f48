package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a hold knows of failures: what left the window, which lanes have messages in the log, what
 * came back from there, and what the log is to be told. Times are monotonic milliseconds.
 */
final class ShardRetries {
  /** Most retries in hand. */
  static final int IN_HAND_MAX = 256;

  /** A hint that there are retries is followed this often at most. */
  private static final long HINT_GAP_MILLIS = 1_000;

  private static final long NEVER = Long.MAX_VALUE;

  private record Held(int attempts, long dueMillis) {}

  final Outbox outbox = new Outbox();
  final RetriesInHand inHand = new RetriesInHand();
  final StuckQueues stuck = new StuckQueues();

  /** Whether what former owners left is known: nothing is handed out before. */
  private boolean known;

  private boolean mustAskFirst;
  private Set<Long> marks = Set.of();
  private final Map<Long, Held> held = new HashMap<>();

  /** The highest of the marks. */
  private long lastMark = -1;

  /** How many messages of each lane the log has, those on their way there included. */
  private final Map<Long, Integer> lanes = new HashMap<>();

  /** The lowest offset of each of those lanes so far. */
  private final Map<Long, Long> firsts = new HashMap<>();

  /** Lanes whose first message waits for its time: an answer has said when, or we have. */
  private final Set<Long> waitingLanes = new HashSet<>();

  /** Lanes of which a failed retry was not told yet. */
  private final Map<Long, Integer> failingLanes = new HashMap<>();

  /** How much the log has of failures, as the last fetch said. */
  private int told;

  private RetryRequest asked;
  private long nextAskMillis = NEVER;
  private long lastAskedMillis = -HINT_GAP_MILLIS;
  private long notBeforeMillis = Long.MIN_VALUE;
  private long failuresSeen;
  private long failuresWhenAsked;

  /** Whether messages may be handed out. */
  boolean known() {
    return known;
  }

  /** What a fetch has said last of failures; 0 before the first. */
  int told() {
    return told;
  }

  /** A fetch has said how much the log has of failures. */
  void hinted(int failures, long now) {
    boolean more = failures > told;
    told = failures;
    if (!known) {
      if (failures == 0) {
        known = true;
      } else {
        mustAskFirst = true;
      }
    } else if (more) {
      // Somebody may have replayed dead letters, which do not wait for what waits already.
      askAt(Math.max(now, lastAskedMillis + HINT_GAP_MILLIS));
    } else if (failures > 0
        && nextAskMillis == NEVER
        && inHand.size() == 0
        && outbox.isEmpty()
        && now - lastAskedMillis >= HINT_GAP_MILLIS) {
      nextAskMillis = now;
    }
  }

  // ---- The window

  /** Whether the message has left the window under a former owner. */
  boolean hasLeft(long offset) {
    return marks.contains(offset);
  }

  /** Gives a message the attempts that the log has counted; true: it must wait for the next. */
  boolean mustWait(Task task, long now) {
    Held known = held.isEmpty() ? null : held.remove(task.offset);
    if (known == null) {
      return false;
    }
    task.attempt = known.attempts() + 1;
    task.dueMillis = known.dueMillis();
    return task.dueMillis > now;
  }

  /** Whether the message must wait behind others of its lane that are in the log. */
  boolean isBehind(Task task) {
    if (lanes.isEmpty() && stuck.isEmpty() || task.message.key() == null) {
      return false;
    }
    task.laneHash = KeyHash.of(task.message.key());
    // One that a former owner had done may lie before those that it moved, and comes again.
    return lanes.containsKey(task.laneHash) && task.offset > firsts.get(task.laneHash)
        || stuck.has(task.laneHash);
  }

  /**
   * The next retry that may start, or null. What a former owner has moved must not pass messages of
   * its lane that it had done and that come again: it waits for the window.
   *
   * @param ordered whether lanes count here
   * @param committed everything below is done
   */
  Task nextRetry(boolean ordered, long committed) {
    boolean all = !ordered || committed > lastMark;
    return inHand.next(task -> all || task.offset <= committed || !marks.contains(task.offset));
  }

  /** Parks a message behind its lane. Returns what must go back to come behind it. */
  List<Task> park(Task task) {
    if (stuck.has(task.laneHash)) {
      stuck.add(task);
      return List.of();
    }
    List<Task> back = more(task);
    outbox.add(
        task, new Outcome.Parked(task.offset, task.laneHash, MessageCodec.encode(task.message)));
    return back;
  }

  /** The log has no room for it: it waits in the window. */
  void noRoom(Task task) {
    fewer(task.laneHash);
    stuck.add(task);
  }

  /** The log has one more message of its lane. Returns what must go back to come behind it. */
  List<Task> more(Task task) {
    if (task.laneHash == Outcome.NO_LANE) {
      return List.of();
    }
    lanes.merge(task.laneHash, 1, Integer::sum);
    firsts.merge(task.laneHash, task.offset, Math::min);
    if (task.offset > lastMark) {
      return List.of();
    }
    failuresSeen++;
    return inHand.giveBackAbove(task.laneHash, task.offset);
  }

  private void fewer(long lane) {
    if (lane != Outcome.NO_LANE) {
      lanes.computeIfPresent(lane, (any, count) -> count == 1 ? null : (Integer) (count - 1));
      if (!lanes.containsKey(lane)) {
        firsts.remove(lane);
      }
    }
  }

  /** The next stuck message of a lane if it may begin now, or null. */
  Task unstuck(long lane) {
    return lanes.containsKey(lane) ? null : stuck.next(lane);
  }

  /** The log has taken a message: it waits there, for {@code delayMillis} at least. */
  void moved(long lane, long delayMillis, long now) {
    if (lane != Outcome.NO_LANE) {
      waitingLanes.add(lane);
    }
    askAt(now + delayMillis);
  }

  /** The log has parked a message. */
  void parked(long lane, long now) {
    if (!waitingLanes.contains(lane) && !inHand.hasLane(lane)) {
      askAt(now);
    }
  }

  // ---- Retries

  /** A retry failed; returns those behind it, which go back. */
  List<Task> retryFailed(Task task) {
    failuresSeen++;
    failingLanes.merge(task.laneHash, 1, Integer::sum);
    return inHand.failed(task);
  }

  /** The log has taken a retry's failure. */
  void retryFailureTaken(Task task) {
    // An answer that was asked for before may have those behind it.
    failuresSeen++;
    failingLanes.computeIfPresent(
        task.laneHash, (any, count) -> count == 1 ? null : (Integer) (count - 1));
    inHand.gone(task.offset);
  }

  /** A retry is over: settled, or a dead letter. */
  void retryOver(Task task, long now) {
    inHand.gone(task.offset);
    fewer(task.laneHash);
    if (lanes.containsKey(task.laneHash) && !inHand.hasLane(task.laneHash)) {
      askAt(now);
    }
  }

  /** A retry goes back untried. */
  void giveBack(Task task, long againMillis) {
    failuresSeen++;
    inHand.gone(task.offset);
    askAt(againMillis);
  }

  private void askAt(long millis) {
    nextAskMillis = Math.min(nextAskMillis, millis);
  }

  /** The next request for retries, or null if none is due. */
  RetryRequest ask(String group, OwnedShard hold, int bytesMax, long now) {
    boolean first = !known && mustAskFirst;
    boolean due = known && now >= nextAskMillis && inHand.size() < IN_HAND_MAX / 2;
    if (asked != null || now < notBeforeMillis || !first && !due) {
      return null;
    }
    failuresWhenAsked = failuresSeen;
    lastAskedMillis = now;
    nextAskMillis = NEVER;
    asked =
        new RetryRequest(
            group,
            hold.shard,
            hold.epoch,
            first,
            inHand.offsets(),
            IN_HAND_MAX - inHand.size(),
            bytesMax);
    return asked;
  }

  /** The request was refused, or its answer is not awaited any more. */
  boolean askFailed(RetryRequest request, long againMillis) {
    if (asked != request) {
      return false;
    }
    asked = null;
    askAt(againMillis);
    notBeforeMillis = againMillis;
    return true;
  }

  /** A hand-over was called off: what it gave back comes again, and no former request counts. */
  void resumed(long now) {
    asked = null;
    askAt(now);
  }

  void linkUp(long now) {
    outbox.linkUp(now);
    notBeforeMillis = now;
    if (asked != null) {
      askFailed(asked, now);
    }
  }

  /** Takes in an answer. Returns what came to be in hand. */
  List<Task> answered(OwnedShard hold, RetryRequest request, RetryAnswer answer, long now) {
    if (asked != request) {
      return List.of();
    }
    asked = null;
    if (answer.known() != null && !known) {
      learn(answer.known(), now);
    }
    if (answer.nextInMillis() >= 0) {
      askAt(now + answer.nextInMillis());
    }
    List<Task> came = new ArrayList<>();
    for (RetryAnswer.Retry retry : answer.due()) {
      boolean inOrder =
          retry.lane() == Outcome.NO_LANE
              || failuresSeen == failuresWhenAsked && !failingLanes.containsKey(retry.lane());
      if (!inOrder) {
        askAt(now);
      } else if (!inHand.has(retry.offset())) {
        Task task = task(hold, retry);
        task.attempt = retry.attempts() + 1;
        task.laneHash = retry.lane();
        waitingLanes.remove(retry.lane());
        inHand.add(task);
        came.add(task);
      }
    }
    return came;
  }

  private static Task task(OwnedShard hold, RetryAnswer.Retry retry) {
    byte[] copy = retry.copy();
    try {
      return new Task(hold, retry.offset(), MessageCodec.decode(copy), copy.length, true);
    } catch (RefusedException e) {
      return Task.unreadable(hold, retry.offset(), copy, copy.length, true, e);
    }
  }

  private void learn(RetryAnswer.Known of, long now) {
    known = true;
    marks = new HashSet<>(of.marks());
    of.held()
        .forEach(
            each -> held.put(each.offset(), new Held(each.attempts(), now + each.dueInMillis())));
    marks.forEach(mark -> lastMark = Math.max(lastMark, mark));
    for (RetryAnswer.Lane lane : of.lanes()) {
      lanes.put(lane.lane(), lane.messages());
      firsts.put(lane.lane(), lane.firstOffset());
      waitingLanes.add(lane.lane());
    }
  }

  /** All that is not running is forgotten; returns the retries that were in hand and not begun. */
  List<Task> clear() {
    outbox.clear();
    stuck.clear();
    asked = null;
    return inHand.dropNotStarted();
  }
}
