package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchMessages;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What an owned shard knows of failures: which messages have left the window, which keys have
 * messages in the log, which retries are in hand, and which outcomes the log must record. Times are
 * monotonic milliseconds.
 */
final class ShardRetries {
  /** Most retries in hand, if the limit of pending messages is not lower. */
  static final int IN_HAND_MAX = 256;

  /** Shortest time between two requests for retries that fetches hint at. */
  private static final long HINT_GAP_MILLIS = 1_000;

  private static final long NEVER = Long.MAX_VALUE;

  private record Failed(int attempts, long dueMillis) {}

  /** Messages of a key, and the lowest offset so far. */
  private record InLog(int messages, long firstOffset) {
    InLog and(InLog more) {
      return new InLog(messages + more.messages, Math.min(firstOffset, more.firstOffset));
    }
  }

  final OutcomeQueue outbox;
  private final Task.Owner owner;
  private final int inHandMax;
  final RetriesInHand inHand = new RetriesInHand();
  private final EarlyRetries early = new EarlyRetries();
  final StuckQueues stuck = new StuckQueues();

  /** Whether a message waits behind others of its key that the log has. */
  final boolean ordersKeys;

  /** Whether the failures of former owners are known. No message is handed out before. */
  private boolean known;

  private boolean mustAskFirst;
  private Set<Long> leftOffsets = Set.of();
  private final Map<Long, Failed> failed = new HashMap<>();

  /** The highest offset that left the window under a former owner, or -1. */
  private long lastLeftOffset = -1;

  /** The messages of each key that the log has, or that are being sent there. */
  private final Map<Long, InLog> keys = new HashMap<>();

  /** Keys whose first message in the log waits for its time. */
  private final Set<Long> waitingKeys = new HashSet<>();

  /** How many failed retries of each key are not recorded yet. */
  private final Map<Long, Integer> failingKeys = new HashMap<>();

  /** How many failures the log has, according to the last fetch. */
  private int failuresInLog;

  private RetryRequest asked;
  private long nextAskMillis = NEVER;
  private long lastAskedMillis = -HINT_GAP_MILLIS;
  private long notBeforeMillis = Long.MIN_VALUE;
  private long failuresSeen;
  private long failuresWhenAsked;

  /**
   * @param ordersKeys whether messages keep the order of their key behind those that the log has
   * @param pendingMax most pending messages of the consumer
   */
  ShardRetries(Task.Owner owner, boolean ordersKeys, int pendingMax) {
    this.owner = owner;
    inHandMax = Math.max(2, Math.min(IN_HAND_MAX, pendingMax));
    this.ordersKeys = ordersKeys;
    outbox = new OutcomeQueue(owner.ownership());
  }

  /** Whether messages may be handed out. */
  boolean known() {
    return known;
  }

  /** Whether nothing is in hand, and the log has all that it must know. */
  boolean isIdle() {
    return known && inHand.size() == 0 && early.isEmpty() && outbox.isEmpty();
  }

  /**
   * A fetch says how many failures the log has.
   *
   * @param early it was answered before its time, and not because of a message
   */
  void hinted(int failures, boolean early, long now) {
    // The number may have fallen without an answer that said so, and risen again.
    boolean added = early && failures > 0 || failures > failuresInLog;
    failuresInLog = failures;
    if (!known) {
      if (failures == 0) {
        known = true;
      } else {
        mustAskFirst = true;
      }
    } else if (added || failures > 0 && expectsNone()) {
      // Somebody may have replayed dead letters, which are due at once.
      askAt(Math.max(now, lastAskedMillis + HINT_GAP_MILLIS));
    }
  }

  /**
   * A fetch was cut short, or waited in vain together with others: it says nothing of failures.
   *
   * @param gapMillis shortest time since the last request for retries
   */
  void notHinted(long gapMillis, long now) {
    if (known && failuresInLog > 0 && expectsNone() && now - lastAskedMillis >= gapMillis) {
      askAt(now);
    }
  }

  /** Whether no retry is in hand, and none will be asked for. */
  private boolean expectsNone() {
    return nextAskMillis == NEVER && inHand.size() == 0 && outbox.isEmpty();
  }

  // ---- The window

  /** Whether the message has left the window under a former owner. */
  boolean hasLeft(long offset) {
    return !leftOffsets.isEmpty() && leftOffsets.contains(offset);
  }

  /** Whether the log has counted attempts of a message of the window under a former owner. */
  boolean hasFailed(long offset) {
    return !failed.isEmpty() && failed.containsKey(offset);
  }

  /** A message of the window is fetched again later: its attempts go on then. */
  void remember(Task task) {
    if (task.attempt > 1) {
      failed.put(task.offset, new Failed(task.attempt - 1, task.dueMillis));
    }
  }

  /**
   * Sets the attempts of a message that the log has counted. Returns whether its next attempt is
   * not due yet.
   */
  boolean mustWait(Task task, long now) {
    Failed known = failed.isEmpty() ? null : failed.remove(task.offset);
    if (known == null) {
      return false;
    }
    task.attempt = known.attempts() + 1;
    task.dueMillis = known.dueMillis();
    return task.dueMillis > now;
  }

  /** Whether the message must wait behind others of its key that are in the log. */
  boolean isBehind(Task task) {
    if (!ordersKeys || keys.isEmpty() && stuck.isEmpty() || !task.message.hasKey()) {
      return false;
    }
    task.keyHash = Task.hash(task.message.key());
    // A message that a former owner had handled may lie below those that it moved, and comes again.
    InLog known = keys.get(task.keyHash);
    return known != null && task.offset > known.firstOffset || stuck.has(task.keyHash);
  }

  /**
   * Whether a retry may start. A message that a former owner moved must not overtake messages of
   * its key that this owner had handled and that come again: it waits for the window.
   *
   * @param committed everything below is done
   */
  private boolean mayStart(long offset, long committed) {
    return !ordersKeys
        || committed > lastLeftOffset
        || offset <= committed
        || !leftOffsets.contains(offset);
  }

  /**
   * Parks a message behind others of its key. Returns the retries that must go back to come behind
   * it.
   */
  List<Task> park(Task task) {
    if (stuck.has(task.keyHash)) {
      stuck.add(task);
      return List.of();
    }
    List<Task> back = more(task);
    outbox.add(task, new Outcome.Parked(task.offset, task.keyHash, null));
    return back;
  }

  /** The log has no room for a message: it waits in the window. */
  void noRoom(Task task) {
    fewer(task.keyHash);
    stuck.add(task);
  }

  /**
   * The log gets one more message of its key. Returns the retries that must go back to come behind
   * it.
   */
  List<Task> more(Task task) {
    if (task.keyHash == Outcome.NO_KEY) {
      return List.of();
    }
    keys.merge(task.keyHash, new InLog(1, task.offset), InLog::and);
    if (task.offset > lastLeftOffset) {
      return List.of();
    }
    failuresSeen++;
    return inHand.giveBackAbove(task.keyHash, task.offset);
  }

  private void fewer(long key) {
    if (key != Outcome.NO_KEY) {
      keys.computeIfPresent(
          key, (any, in) -> in.messages == 1 ? null : new InLog(in.messages - 1, in.firstOffset));
    }
  }

  /** The next stuck message of a key if it may begin now, or null. */
  Task unstuck(long key) {
    return stuck.isEmpty() || keys.containsKey(key) ? null : stuck.next(key);
  }

  /**
   * The log has moved a message out of the window, where it waits for {@code delayMillis} at least.
   */
  void moved(long key, long delayMillis, long now) {
    if (key != Outcome.NO_KEY) {
      waitingKeys.add(key);
    }
    askAt(now + delayMillis);
  }

  /** The log has parked a message. */
  void parked(long key, long now) {
    if (!waitingKeys.contains(key) && !inHand.hasKey(key)) {
      askAt(now);
    }
  }

  // ---- Retries

  /**
   * A retry that has not begun goes back to the log. Returns those behind it, which go back, too.
   */
  List<Task> goBack(Task task) {
    List<Task> behind = inHand.failed(task);
    inHand.gone(task.offset);
    return behind;
  }

  /** A retry failed; returns those behind it, which go back. */
  List<Task> retryFailed(Task task) {
    failuresSeen++;
    failingKeys.merge(task.keyHash, 1, Integer::sum);
    return inHand.failed(task);
  }

  /** The log has recorded the failure of a retry. */
  void retryFailureTaken(Task task) {
    // An answer to an earlier request may contain those behind it.
    failuresSeen++;
    failingKeys.computeIfPresent(
        task.keyHash, (any, count) -> count == 1 ? null : (Integer) (count - 1));
    inHand.gone(task.offset);
  }

  /** A retry is over: settled, or a dead letter. */
  void retryOver(Task task, long now) {
    inHand.gone(task.offset);
    fewer(task.keyHash);
    if (keys.containsKey(task.keyHash) && !inHand.hasKey(task.keyHash)) {
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

  /**
   * The next request for retries, or null if none is due.
   *
   * @param committed everything below is done
   */
  RetryRequest ask(String group, int bytesMax, long committed, long now) {
    if (asked != null) {
      // Its answer leaves out the early retries. If they were let go now, later ones of their keys
      // would come without them.
      return null;
    }
    if (early.take(offset -> mayStart(offset, committed))) {
      askAt(now);
    }
    boolean first = !known && mustAskFirst;
    boolean due = known && now >= nextAskMillis && inHand.size() < inHandMax / 2;
    if (now < notBeforeMillis || !first && !due) {
      return null;
    }
    failuresWhenAsked = failuresSeen;
    lastAskedMillis = now;
    nextAskMillis = NEVER;
    asked =
        new RetryRequest(
            group,
            owner.ownership().shard(),
            owner.ownership().epoch(),
            first,
            Stream.concat(inHand.offsets().stream(), early.offsets()).toList(),
            inHandMax - inHand.size(),
            bytesMax);
    return asked;
  }

  /** The request was refused, or its answer is no longer awaited. */
  boolean askFailed(RetryRequest request, long againMillis) {
    if (asked != request) {
      return false;
    }
    asked = null;
    askAt(againMillis);
    notBeforeMillis = againMillis;
    return true;
  }

  /**
   * A handover was called off: what it gave back comes again, and answers to former requests do not
   * count.
   */
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

  /**
   * Takes an answer. Returns the retries that are now in hand.
   *
   * @param unpacked the messages of retries without a copy
   * @param committed everything below is done
   */
  List<Task> answered(
      RetryRequest request, RetryAnswer answer, BatchMessages unpacked, long committed, long now) {
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
          retry.keyHash() == Outcome.NO_KEY
              || failuresSeen == failuresWhenAsked && !failingKeys.containsKey(retry.keyHash());
      if (!inOrder) {
        askAt(now);
      } else if (!mayStart(retry.offset(), committed) || early.isBehind(retry)) {
        early.add(retry);
      } else if (!inHand.has(retry.offset())) {
        Task task = task(retry, unpacked);
        task.attempt = retry.attempts() + 1;
        task.keyHash = retry.keyHash();
        waitingKeys.remove(retry.keyHash());
        inHand.add(task);
        came.add(task);
      }
    }
    return came;
  }

  private Task task(RetryAnswer.Retry retry, BatchMessages unpacked) {
    long offset = retry.offset();
    byte[] copy = retry.copy();
    try {
      if (copy != null) {
        return new Task(owner, offset, MessageCodec.decode(copy), copy.length, true);
      }
      RefusedException fault = unpacked.fault(offset);
      if (fault != null) {
        throw fault;
      }
      // It may be in hand for long.
      Message message = unpacked.at(offset).detach();
      return new Task(owner, offset, message, BatchBuilder.sizeOf(message), true);
    } catch (RefusedException e) {
      return Task.unreadableRetry(owner, offset, copy == null ? 0 : copy.length, e);
    }
  }

  private void learn(RetryAnswer.Known of, long now) {
    known = true;
    leftOffsets = new HashSet<>(of.marks());
    of.held()
        .forEach(
            each ->
                failed.put(each.offset(), new Failed(each.attempts(), now + each.dueInMillis())));
    leftOffsets.forEach(offset -> lastLeftOffset = Math.max(lastLeftOffset, offset));
    for (RetryAnswer.KeyQueue queue : of.queues()) {
      keys.put(queue.keyHash(), new InLog(queue.messages(), queue.firstOffset()));
      waitingKeys.add(queue.keyHash());
    }
  }

  /** Forgets everything that does not run. Returns the retries in hand that have not begun. */
  List<Task> clear() {
    outbox.clear();
    stuck.clear();
    asked = null;
    return inHand.dropNotStarted();
  }
}
