package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * A shard that this consumer holds at one epoch: its window, its messages, and where it stands. The
 * transitions are in {@link ShardLifecycle}.
 */
public final class OwnedShard {
  /**
   * Most offsets between the lowest unfinished one and the highest one handed out. A shard whose
   * oldest message fails again and again waits there, visibly.
   */
  static final int SPAN_MESSAGES_MAX = 65_536;

  public final String topic;
  public final Shard shard;
  final long epoch;

  /** An earlier hold of the same shard, some of whose handlers may still run; or null. */
  OwnedShard predecessor;

  OwnedShardState state = OwnedShardState.ATTACHING;

  /** The shard shall be let go. */
  boolean draining;

  /** A request or callback that this state awaits is under way. */
  boolean busy;

  /** No sooner is the state's next request or callback tried, in monotonic milliseconds. */
  long retryMillis;

  /** Failures in a row of the same callback or of the shard's data. */
  int failures;

  /** Where the last unreadable batch lies, or -1. */
  long corruptOffset = -1;

  /** The last problem reported, so that each is reported once. */
  String reported;

  /** The committed offset that the grant found, or -1 if the lease must be read for it. */
  long grantedCommitted = -1;

  byte[] givenState;

  /** Where the empty state stands that this hold began with, if the log has none yet; else -1. */
  long markOffset = -1;

  boolean assignCalled;
  boolean assigned;

  /** The fetch whose answer is awaited, or null. */
  FetchRequest fetch;

  long fetchAskedMillis;

  /** Nobody knows what became of the last fetch. */
  boolean fetchLost;

  long fetchRetryMillis;
  long fetchOffset;

  /** The log's next offset by the last fetch, or -1. */
  long logEnd = -1;

  /** What handlers publish; null: they cannot. */
  PublishQueue outputs;

  /** Where to begin, once the producer of what handlers publish is open. */
  long beginOffset;

  /** The handler's last state, and the offset that it stands for; -1: none. */
  byte[] keptState;

  long keptOffset = -1;

  /** The state's offset in the last commit sent, and in the last one that the log took. */
  long keptSent = -1;

  long keptTaken = -1;

  /** Messages below may be started: what is above is not committed yet, with at most once. */
  long claimed = Long.MAX_VALUE;

  /** What was asked to be committed so that it may be started: until told, it may be, or not. */
  long claimAsked;

  boolean commitInFlight;
  long commitRetryMillis;

  /** Requests that tell of failures and whose answers have not come. */
  int recordsInFlight;

  final InDoubtWrites doubt = new InDoubtWrites();

  long committed;
  long lastCommitMillis;

  /** A handler has said that it will not handle a message of this shard any more. */
  boolean givenBack;

  /** It is let go of while messages wait for their rate. */
  boolean waitsForRate;

  boolean releaseAsked;
  boolean releaseReady;

  /** The log has said that the release was taken: this epoch is over for good. */
  boolean releaseTaken;

  boolean releaseSent;
  int releaseTries;
  byte[] releaseState;

  /** The handler could not give its state, or that would not stand for the released offset. */
  boolean stateMissing;

  /** The lease's committed offset when it was read; it never goes back. */
  long leaseCommitted;

  /** Of the lease, if it was read; else -1. */
  long generation = -1;

  /** One more than the highest offset given to a handler; -1 before anything may be. */
  long begunOffset = -1;

  /** When its first fetch was sent, or -1. */
  long firstFetchMillis = -1;

  /** When a handler of it ended last, or -1. */
  long lastEndedMillis = -1;

  /** When a handler of it ended well last, or -1. */
  long lastFinishedMillis = -1;

  /** Since when something is in hand and nothing is finished, or -1; for heartbeats. */
  long stalledSinceMillis = -1;

  /** Since when nothing of it is started any more, or -1. */
  long stoppedMillis = -1;

  Window window;
  boolean inReady;

  /** One more than the highest offset that was {@link #givenUp}, or 0. */
  private long givenUpTop;

  /** Handlers that have not ended, of retries too. */
  int running;

  /** Of retries. */
  int retriesRunning;

  long pendingMessages;
  long pendingBytes;

  final ShardRetries retries = new ShardRetries();

  /** Whether messages keep the order of their key behind those that the log has. */
  boolean ordersKeys;

  private final int handOutMax;
  private final Backlog backlog = new Backlog();

  /** Failed messages whose next try is due, by offset. */
  private final PriorityQueue<Task> again =
      new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

  private final List<Task> waiting = new ArrayList<>();

  /** Retries that were given back while messages were decoded. */
  private final List<Task> goneBack = new ArrayList<>();

  /** Taken by a {@link DedupGate}, and not begun yet. */
  private final Set<Task> held = new LinkedHashSet<>();

  /** Messages that may be held besides those handed out; 0: they count among these. */
  int heldMax;

  private final Drops drops;
  private final OrderQueue.Source source = this::decode;
  private final OrderQueue lanes;
  private long runningBytes;
  private long passedMessages;
  private long passedBytes;

  /** What a gate should know of held messages; one for all shards of a consumer. */
  static final class Drops {
    /** How often some were dropped. */
    int count;

    /** Those behind which others have come to wait. */
    final ArrayDeque<Task> crowded = new ArrayDeque<>();
  }

  OwnedShard(String topic, Shard shard, long epoch, ConsumerOptions.Order order, int handOutMax) {
    this(topic, shard, epoch, order, handOutMax, new Drops());
  }

  OwnedShard(
      String topic,
      Shard shard,
      long epoch,
      ConsumerOptions.Order order,
      int handOutMax,
      Drops drops) {
    this.drops = drops;
    this.topic = topic;
    this.shard = shard;
    this.epoch = epoch;
    this.handOutMax = handOutMax;
    lanes = OrderQueue.of(order, drops.crowded::add);
  }

  void begin(long offset) {
    window = new Window(offset);
    begunOffset = offset;
    committed = offset;
    fetchOffset = offset;
  }

  /** With at most once: nothing may be started before it is committed. */
  void claims() {
    claimed = window.committed();
    claimAsked = claimed;
  }

  boolean atMostOnce() {
    return claimed != Long.MAX_VALUE;
  }

  /**
   * With at most once: messages that are committed, or may be, and are not handled, those that run
   * among them.
   */
  long claimedLeft() {
    return atMostOnce() ? Math.max(0, Math.min(claimAsked, fetchOffset) - window.committed()) : 0;
  }

  ShardContext context(String member) {
    long offset = window == null ? -1 : window.committed();
    return new ShardContext(topic, shard.shard(), epoch, member, offset, generation);
  }

  /** Whether the log may still take something of it: then its lease is about to change. */
  boolean writes() {
    return commitInFlight || recordsInFlight > 0;
  }

  /** Whether nothing of it runs any more. */
  boolean quiet() {
    return running == 0 && !busy;
  }

  /** Adds a batch and returns how many of its messages are wanted. */
  long add(FetchAnswer.Placed placed) {
    long from = Math.max(placed.baseOffset(), fetchOffset);
    long messages = placed.endOffset() - from;
    backlog.add(placed, from);
    fetchOffset = placed.endOffset();
    pendingMessages += messages;
    pendingBytes += messages * Backlog.share(placed);
    return messages;
  }

  /** The next message to run, or null. */
  Task next(long nowMillis) {
    Task task = take(nowMillis);
    if (task != null) {
      begun(task);
    }
    return task;
  }

  /** As {@link #next} for one that may not begin yet: to be begun or declined if it still is. */
  Task nextHeld(long nowMillis) {
    Task task = take(nowMillis);
    if (task != null) {
      held.add(task);
    }
    return task;
  }

  private Task take(long nowMillis) {
    boolean open =
        state == OwnedShardState.RUNNING || state == OwnedShardState.DRAINING && !givenBack;
    if (!open || !retries.known()) {
      return null;
    }
    Task task =
        state == OwnedShardState.RUNNING ? retries.nextRetry(ordersKeys, window.committed()) : null;
    return task != null ? task : nextOfWindow(nowMillis);
  }

  private Task nextOfWindow(long nowMillis) {
    while (!isFull()) {
      Task task = again.poll();
      if (task != null) {
        return task;
      }
      task =
          retries.outbox.isFull() || window.span() >= SPAN_MESSAGES_MAX ? null : lanes.next(source);
      if (task == null) {
        return null;
      }
      if (ordersKeys && retries.isBehind(task)) {
        begunOffset = Math.max(begunOffset, task.offset + 1);
        lanes.finished(task);
        task.lane = null;
        goneBack.addAll(retries.park(task));
      } else if (retries.mustWait(task, nowMillis)) {
        begunOffset = Math.max(begunOffset, task.offset + 1);
        await(task);
      } else {
        return task;
      }
    }
    return null;
  }

  /** Whether no more may be handed out or held now. */
  private boolean isFull() {
    int handedOut = running - retriesRunning + waiting.size() + retries.outbox.failedOfWindow();
    return heldMax == 0
        ? handedOut + held.size() >= handOutMax
        : handedOut >= handOutMax || holdsMost();
  }

  /** Whether no more may be held, apart from those handed out. */
  boolean holdsMost() {
    return heldMax > 0 && held.size() >= heldMax;
  }

  /**
   * Whether nothing more of it may begin before one that is held has: no more may be held, or
   * committed before it begins, or published after it.
   */
  boolean waitsForHeld() {
    if (held.isEmpty()) {
      return false;
    }
    boolean claimsMost =
        claimed - window.committed() >= handOutMax && backlog.nextOffset() >= claimed;
    return holdsMost() || claimsMost || outputs != null && isFull();
  }

  /** Messages that wait behind one that is held, in its lane. */
  Iterator<Task> behind(Task front) {
    return lanes.behind(front);
  }

  /** Takes some of those out of the lane, each to be {@link #declined}. */
  void takeBehind(Task front, Set<Task> some) {
    lanes.takeBehind(front, some);
  }

  private void begun(Task task) {
    running++;
    if (task.retry) {
      retriesRunning++;
    } else {
      begunOffset = Math.max(begunOffset, task.offset + 1);
      runningBytes += task.bytes;
    }
  }

  /** Whether {@code task} is held and wanted. */
  boolean holds(Task task) {
    return held.contains(task);
  }

  /** A held one is given to its handler. */
  void begin(Task task) {
    held.remove(task);
    begun(task);
  }

  /** A held one is finished without its handler. */
  void declined(Task task, long nowMillis) {
    held.remove(task);
    lastFinishedMillis = nowMillis;
    if (!task.retry) {
      begunOffset = Math.max(begunOffset, task.offset + 1);
      done(task);
    }
  }

  /** Held retries go back to the log, with those behind them. */
  private void giveBackHeld() {
    for (Task task : List.copyOf(held)) {
      if (task.retry) {
        held.remove(task);
        drops.count++;
        goneBack.add(task);
        goneBack.addAll(retries.inHand.failed(task));
        retries.inHand.gone(task.offset);
      }
    }
  }

  private Task decode() {
    while (window.span() < SPAN_MESSAGES_MAX && backlog.nextOffset() < claimed) {
      Task task = backlog.next(this);
      if (task == null) {
        return null;
      }
      if (!window.isFinished(task.offset)) {
        window.handOut(task.offset);
        if (!retries.hasLeft(task.offset)) {
          return task;
        }
        window.leave(task.offset);
      }
      passedMessages++;
      passedBytes += task.bytes;
    }
    return null;
  }

  void finished(Task task, long nowMillis) {
    lastFinishedMillis = nowMillis;
    ended(task, nowMillis);
    if (state.over() || task.retry) {
      return;
    }
    done(task);
  }

  private void done(Task task) {
    window.finish(task.offset);
    if (task.effects != null && task.effects.state() != null) {
      keptState = task.effects.state();
      keptOffset = task.offset + 1;
    }
    freed(task);
  }

  /** A message that ran, or is parked, leaves the window: the log knows what has become of it. */
  void left(Task task) {
    window.leave(task.offset);
    freed(task);
  }

  private void freed(Task task) {
    lanes.finished(task);
    pendingMessages--;
    pendingBytes -= task.bytes;
    retries.stuck.ended(task);
    unstick(task.laneHash);
  }

  /** Lets the next message begin that found no room in the log, if it may. */
  void unstick(long lane) {
    Task next = retries.unstuck(lane);
    if (next != null) {
      again.add(next);
    }
  }

  /** A handler of it has ended, well or not. */
  void ended(Task task, long nowMillis) {
    lastEndedMillis = nowMillis;
    running--;
    if (task.retry) {
      retriesRunning--;
    } else {
      runningBytes -= task.bytes;
    }
  }

  /** What a handled message publishes is left to the next owner, for whom it comes again. */
  void givenUp(Task task, long nowMillis) {
    ended(task, nowMillis);
    givenUpTop = Math.max(givenUpTop, task.offset + 1);
  }

  /** One more than the highest offset whose handler has ended well. */
  long handledTop() {
    return Math.max(window.top(), givenUpTop);
  }

  /** Keeps a failed message, and its lane, for another try. */
  void await(Task task) {
    waiting.add(task);
  }

  /** Makes those startable whose next try is due. Returns whether there are any. */
  boolean wake(long nowMillis) {
    if (waiting.isEmpty()) {
      return false;
    }
    Iterator<Task> each = waiting.iterator();
    while (each.hasNext()) {
      Task task = each.next();
      if (task.dueMillis <= nowMillis) {
        each.remove();
        again.add(task);
      }
    }
    return !again.isEmpty();
  }

  /** Takes what was passed over since the last call out of the books; see {@link Dropped}. */
  Dropped passed() {
    if (!goneBack.isEmpty()) {
      return Dropped.NONE.and(takeGoneBack());
    }
    if (passedMessages == 0) {
      return Dropped.NONE;
    }
    Dropped passed = new Dropped(passedMessages, passedBytes);
    pendingMessages -= passedMessages;
    pendingBytes -= passedBytes;
    passedMessages = 0;
    passedBytes = 0;
    return passed;
  }

  private List<Task> takeGoneBack() {
    List<Task> tasks = List.copyOf(goneBack);
    goneBack.clear();
    return tasks;
  }

  /**
   * Drops what was not begun and lies above all that was: what is left are the messages that run,
   * and those below the highest that runs or is finished. With them done the window has no holes,
   * and nothing comes twice.
   */
  Dropped keepBegun(long nowMillis) {
    giveBackHeld();
    if (atMostOnce()) {
      // What is committed is handled before the shard goes; nothing else is decoded.
      fetch = null;
      return Dropped.NONE.and(retries.inHand.dropNotStarted()).and(takeGoneBack());
    }
    long from = begunEnd();
    backlog.clear();
    lanes.dropFrom(from);
    retries.stuck.removeIf(task -> task.offset >= from);
    waiting.removeIf(task -> task.offset >= from && dropFailed(task));
    again.removeIf(task -> task.offset >= from && dropFailed(task));
    if (held.removeIf(task -> task.offset >= from && dropFailed(task))) {
      drops.count++;
    }
    waiting.forEach(task -> task.dueMillis = Math.min(task.dueMillis, nowMillis));
    passedMessages = 0;
    passedBytes = 0;
    // What a fetch under way brings is not wanted any more.
    fetch = null;
    fetchOffset = from;
    List<Task> kept = notRunning();
    kept.addAll(retries.outbox.ofWindow());
    long messages = running - retriesRunning + kept.size();
    long bytes = runningBytes + kept.stream().mapToLong(task -> task.bytes).sum();
    Dropped dropped = new Dropped(pendingMessages - messages, pendingBytes - bytes);
    pendingMessages = messages;
    pendingBytes = bytes;
    return dropped.and(retries.inHand.dropNotStarted()).and(takeGoneBack());
  }

  /** All behind it in its lane is dropped already. */
  private boolean dropFailed(Task task) {
    lanes.finished(task);
    retries.stuck.ended(task);
    return true;
  }

  /** Messages that were decoded and neither run nor are finished. */
  private List<Task> notRunning() {
    List<Task> tasks = new ArrayList<>(waiting);
    tasks.addAll(again);
    tasks.addAll(held);
    lanes.forEachParked(tasks::add);
    retries.stuck.forEach(tasks::add);
    return tasks;
  }

  /** One more than the highest offset that runs or is finished. */
  private long begunEnd() {
    Set<Long> idle = new HashSet<>();
    notRunning().forEach(task -> idle.add(task.offset));
    // After a hand-over that was called off, what it dropped has not been fetched again yet.
    long undecoded = backlog.nextOffset() < 0 ? fetchOffset : backlog.nextOffset();
    long end = Math.min(begunOffset, undecoded);
    while (end > window.committed() && idle.contains(end - 1)) {
      end--;
    }
    return Math.max(end, window.committed());
  }

  /**
   * Whether a message of it may be started before the hand-over ends. With at most once that may be
   * what a commit names that is on its way, or of which nobody knows whether it was taken: it would
   * be handled by nobody else.
   */
  boolean mayClose() {
    return !givenBack && (!window.whole() || claimedLeft() > 0);
  }

  /** Drops everything that was not started or waits for another try, unfinished. */
  Dropped dropNotStarted() {
    backlog.clear();
    lanes.clear();
    again.clear();
    waiting.clear();
    giveBackHeld();
    if (!held.isEmpty()) {
      held.clear();
      drops.count++;
    }
    passedMessages = 0;
    passedBytes = 0;
    long messages = running - retriesRunning;
    Dropped dropped = new Dropped(pendingMessages - messages, pendingBytes - runningBytes);
    pendingMessages = messages;
    pendingBytes = runningBytes;
    // What a fetch under way brings is not wanted any more.
    fetch = null;
    return dropped.and(retries.clear()).and(takeGoneBack());
  }

  /** Where the next message to be decoded lies, else the next to be fetched. */
  long nextOffset() {
    long next = backlog.nextOffset();
    return next < 0 ? fetchOffset : next;
  }

  /** Drops what was not decoded, to be fetched again from the first of it. */
  Dropped dropBacklog() {
    fetchOffset = nextOffset();
    Dropped dropped = backlog.clear();
    pendingMessages -= dropped.messages();
    pendingBytes -= dropped.bytes();
    // What a fetch under way brings is not wanted any more.
    fetch = null;
    return dropped;
  }

  /**
   * Messages that left the books without being handled.
   *
   * @param bytes their share of their batches
   */
  record Dropped(long messages, long bytes) {
    static final Dropped NONE = new Dropped(0, 0);

    Dropped and(List<Task> tasks) {
      long more = tasks.stream().mapToLong(task -> task.bytes).sum();
      return tasks.isEmpty() ? this : new Dropped(messages + tasks.size(), bytes + more);
    }
  }

  @Override
  public String toString() {
    return topic + "/" + shard.shard() + "@" + epoch;
  }
}
