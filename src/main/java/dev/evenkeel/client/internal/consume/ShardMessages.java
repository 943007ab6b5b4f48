package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The messages of one owned shard, from the batch that brought them to their end. At any time a
 * message of the window is in one place:
 *
 * <pre>
 * backlog      fetched, not decoded
 * queues       decoded, behind another one of its key
 * retries      its outcome is under way to the log, or it waits for room there
 * delayed      failed, its next attempt is not due
 * due          failed, its next attempt may begin; or it waits to be handed out alone
 * inAdmission  taken by an {@link Admission} step
 * (running)    with its handler
 * </pre>
 */
final class ShardMessages {
  /**
   * Most offsets between the lowest unfinished one and the highest one handed out. A shard whose
   * oldest message fails again and again waits there.
   */
  static final int SPAN_MESSAGES_MAX = 65_536;

  private final Task.Owner owner;
  private final Environment environment;
  private final ShardRetries retries;
  private final ShardCare care;
  private final int handOutMax;

  private final Backlog backlog = new Backlog();
  private final OrderQueue queues;
  private final Supplier<Task> decode = this::decode;

  /**
   * Failed messages whose next attempt is due, and one that waits to be handed out alone, by
   * offset.
   */
  private final PriorityQueue<Task> due =
      new PriorityQueue<>((a, b) -> Long.compare(a.offset, b.offset));

  private final List<Task> delayed = new ArrayList<>();
  private final Set<Task> inAdmission = new LinkedHashSet<>();

  /** Retries that were given back while messages were decoded, and still count as pending. */
  private final List<Task> goneBack = new ArrayList<>();

  /** Null before {@link #begin}. */
  private Window window;

  /** Messages below may start. With at most once, messages above are not committed yet. */
  private long startable = Long.MAX_VALUE;

  private long fetchOffset;

  /** The log has nothing from the end of the backlog up to here; 0: it may have. */
  private long skippedTo;

  /** One more than the highest offset given to a handler; -1 before anything may be. */
  private long begunOffset = -1;

  /** One more than the highest offset that was {@link #givenUp}, or 0. */
  private long givenUpTop;

  /** A handler has given a message of this shard back. */
  private boolean givenBack;

  /** Handlers that have not ended, of retries too. */
  private int running;

  // Of all handlers so far: how long they ran, as looked at with each tick, and what they handled.
  private long busyMillis;
  private long handledBytes;
  private long lookedMillis = -1;

  private int retriesRunning;
  private long runningBytes;
  private long pendingMessages;
  private long pendingBytes;

  /** Messages that were decoded and not wanted, and still count as pending. */
  private long passedMessages;

  private long passedBytes;

  /** How many of the pending messages are in the backlog. */
  private long packedMessages;

  /** The limit of pending messages keeps the backlog from being unpacked. */
  private boolean heldBack;

  /** When a handler last ended; -1: never. */
  private long lastEndedMillis = -1;

  private long lastFinishedMillis = -1;

  ShardMessages(Task.Owner owner, Environment environment, ShardRetries retries, ShardCare care) {
    this.care = care;
    this.owner = owner;
    this.environment = environment;
    this.retries = retries;
    ConsumerOptions options = environment.options;
    handOutMax =
        environment.handler.batches()
            ? Math.max(options.getHandOutMessages(), options.getBatchMessages())
            : options.getHandOutMessages();
    queues = new OrderQueue(options.getOrder(), environment.crowded::add);
  }

  void begin(long offset) {
    window = new Window(offset);
    begunOffset = offset;
    fetchOffset = offset;
    if (environment.atMostOnce) {
      startable = offset;
    }
  }

  /** Null before {@link #begin}. */
  Window window() {
    return window;
  }

  /** Whether messages are handed out one by one, because owners died. */
  boolean isCareful() {
    return window != null && care.applies();
  }

  long begunOffset() {
    return begunOffset;
  }

  long fetchOffset() {
    return fetchOffset;
  }

  long startable() {
    return startable;
  }

  /** With at most once: messages below are committed, so they may be started. */
  void startableTo(long offset) {
    if (environment.atMostOnce) {
      startable = Math.max(startable, offset);
    }
  }

  int running() {
    return running;
  }

  /** To be called with each tick: counts the time of those that run. */
  void look(long now) {
    busyMillis += lookedMillis < 0 ? 0 : running * (now - lookedMillis);
    lookedMillis = now;
  }

  /** How long handlers have run, all together. */
  long busyMillis() {
    return busyMillis;
  }

  /** Bytes of the messages whose handlers have ended. */
  long handledBytes() {
    return handledBytes;
  }

  int retriesRunning() {
    return retriesRunning;
  }

  long pending() {
    return pendingMessages;
  }

  long lastEndedMillis() {
    return lastEndedMillis;
  }

  long lastFinishedMillis() {
    return lastFinishedMillis;
  }

  boolean givenBack() {
    return givenBack;
  }

  void givenBack(boolean on) {
    givenBack = on;
  }

  /** One more than the highest offset whose handler has ended well. */
  long handledTop() {
    return Math.max(window.top(), givenUpTop);
  }

  // ---- Messages come

  /** Adds a batch. */
  void add(FetchAnswer.Placed placed) {
    long from = Math.max(placed.baseOffset(), fetchOffset);
    long messages = placed.endOffset() - from;
    long bytes = messages * Backlog.share(placed);
    gone(from);
    backlog.add(placed, from);
    fetchOffset = placed.endOffset();
    pendingMessages += messages;
    pendingBytes += bytes;
    environment.flow.added(messages, bytes);
    packed(messages);
  }

  /**
   * The log has nothing between the last message that was fetched and {@code offset}: fetching goes
   * on there.
   */
  void skipTo(long offset) {
    gone(offset);
    fetchOffset = offset;
    skippedTo = offset;
    passSkipped();
  }

  /** Passes over what lies before the next message of the backlog, and is not there. */
  void passAbsent() {
    window.skipTo(backlog.nextOffset());
  }

  /**
   * The log has nothing below {@code offset} any more that was not fetched. What was handed out of
   * it before, and dropped before it began, does not come again.
   */
  private void gone(long offset) {
    for (long each = fetchOffset; each < Math.min(offset, window.next()); each++) {
      window.leave(each);
    }
  }

  /** So that what was skipped is committed even if no message comes behind it. */
  private void passSkipped() {
    if (skippedTo > 0 && backlog.nextOffset() < 0) {
      window.skipTo(skippedTo);
      skippedTo = 0;
    }
  }

  private void packed(long more) {
    packedMessages += more;
    environment.flow.packed += more;
  }

  /** Whether messages wait to be unpacked until others have ended, perhaps of other shards. */
  boolean isHeldBack() {
    return heldBack;
  }

  /**
   * Beside the limit, each shard may unpack what it may hand out: shards whose messages do not end
   * do not stop others.
   */
  private boolean mayUnpack() {
    heldBack =
        packedMessages > 0
            && pendingMessages - packedMessages - passedMessages >= handOutMax
            && !environment.flow.mayUnpack(passedMessages);
    return !heldBack;
  }

  private Task decode() {
    while (window.span() < SPAN_MESSAGES_MAX
        && (startable == Long.MAX_VALUE || backlog.nextOffset() < startable)
        && mayUnpack()) {
      Task task = backlog.next(owner);
      if (task == null) {
        return null;
      }
      packed(-1);
      boolean finished = window.isFinished(task.offset);
      if (!finished) {
        window.handOut(task.offset);
      }
      passSkipped();
      boolean left = !finished && retries.hasLeft(task.offset);
      if (!finished && !left && environment.wants(task)) {
        return task;
      }
      environment.filtered(finished || left ? 0 : 1);
      window.leave(task.offset);
      passedMessages++;
      passedBytes += task.bytes;
    }
    return null;
  }

  // ---- Messages go to handlers

  /**
   * The next message, or null.
   *
   * @param withRetries whether messages that came back from the log may begin
   * @param forAdmission whether it goes to an admission step; else it begins
   * @param idle whether nothing of the shard runs, and the log has all of its progress
   */
  Task next(boolean withRetries, boolean forAdmission, BooleanSupplier idle, long now) {
    if (givenBack && !withRetries || !retries.known()) {
      return null;
    }
    boolean waits = care.applies() && !idle.getAsBoolean();
    // While the breaker is open, what has failed must not keep it open: others are tried first.
    Task task = environment.breaker.open() && !waits ? nextOfQueues(now) : null;
    if (task == null && withRetries && !waits) {
      task = retries.inHand.next();
    }
    if (task == null) {
      task = due.poll();
    }
    if (task == null) {
      task = nextOfQueues(now);
    }
    if (task == null) {
      return null;
    }
    care.mark(task);
    if (waits && task.careful) {
      task.detach();
      due.add(task);
      return null;
    }
    if (forAdmission) {
      task.detach();
      inAdmission.add(task);
    } else {
      begun(task);
    }
    return task;
  }

  /**
   * The next message that has not been tried yet, or null. The limit of messages that are handed
   * out keeps further ones from being decoded. Those that were decoded begin all the same: outputs
   * of messages above may wait for them, and count.
   */
  private Task nextOfQueues(long now) {
    while (!retries.outbox.isFull() && window.span() < SPAN_MESSAGES_MAX) {
      Task task = queues.next(isFull() ? () -> null : decode);
      if (task == null) {
        return null;
      }
      if (retries.isBehind(task)) {
        begunOffset = Math.max(begunOffset, task.offset + 1);
        queues.finished(task);
        task.queue = null;
        goneBack.addAll(retries.park(task));
      } else if (retries.mustWait(task, now)) {
        begunOffset = Math.max(begunOffset, task.offset + 1);
        delay(task);
      } else {
        return task;
      }
    }
    return null;
  }

  /**
   * The next message, which begins together with the one before it; null: there is none, or it must
   * begin alone.
   */
  Task nextOfBatch() {
    if (isFull() || !due.isEmpty() || retries.outbox.isFull()) {
      return null;
    }
    Task task = queues.nextOfBatch(decode);
    if (task == null) {
      return null;
    }
    if (task.hopeless != null || retries.hasFailed(task.offset)) {
      queues.putBack(task);
      return null;
    }
    begun(task);
    return task;
  }

  /** The messages of a batch that has failed begin again, one after another, and each alone. */
  void handOutAlone(List<Task> tasks) {
    for (Task task : tasks) {
      task.alone = true;
      task.detach();
      queues.finished(task);
      queues.putBack(task);
    }
  }

  /** Whether the limit of messages that are handed out or in admission is reached. */
  private boolean isFull() {
    int handedOut = running - retriesRunning + delayed.size() + retries.outbox.failedOfWindow();
    return environment.admissionMax == 0
        ? handedOut + inAdmission.size() >= handOutMax
        : handedOut >= handOutMax || admissionIsFull();
  }

  private boolean admissionIsFull() {
    return environment.admissionMax > 0 && inAdmission.size() >= environment.admissionMax;
  }

  /**
   * Whether a message in admission must begin before anything else of the shard can: the limit is
   * reached, or nothing more may be committed or published before it begins.
   */
  boolean waitsForAdmission(boolean publishes) {
    if (inAdmission.isEmpty()) {
      return false;
    }
    boolean claimsMost =
        startable - window.committed() >= handOutMax && backlog.nextOffset() >= startable;
    return admissionIsFull() || claimsMost || publishes && isFull();
  }

  /**
   * Messages that were decoded and are not wanted are no longer pending. Returns whether there were
   * any.
   */
  boolean settlePassed(long now) {
    if (goneBack.isEmpty() && passedMessages == 0) {
      return false;
    }
    List<Task> tasks = takeGoneBack();
    long messages = passedMessages;
    long bytes = passedBytes;
    pendingMessages -= messages;
    pendingBytes -= bytes;
    passedMessages = 0;
    passedBytes = 0;
    environment.removed(messages, bytes, now);
    environment.removed(tasks, now);
    return true;
  }

  private List<Task> takeGoneBack() {
    List<Task> tasks = List.copyOf(goneBack);
    goneBack.clear();
    return tasks;
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

  boolean anyInAdmission() {
    return !inAdmission.isEmpty();
  }

  boolean isInAdmission(Task task) {
    return inAdmission.contains(task);
  }

  /** A message that was in admission goes to its handler. */
  void begin(Task task) {
    inAdmission.remove(task);
    begun(task);
  }

  /** A message that was in admission, or behind such a one, is finished without its handler. */
  void declined(Task task, long now) {
    inAdmission.remove(task);
    lastFinishedMillis = now;
    if (!task.retry) {
      begunOffset = Math.max(begunOffset, task.offset + 1);
      done(task);
    }
  }

  /** Messages that wait behind one that was handed out, in the queue of its key. */
  Iterator<Task> behind(Task front) {
    return queues.behind(front);
  }

  /** Takes some of them out of the queue. The caller declines each with {@link #declined}. */
  void takeBehind(Task front, Set<Task> some) {
    queues.takeBehind(front, some);
  }

  // ---- Handlers end

  /** A handler has ended, well or not. */
  void ended(Task task, long now) {
    lastEndedMillis = now;
    handledBytes += task.bytes;
    running--;
    if (task.retry) {
      retriesRunning--;
    } else {
      runningBytes -= task.bytes;
    }
  }

  /**
   * A handler has ended well.
   *
   * @param counts whether the shard is still owned
   */
  void finished(Task task, boolean counts, long now) {
    lastFinishedMillis = now;
    ended(task, now);
    if (counts && !task.retry) {
      done(task);
    }
  }

  private void done(Task task) {
    window.finish(task.offset);
    freed(task);
  }

  /**
   * A message that ran, or is parked, leaves the window: the log has recorded what became of it.
   */
  void left(Task task) {
    window.leave(task.offset);
    freed(task);
  }

  private void freed(Task task) {
    queues.finished(task);
    pendingMessages--;
    pendingBytes -= task.bytes;
    retries.stuck.ended(task);
    unstick(task.keyHash);
  }

  /** Lets the next message of a key begin that the log had no room for, if it may. */
  void unstick(long keyHash) {
    Task next = retries.unstuck(keyHash);
    if (next != null) {
      due.add(next);
    }
  }

  /** The output of a handled message is left to the next owner, who gets the message again. */
  void givenUp(Task task, long now) {
    ended(task, now);
    givenUpTop = Math.max(givenUpTop, task.offset + 1);
  }

  /** Keeps a failed message for another attempt; its key stays busy. */
  void delay(Task task) {
    task.detach();
    delayed.add(task);
  }

  /** Makes messages due whose pause is over. Returns whether any may start. */
  boolean wake(long now) {
    boolean any = !delayed.isEmpty();
    delayed.removeIf(task -> task.dueMillis <= now && due.add(task));
    return any && !due.isEmpty();
  }

  // ---- The shard is given away

  /**
   * Drops messages that have not begun and lie above all that have. What is left are messages that
   * run, and those below the highest one that runs or is finished. When they are done the window
   * has no holes, and no message comes twice.
   */
  void keepBegun(long now) {
    giveBackRetries();
    if (!environment.atMostOnce) {
      long from = begunEnd();
      clearBacklog();
      queues.dropFrom(from);
      retries.stuck.removeIf(task -> task.offset >= from);
      delayed.removeIf(task -> task.offset >= from && dropFailed(task));
      due.removeIf(task -> task.offset >= from && dropFailed(task));
      if (inAdmission.removeIf(task -> task.offset >= from && dropFailed(task))) {
        environment.dropped();
      }
      delayed.forEach(task -> task.dueMillis = Math.min(task.dueMillis, now));
      fetchOffset = from;
      skippedTo = 0;
      List<Task> kept = notRunning();
      kept.addAll(retries.outbox.ofWindow());
      long bytes = runningBytes + kept.stream().mapToLong(task -> task.bytes).sum();
      keepPending(running - retriesRunning + kept.size(), bytes, now);
    }
    // With at most once, committed messages are handled before the shard goes.
    environment.removed(retries.inHand.dropNotStarted(), now);
    environment.removed(takeGoneBack(), now);
  }

  /** Drops all messages that have not started or wait for another attempt. */
  void dropNotStarted(long now) {
    clearBacklog();
    skippedTo = 0;
    queues.clear();
    giveBackRetries();
    due.clear();
    delayed.clear();
    if (!inAdmission.isEmpty()) {
      inAdmission.clear();
      environment.dropped();
    }
    keepPending(running - retriesRunning, runningBytes, now);
    environment.removed(retries.clear(), now);
    environment.removed(takeGoneBack(), now);
  }

  private void clearBacklog() {
    backlog.clear();
    packed(-packedMessages);
    heldBack = false;
  }

  private void keepPending(long messages, long bytes, long now) {
    long fewerMessages = pendingMessages - messages;
    long fewerBytes = pendingBytes - bytes;
    pendingMessages = messages;
    pendingBytes = bytes;
    passedMessages = 0;
    passedBytes = 0;
    environment.removed(fewerMessages, fewerBytes, now);
  }

  /** Gives retries in admission back to the log, with those behind them. */
  private void giveBackRetries() {
    for (Task task : List.copyOf(inAdmission)) {
      if (task.retry) {
        inAdmission.remove(task);
        environment.dropped();
        goneBack.add(task);
        goneBack.addAll(retries.goBack(task));
      }
    }
  }

  /** Drops a failed message. Those behind it in its queue are dropped already. */
  private boolean dropFailed(Task task) {
    queues.finished(task);
    retries.remember(task);
    retries.stuck.ended(task);
    return true;
  }

  /** Messages that were decoded and neither run nor are finished. */
  private List<Task> notRunning() {
    List<Task> tasks = new ArrayList<>(delayed);
    tasks.addAll(due);
    tasks.addAll(inAdmission);
    queues.forEachWaiting(tasks::add);
    retries.stuck.forEach(tasks::add);
    return tasks;
  }

  /** One more than the highest offset that runs or is finished. */
  private long begunEnd() {
    Set<Long> idle = new HashSet<>();
    notRunning().forEach(task -> idle.add(task.offset));
    // After a handover that was called off, dropped messages have not been fetched again yet.
    long undecoded = backlog.nextOffset() < 0 ? fetchOffset : backlog.nextOffset();
    long end = Math.min(begunOffset, undecoded);
    while (end > window.committed() && idle.contains(end - 1)) {
      end--;
    }
    return Math.max(end, window.committed());
  }
}
