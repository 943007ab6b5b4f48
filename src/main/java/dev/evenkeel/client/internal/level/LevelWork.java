package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Permission;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.Backoff;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.SelfFence;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * What a member of a group in mode level has in hand, and what it says of that to the dealer. All
 * calls come from one thread at a time; {@code now} is a monotonic clock in milliseconds.
 *
 * <pre>
 * session    on                                       to
 * (none)     Collect                                  live
 * live       a report is refused FENCED, NOT_LEADER   stopped: nothing is started
 * stopped    a report is taken after all              live
 * any        Collect of a later session               live, in that session
 * </pre>
 *
 * <p>A handler is started only in a live session, before the dealer's permission ends, while the
 * heartbeats allow it ({@link SelfFence}) and while fewer than {@code parallel} run.
 */
public final class LevelWork implements MessageSource<LevelTask>, MessageSource.Counts {
  /**
   * Most messages between the lowest that has not ended and the highest that was started: a report
   * names each that ended between them. A member that waits for so old a message holds the round.
   */
  static final int SPAN_MESSAGES_MAX = 16_384;

  /**
   * Messages in hand that a wide range makes it wish for; with fewer a round trip idles handlers.
   */
  static final int CAPACITY_MESSAGES_MAX = 1_024;

  /** How long the end of a message may wait for others, to be told together. */
  public static final long REPORT_DELAY_MILLIS = ReportPlan.ENDED_DELAY_MILLIS;

  /** Largest checkpoint that is kept for the dealer: 1 MiB. */
  static final int CHECKPOINT_BYTES_MAX = 1 << 20;

  /** Longer permissions are cut to it: a day. */
  static final long MAY_START_MILLIS_MAX = 86_400_000;

  /** Characters of a failure's text that are told. */
  static final int ERROR_CHARS_MAX = 1_000;

  /** A dealer that knows nothing of the session is asked again so often. */
  static final long STOPPED_RETRY_MILLIS = 1_000;

  private final ConsumerOptions options;
  private final String instance;
  private final RandomGenerator random;
  private final BiConsumer<String, Throwable> warnings;
  private final int capacityMessages;
  private final SelfFence fence;
  private final ReportPlan plan;

  /** Not begun, by their numbers. */
  private final ArrayDeque<LevelTask> queue = new ArrayDeque<>();

  /** Begun, without those that were forgotten. */
  private final Set<LevelTask> begun = new LinkedHashSet<>();

  /** What was taken back while its handler runs; it is not begun again before that has ended. */
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

  /**
   * @param options with its member's name
   * @param instance this run of the member
   * @param range of the group, for how small reports may be
   * @param warnings gets what goes wrong, in one line, and its cause
   */
  public LevelWork(
      ConsumerOptions options,
      String instance,
      int range,
      RandomGenerator random,
      BiConsumer<String, Throwable> warnings) {
    this.options = options;
    this.instance = instance;
    this.random = random;
    this.warnings = warnings;
    int wished = Math.max(2 * options.getParallel(), Math.min(range, CAPACITY_MESSAGES_MAX));
    capacityMessages = Math.max(1, Math.min(wished, options.getPendingMessagesMax()));
    fence = new SelfFence(options.getMemberTimeoutMillis());
    plan = new ReportPlan(range);
  }

  // What the dealer says

  /**
   * A session begins; or it has begun, and the answer was lost: then it is given again.
   *
   * @throws RefusedException FENCED if it is not later than the session there is; INVALID
   */
  public SessionState collect(SessionStart collect, long now) {
    check(collect);
    if (session != null) {
      int order = session.compareTo(collect.term(), collect.session());
      if (order == 0 && session.place != null && session.keep == collect.keep()) {
        // It allows nothing anew: it may have been under way for long. A report brings that.
        plan.hurry(now);
        return session.place;
      }
      if (order >= 0) {
        throw fenced(collect.term(), collect.session());
      }
    }
    session = new LevelSession(collect);
    if (!collect.keep()) {
      forget();
    }
    renumber();
    plan.begin(now);
    allow(now, collect.mayStartMillis());
    List<MessageId> held =
        Stream.concat(begun.stream(), queue.stream()).map(LevelTask::id).toList();
    session.place = new SessionState(checkpoint, finished, held, ended.all(), capacity());
    return session.place;
  }

  private void check(SessionStart collect) {
    if (!options.getGroup().equals(collect.group())) {
      throw invalid(
          "Collect of group " + collect.group() + " at a member of " + options.getGroup());
    }
    if (collect.node() == null || collect.node().isEmpty()) {
      throw invalid("Collect without the dealer's node");
    }
    if (collect.term() < 0 || collect.session() < 0 || collect.mayStartMillis() < 0) {
      throw invalid("Collect with a negative number: " + collect);
    }
  }

  /** Counts from 0; nothing is in hand any more. */
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

  /** In the order of their numbers, those that were begun first. */
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
   * Messages to handle. While more than the pending limits is in hand, no more is taken; the answer
   * says from where on the dealer has to repeat.
   *
   * @return messages of the session that were got without a gap
   * @throws RefusedException FENCED if it is of another session; INVALID
   */
  public long deal(HandOut deal, long now) {
    if (session == null || session.compareTo(deal.term(), deal.session()) != 0) {
      throw fenced(deal.term(), deal.session());
    }
    check(deal);
    session.place = null;
    if (deal.checkpoint() != null && deal.firstSequence() >= session.checkpointFrom) {
      checkpoint = deal.checkpoint();
      session.checkpointFrom = deal.firstSequence();
    }
    deal.committed().forEach(ended::committed);
    long skip = session.received - deal.firstSequence();
    if (skip < 0 || skip >= deal.messages().size()) {
      return session.received;
    }
    for (HandOut.Entry each : deal.messages().subList((int) skip, deal.messages().size())) {
      if (inHand() >= options.getPendingMessagesMax()
          || bytesInHand >= options.getPendingBytesMax()) {
        break;
      }
      String topic = deal.topics().get(each.id().shard().topicId());
      LevelTask task = new LevelTask(each, topic, session.received);
      session.ends.handOut(session.received++);
      bytesInHand += task.bytes;
      queue.addLast(task);
    }
    plan.received(now);
    return session.received;
  }

  private static void check(HandOut deal) {
    if (deal.firstSequence() < 0 || deal.firstSequence() > Long.MAX_VALUE / 2) {
      throw invalid("Deal that begins at " + deal.firstSequence());
    }
    if (deal.checkpoint() != null && deal.checkpoint().length > CHECKPOINT_BYTES_MAX) {
      throw invalid("a hand-out with a checkpoint of " + deal.checkpoint().length + " bytes");
    }
    for (HandOut.Entry each : deal.messages()) {
      if (each.id().offset() < 0 || each.epoch() < 0 || each.attempt() < 1) {
        throw invalid(
            "Deal of " + each.id() + ", epoch " + each.epoch() + ", attempt " + each.attempt());
      }
      if (each.message().payload() == null) {
        throw invalid("Deal of " + each.id() + " without a payload");
      }
      if (deal.topics().get(each.id().shard().topicId()) == null) {
        throw invalid("Deal of " + each.id() + ", whose topic has no name");
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
    LevelTask task = firstApart();
    if (task != null) {
      begun.add(task);
    }
    return task;
  }

  private boolean mayStart(long now) {
    return session != null
        && !closing
        && !paused
        && session.stoppedMillis < 0
        && now < session.mayStartUntilMillis
        && running() < options.getParallel()
        && fence.mayStart(now);
  }

  private boolean tooFar(LevelTask task) {
    return task.number - session.ends.committed() >= SPAN_MESSAGES_MAX;
  }

  /** The first that no handler from before has, taken out of the queue; or null. */
  private LevelTask firstApart() {
    for (Iterator<LevelTask> each = queue.iterator(); each.hasNext(); ) {
      LevelTask task = each.next();
      if (tooFar(task)) {
        return null;
      }
      if (!forgotten.contains(task.id())) {
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
   * The dealer deals it again, to whom it likes. What is given back ({@link GivenBackException})
   * while the consumer closes counts as not begun.
   */
  @Override
  public void failed(LevelTask task, Throwable cause, long now) {
    if (closing && cause instanceof GivenBackException && begun.remove(task)) {
      queue.addFirst(task);
    } else if (end(task, now)) {
      session.failed.add(new Report.Failed(task.number, oneLine(cause)));
      String attempt = ": attempt " + task.dealt.attempt() + " at offset " + task.id().offset();
      warnings.accept(task + attempt + " failed, it is handed out again", cause);
    }
  }

  private static String oneLine(Throwable cause) {
    String text = String.valueOf(cause).replaceAll("\\s+", " ");
    return text.length() <= ERROR_CHARS_MAX ? text : text.substring(0, ERROR_CHARS_MAX);
  }

  /** Returns whether that is news. */
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

  // What the dealer is told

  /**
   * What is to be sent now to {@link #dealerNode}, or null. It must be answered by {@link
   * #permission} or {@link #reportFailed}.
   */
  public Report report(long now) {
    if (session == null || !fence.linkUp() || !plan.due(queue.size(), inHand(), now)) {
      return null;
    }
    session.failedInFlight = session.failed.size();
    return new Report(
        options.getGroup(),
        instance,
        session.term,
        session.number,
        plan.sent(now),
        session.received,
        session.ends.committed(),
        session.endedAbove(),
        List.copyOf(session.failed),
        capacity());
  }

  /** Whether a report will be due within {@link #REPORT_DELAY_MILLIS}. */
  public boolean reportsSoon() {
    return session != null && fence.linkUp() && plan.soon();
  }

  /** Where reports go. */
  public String dealerNode() {
    return session.node;
  }

  /** A report was taken; if it is not the one on its way, nothing happens. */
  public void permission(Permission permission, long now) {
    if (!plan.awaits(permission.number())) {
      return;
    }
    long mayStartMillis = Math.max(0, permission.mayStartMillis());
    allow(plan.taken(mayStartMillis), mayStartMillis);
    session.failed.subList(0, session.failedInFlight).clear();
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
    } else {
      plan.failed(now, Backoff.soon(random));
    }
  }

  /**
   * Messages that are wished in hand: twice as many as may run, so that a round trip idles no
   * handler, or as many as a wide range allows, up to {@link #CAPACITY_MESSAGES_MAX}; never more
   * than the pending limit. 1 while paused.
   */
  private int capacity() {
    return paused ? 1 : capacityMessages;
  }

  // The consumer around it

  /** A heartbeat that was sent at {@code sentMillis} was answered. */
  public void heartbeatAnswered(long sentMillis) {
    fence.answered(sentMillis);
  }

  /** The connection was lost, or is there again. */
  public void link(boolean up, long now) {
    fence.link(up);
    plan.hurry(now);
  }

  /** While on, nothing is begun. The group waits for this member then, until it is set aside. */
  public void pause(boolean on) {
    paused = on;
  }

  /**
   * Nothing is begun any more. What was not begun stays in hand: whoever hears that the member has
   * left deals it again.
   *
   * @return the shards of what runs
   */
  public List<ShardContext> close() {
    closing = true;
    return shardsOfBegun();
  }

  /** Of each shard and epoch, the message that was begun first. */
  private List<ShardContext> shardsOfBegun() {
    Map<String, ShardContext> contexts = new LinkedHashMap<>();
    for (LevelTask task : begun) {
      ShardContext context = task.context(options.getMember());
      contexts.putIfAbsent(
          context.topic() + '/' + context.shard() + '@' + context.epoch(), context);
    }
    return List.copyOf(contexts.values());
  }

  /** After {@link #close}: nothing runs, and the dealer has taken all that ended, or is gone. */
  public boolean drained(long now) {
    if (!closing || !begun.isEmpty()) {
      return false;
    }
    return session == null
        || !plan.untold()
        || session.stoppedMillis >= 0
            && now - session.stoppedMillis >= options.getMemberTimeoutMillis();
  }

  /** The run is over: nothing is in hand any more. */
  public void end() {
    closing = true;
    session = null;
    forget();
  }

  /** A shard whose messages were taken back while they run, for {@code onLost}; or null. */
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
