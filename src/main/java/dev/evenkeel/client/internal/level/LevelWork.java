package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.Fault;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.SelfFence;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Backoff;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * What a member of a group in mode level has in hand, and what it reports to the level dispatcher.
 * All calls come from one thread at a time; {@code now} is a monotonic clock in milliseconds.
 *
 * <pre>
 * session    on                                       to
 * (none)     SessionStart                             live
 * live       a report is refused FENCED, NOT_LEADER   stopped: no handler starts
 * stopped    a report is accepted after all           live
 * any        SessionStart of a later session          live, in that session
 * live       a handler ends because nobody is there   stepping aside: no handler starts
 * stepping   all handlers have ended, and the level   (none), and a SessionStart is refused as long
 *   aside      dispatcher has taken all messages back   as nobody is there
 * </pre>
 *
 * <p>A handler starts only in a live session, before the permission of the level dispatcher ends,
 * while the heartbeats allow it ({@link SelfFence}) and while fewer than {@code parallel} run.
 */
public final class LevelWork implements MessageSource<LevelTask>, MessageSource.Counts {
  /**
   * Most messages between the lowest one that has not ended and the highest one that has started: a
   * report names each that ended between them. A message that takes this long holds up the group.
   */
  static final int SPAN_MESSAGES_MAX = 16_384;

  /**
   * Most messages that a member asks for in hand with a wide range. With fewer, handlers would be
   * idle during a round trip.
   */
  static final int CAPACITY_MESSAGES_MAX = 1_024;

  /** How long an ended message may wait for others, so that one report names them. */
  public static final long REPORT_DELAY_MILLIS = ReportPlan.ENDED_DELAY_MILLIS;

  /** Largest checkpoint that a member keeps for the level dispatcher: 1 MiB. */
  static final int CHECKPOINT_BYTES_MAX = 1 << 20;

  /** Longest permission to start handlers, a day: longer ones are cut to it. */
  static final long MAY_START_MILLIS_MAX = 86_400_000;

  /** Most characters of a failure in a report. */
  static final int ERROR_CHARS_MAX = 1_000;

  /**
   * How long to wait before retrying a message that was not handled through no fault of its own.
   */
  private static final long NOT_NOW_PAUSE_MILLIS = 1_000;

  /** Time between reports to a level dispatcher that does not know the session. */
  static final long STOPPED_RETRY_MILLIS = 1_000;

  private final ConsumerOptions options;
  private final String instance;
  private final RandomGenerator random;
  private final BiConsumer<String, Throwable> warnings;
  private final BiConsumer<String, Throwable> stop;
  private final int capacityMessages;
  private final SelfFence fence;
  private final ReportPlan plan;

  /** Messages that have not begun, by their numbers. */
  private final ArrayDeque<LevelTask> queue = new ArrayDeque<>();

  /** Messages that have begun, without those that were taken back. */
  private final Set<LevelTask> begun = new LinkedHashSet<>();

  /**
   * Messages that were taken back while their handlers run. None begins again before its handler
   * has ended.
   */
  private final Set<MessageId> forgotten = new HashSet<>();

  private final ArrayDeque<ShardContext> lost = new ArrayDeque<>();
  private final EndedIds ended = new EndedIds(SessionState.ENDED_MAX);
  private LevelSession session;
  private byte[] checkpoint;
  private long finished;
  private long consumed;
  private long bytesInHand;
  private boolean paused;
  private boolean closing;

  /** See {@link #die}. */
  private boolean dying;

  /** Whether nothing can handle messages now. */
  private final BooleanSupplier away;

  /** Nobody was there: the level dispatcher is to take all messages back. */
  private boolean aside;

  /** The report under way that says so, or -1. */
  private long asideReport = -1;

  private boolean faulty;
  private boolean groupPaused;

  /**
   * @param options with its member's name
   * @param instance this run of the member
   * @param range of the group
   * @param warnings gets what went wrong, in one line, and its cause
   * @param stop ends the consumer, because this member cannot go on; gets why
   * @param away whether nothing can handle messages now
   */
  public LevelWork(
      ConsumerOptions options,
      String instance,
      int range,
      RandomGenerator random,
      BiConsumer<String, Throwable> warnings,
      BiConsumer<String, Throwable> stop,
      BooleanSupplier away) {
    this.options = options;
    this.away = away;
    this.stop = stop;
    this.instance = instance;
    this.random = random;
    this.warnings = warnings;
    int wished = Math.max(2 * options.getParallel(), Math.min(range, CAPACITY_MESSAGES_MAX));
    capacityMessages = Math.max(1, Math.min(wished, options.getPendingMessagesMax()));
    fence = new SelfFence(options.getMemberTimeoutMillis());
    plan = new ReportPlan(range);
  }

  // What the level dispatcher says

  /**
   * Begins a session. If it has begun already, because the answer was lost, the answer is the same.
   *
   * @throws RefusedException FENCED if the session is not later than the present one; UNAVAILABLE
   *     if nothing can handle messages now; INVALID
   */
  public SessionState start(SessionStart start, long now) {
    check(start);
    if (session != null) {
      int order = session.compareTo(start.term(), start.session());
      if (order == 0 && session.answer != null && session.keep == start.keep()) {
        // The request may have been under way for long, so it permits nothing; a report brings a
        // permission.
        plan.hurry(now);
        return session.answer;
      }
      if (order >= 0) {
        throw fenced(start.term(), start.session());
      }
    }
    aside = away.getAsBoolean();
    if (aside && !start.keep()) {
      throw new RefusedException(Refusal.UNAVAILABLE, "nothing can handle messages now");
    }
    session = new LevelSession(start);
    asideReport = -1;
    if (!start.keep()) {
      forget();
    }
    renumber();
    plan.begin(now);
    allow(now, start.mayStartMillis());
    List<MessageId> held =
        Stream.concat(begun.stream(), queue.stream()).map(LevelTask::id).toList();
    session.answer = new SessionState(checkpoint, finished, held, ended.all(), capacity());
    return session.answer;
  }

  private void check(SessionStart start) {
    if (!options.getGroup().equals(start.group())) {
      throw invalid("session of group " + start.group() + " at a member of " + options.getGroup());
    }
    if (start.node() == null || start.node().isEmpty()) {
      throw invalid("session without the node of its level dispatcher");
    }
    if (start.term() < 0 || start.session() < 0 || start.mayStartMillis() < 0) {
      throw invalid("session with a negative number: " + start);
    }
  }

  /** Starts over from 0, with nothing in hand. */
  private void forget() {
    lost.addAll(shardsOfBegun());
    begun.forEach(task -> task.forgotten = true);
    begun.forEach(task -> forgotten.add(task.id()));
    begun.clear();
    queue.clear();
    bytesInHand = 0;
    finished = 0;
    checkpoint = null;
  }

  /** Numbers what is in hand in the order of the former numbers, messages that have begun first. */
  private void renumber() {
    List<LevelTask> kept = new ArrayList<>(begun);
    kept.sort(Comparator.comparingLong(task -> task.number));
    begun.clear();
    begun.addAll(kept);
    kept.addAll(queue);
    for (LevelTask task : kept) {
      task.number = session.received;
      session.ends.handOut(session.received++);
    }
  }

  private void allow(long fromMillis, long mayStartMillis) {
    long until = fromMillis + Math.min(mayStartMillis, MAY_START_MILLIS_MAX);
    session.mayStartUntilMillis = Math.max(session.mayStartUntilMillis, until);
    session.stoppedMillis = -1;
  }

  /**
   * Takes messages to handle, as long as the pending limits allow. The answer says where the level
   * dispatcher must continue.
   *
   * @return how many messages of the session have come without a gap
   * @throws RefusedException FENCED if it is of another session; INVALID
   */
  public long receive(HandOut handOut, long now) {
    if (session == null || session.compareTo(handOut.term(), handOut.session()) != 0) {
      throw fenced(handOut.term(), handOut.session());
    }
    check(handOut);
    session.answer = null;
    if (handOut.checkpoint() != null && handOut.firstSequence() >= session.checkpointFrom) {
      checkpoint = handOut.checkpoint();
      session.checkpointFrom = handOut.firstSequence();
    }
    handOut.committed().forEach(ended::committed);
    long skip = session.received - handOut.firstSequence();
    if (skip < 0 || skip >= handOut.messages().size()) {
      return session.received;
    }
    for (HandOut.Entry each : handOut.messages().subList((int) skip, handOut.messages().size())) {
      if (inHand() >= options.getPendingMessagesMax()
          || bytesInHand >= options.getPendingBytesMax()) {
        break;
      }
      String topic = handOut.topics().get(each.id().shard().topicId());
      LevelTask task = new LevelTask(each, topic, session.received);
      session.ends.handOut(session.received++);
      bytesInHand += task.bytes;
      queue.addLast(task);
    }
    plan.received(now);
    return session.received;
  }

  private static void check(HandOut handOut) {
    if (handOut.firstSequence() < 0 || handOut.firstSequence() > Long.MAX_VALUE / 2) {
      throw invalid("hand-out that begins at " + handOut.firstSequence());
    }
    if (handOut.checkpoint() != null && handOut.checkpoint().length > CHECKPOINT_BYTES_MAX) {
      throw invalid("hand-out with a checkpoint of " + handOut.checkpoint().length + " bytes");
    }
    for (HandOut.Entry each : handOut.messages()) {
      if (each.id().offset() < 0 || each.epoch() < 0 || each.attempt() < 1) {
        throw invalid(
            "hand-out of " + each.id() + ", epoch " + each.epoch() + ", attempt " + each.attempt());
      }
      if (each.message().payload() == null) {
        throw invalid("hand-out of " + each.id() + " without a payload");
      }
      if (handOut.topics().get(each.id().shard().topicId()) == null) {
        throw invalid("hand-out of " + each.id() + ", whose topic has no name");
      }
    }
  }

  private RefusedException fenced(long term, long number) {
    String known = session == null ? "none" : session.term + "/" + session.number;
    return new RefusedException(
        Refusal.FENCED, "session " + term + "/" + number + ", and there is " + known);
  }

  private static RefusedException invalid(String what) {
    return new RefusedException(Refusal.INVALID, what);
  }

  // Handlers

  @Override
  public LevelTask next(long now) {
    if (queue.isEmpty() || !mayStart(now)) {
      return null;
    }
    LevelTask task = firstApart(now);
    if (task != null) {
      begun.add(task);
    }
    return task;
  }

  private boolean mayStart(long now) {
    return session != null
        && !closing
        && !faulty
        && !aside
        && !paused
        && !groupPaused
        && session.stoppedMillis < 0
        && now < session.mayStartUntilMillis
        && running() < options.getParallel()
        && fence.mayStart(now);
  }

  private boolean tooFar(LevelTask task) {
    return task.number - session.ends.committed() >= SPAN_MESSAGES_MAX;
  }

  /**
   * Takes the first message out of the queue that may begin now, and of which no earlier handler
   * still runs; null if there is none.
   */
  private LevelTask firstApart(long now) {
    for (Iterator<LevelTask> each = queue.iterator(); each.hasNext(); ) {
      LevelTask task = each.next();
      if (tooFar(task)) {
        return null;
      }
      if (!forgotten.contains(task.id()) && now >= task.notBeforeMillis) {
        each.remove();
        return task;
      }
    }
    return null;
  }

  @Override
  public void finished(LevelTask task, long now) {
    consumed++;
    if (end(task, now)) {
      finished++;
      ended.add(task.id());
    }
  }

  /**
   * The level dispatcher hands it out again, to any member. If the message was not at fault, it
   * counts as not begun, and stays in hand.
   */
  @Override
  public void failed(LevelTask task, Throwable cause, long now) {
    Fault fault = Fault.of(cause);
    if (fault == Fault.MEMBER && !faulty) {
      faulty = true;
      stop.accept("the consumer ends, and leaves all messages to others", cause);
    }
    aside |= fault == Fault.AWAY;
    if (fault != Fault.MESSAGE && begun.remove(task)) {
      task.notBeforeMillis = now + NOT_NOW_PAUSE_MILLIS;
      queue.addFirst(task);
    } else if (end(task, now)) {
      session.failed.add(new Report.Failed(task.number, oneLine(cause)));
      String attempt = ": attempt " + task.entry.attempt() + " at offset " + task.id().offset();
      warnings.accept(task + attempt + " failed, it is handed out again", cause);
    }
  }

  private static String oneLine(Throwable cause) {
    String text = String.valueOf(cause).replaceAll("\\s+", " ");
    return text.length() <= ERROR_CHARS_MAX ? text : text.substring(0, ERROR_CHARS_MAX);
  }

  /** Returns whether the end must be reported. */
  private boolean end(LevelTask task, long now) {
    if (task.forgotten) {
      forgotten.remove(task.id());
      return false;
    }
    if (!begun.remove(task)) {
      return false;
    }
    bytesInHand -= task.bytes;
    session.ends.finish(task.number);
    plan.ended(now);
    return true;
  }

  // Reports to the level dispatcher

  /**
   * The report to send now to {@link #dispatcherNode}, or null. Its answer goes to {@link
   * #permission} or {@link #reportFailed}.
   */
  public Report report(long now) {
    boolean leaves = aside && begun.isEmpty() && session != null;
    boolean due = leaves ? plan.may(now) : plan.due(queue.size(), inHand(), now);
    if (session == null || !fence.linkUp() || !due) {
      return null;
    }
    session.failedInFlight = session.failed.size();
    long number = plan.sent(now);
    asideReport = leaves ? number : -1;
    return new Report(
        options.getGroup(),
        instance,
        session.term,
        session.number,
        number,
        session.received,
        session.ends.committed(),
        session.endedAbove(),
        List.copyOf(session.failed),
        leaves ? 0 : capacity());
  }

  /** Whether a report will be due within {@link #REPORT_DELAY_MILLIS}. */
  public boolean reportsSoon() {
    return session != null && fence.linkUp() && plan.soon();
  }

  /** Where reports go. */
  public String dispatcherNode() {
    return session.node;
  }

  /**
   * The level dispatcher has accepted a report. If it is not the one under way, nothing happens.
   */
  public void permission(StartPermission permission, long now) {
    if (!plan.awaits(permission.number())) {
      return;
    }
    long mayStartMillis = Math.max(0, permission.mayStartMillis());
    allow(plan.taken(mayStartMillis), mayStartMillis);
    session.failed.subList(0, session.failedInFlight).clear();
    stepAsideIfTold(permission.number());
  }

  /** The level dispatcher knows that this member takes no part: it hands the messages to others. */
  private void stepAsideIfTold(long number) {
    if (number == asideReport) {
      asideReport = -1;
      session = null;
      plan.end();
      forget();
    }
  }

  /** The report of that number was refused, or no answer came. */
  public void reportFailed(long number, Refusal refusal, long now) {
    if (!plan.awaits(number)) {
      return;
    }
    if (refusal == Refusal.FENCED || refusal == Refusal.NOT_LEADER) {
      if (session.stoppedMillis < 0) {
        session.stoppedMillis = now;
      }
      plan.failed(now, STOPPED_RETRY_MILLIS);
      stepAsideIfTold(number);
    } else {
      plan.failed(now, Backoff.soon(random));
    }
  }

  /**
   * How many messages the member asks for in hand: twice as many as may run, so that no handler is
   * idle during a round trip, or as many as a wide range allows, up to {@link
   * #CAPACITY_MESSAGES_MAX}; never more than the pending limit. 1 while paused, and while it steps
   * aside.
   */
  private int capacity() {
    return paused || aside ? 1 : capacityMessages;
  }

  // The consumer around it

  /** A heartbeat that was sent at {@code sentMillis} was answered. */
  public void heartbeatAnswered(long sentMillis) {
    fence.answered(sentMillis);
  }

  /** The connection was lost, or is back. */
  public void link(boolean up, long now) {
    fence.link(up);
    plan.hurry(now);
  }

  /** While on, no message begins: the group is paused. Nobody waits for this member. */
  public void groupPaused(boolean on) {
    groupPaused = on;
  }

  /** While on, no message begins. The group waits for this member until it is set aside. */
  public void pause(boolean on) {
    paused = on;
  }

  /**
   * No message begins any more. Those that have not begun stay in hand: the level dispatcher hands
   * them out again when it knows that the member has left.
   *
   * @return the shards of messages that run
   */
  public List<ShardContext> close() {
    closing = true;
    return shardsOfBegun();
  }

  /**
   * The member ends as one that has died of one of those messages: the level dispatcher hands them
   * out again, and nobody waits for their handlers. To be called before {@link #close}.
   *
   * @return those of them that have begun
   */
  public List<MessageId> die(Collection<Delivery> inHand) {
    dying = true;
    return begun.stream()
        .filter(task -> inHand.stream().anyMatch(task::is))
        .map(LevelTask::id)
        .toList();
  }

  /**
   * The shards of messages that have begun, each once an epoch, with the message that began first.
   */
  private List<ShardContext> shardsOfBegun() {
    Map<String, ShardContext> contexts = new LinkedHashMap<>();
    for (LevelTask task : begun) {
      ShardContext context = task.context(options.getMember());
      contexts.putIfAbsent(
          context.topic() + '/' + context.shard() + '@' + context.epoch(), context);
    }
    return List.copyOf(contexts.values());
  }

  /**
   * After {@link #close}: whether nothing runs, and the level dispatcher knows of all that ended or
   * is gone.
   */
  public boolean drained(long now) {
    if (!closing || !begun.isEmpty() && !dying) {
      return false;
    }
    return session == null
        || !plan.unreported()
        || session.stoppedMillis >= 0
            && now - session.stoppedMillis >= options.getMemberTimeoutMillis();
  }

  /** The consumer has ended: nothing is in hand any more. */
  public void end() {
    closing = true;
    session = null;
    plan.end();
    forget();
  }

  /** The next shard whose messages were taken back while they run, for {@code onLost}; or null. */
  public ShardContext pollLost() {
    return lost.poll();
  }

  @Override
  public long consumed() {
    return consumed;
  }

  @Override
  public int running() {
    return begun.size() + forgotten.size();
  }

  private int inHand() {
    return begun.size() + queue.size();
  }
}
