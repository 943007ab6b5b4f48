package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;

/**
 * What a consumer does next: events come in, {@link ConsumerAction}s and messages to run go out. It
 * has no clock, no I/O and no threads; all calls come from one thread at a time. {@code now} is a
 * monotonic clock in milliseconds.
 *
 * <p>The caller feeds events, then takes {@link #poll actions} and {@link #next messages} until
 * both give null. It may feed events while it carries them out.
 */
public final class ConsumerCore implements MessageSource<Task>, ShardLifecycle.Owner {
  private final ConsumerOptions options;
  private final LatestAssignment latest;
  private final FlowControl flow;
  private final SelfFence fence;
  private final ShardLifecycle machine;
  private final ArrayDeque<ConsumerAction> actions = new ArrayDeque<>();
  private final ReadyShards ready = new ReadyShards();
  private final OwnedShards shards;
  private final ProgressReports marks = new ProgressReports();
  private final boolean stateful;

  /** Mode singleton, while this member leads: else null. */
  private Assignment.Lead lead;

  private boolean closing;
  private int running;
  private long consumed;

  /**
   * @param options with its member's name
   * @param instance this run of the member
   * @param keepsState whether the handler uses the state of former owners, and gives its own
   */
  public ConsumerCore(
      ConsumerOptions options, String instance, boolean keepsState, RandomGenerator random) {
    this(options, instance, keepsState, keepsState, random);
  }

  /**
   * @param options with its member's name
   * @param instance this run of the member
   * @param keepsState whether the handler uses the state of former owners
   * @param givesState whether it gives state to later ones
   */
  public ConsumerCore(
      ConsumerOptions options,
      String instance,
      boolean keepsState,
      boolean givesState,
      RandomGenerator random) {
    this(options, instance, keepsState, givesState, false, random);
  }

  /**
   * @param publishes whether the handler may publish
   */
  public ConsumerCore(
      ConsumerOptions options,
      String instance,
      boolean keepsState,
      boolean givesState,
      boolean publishes,
      RandomGenerator random) {
    this.options = options;
    stateful = keepsState || givesState;
    latest = new LatestAssignment(instance);
    int heldMax = options.getKeyRate() == null ? 0 : RateGate.HELD_OF_SHARD_MAX;
    shards = new OwnedShards(options.getOrder(), options.getHandOutMessages(), heldMax);
    flow = new FlowControl(options.getPendingMessagesMax(), options.getPendingBytesMax());
    fence = new SelfFence(options.getMemberTimeoutMillis());
    machine =
        new ShardLifecycle(
            options,
            instance,
            keepsState,
            givesState,
            publishes,
            flow,
            random,
            this,
            actions::addLast);
  }

  /** The next thing to do, or null. */
  public ConsumerAction poll() {
    return actions.poll();
  }

  public int owned() {
    return shards.count();
  }

  @Override
  public long consumed() {
    return consumed;
  }

  @Override
  public int running() {
    return running;
  }

  /** For the dispatcher: how far this member is with its shards, and with those it let go of. */
  public List<ShardProgress> marks(long now) {
    return marks.take(shards.all(), now);
  }

  /** Shows how far each shard is that messages may come of. */
  public void forEachProgress(BiConsumer<Shard, Long> look) {
    for (OwnedShard hold : shards.all()) {
      if (hold.window != null) {
        look.accept(hold.shard, hold.window.committed());
      }
    }
  }

  public FlowControl flow() {
    return flow;
  }

  /** Whether every shard was let go after {@link #close}. */
  public boolean drained() {
    return closing && shards.count() == 0;
  }

  /** A heartbeat that was sent at {@code sentMillis} was answered with an assignment. */
  public void heartbeatAnswered(long sentMillis) {
    fence.answered(sentMillis);
  }

  /**
   * All that this member owns. One older than the last is ignored while the last is repeated; the
   * same again is looked at again, because a hold may have been lost to an answer that was wrong.
   */
  public void assigned(Assignment assignment, long now) {
    if (!latest.takes(assignment, now)) {
      return;
    }
    lead(assignment.lead());
    Set<Shard> named = new HashSet<>();
    for (Assignment.Owned owned : assignment.shards()) {
      named.add(owned.shard());
      reconcile(owned, now);
    }
    for (OwnedShard hold : shards.all()) {
      if (!named.contains(hold.shard)) {
        machine.lose(hold, "the assignment does not name it any more", now);
      }
    }
    tellOwned();
  }

  private void lead(Assignment.Lead told) {
    Assignment.Lead now = told != null && closing ? told.asEnding() : told;
    machine.lead(now);
    if (!Objects.equals(now, lead)) {
      lead = now;
      actions.add(new ConsumerAction.LeadChanged(now));
    }
  }

  private void reconcile(Assignment.Owned owned, long now) {
    OwnedShard hold = shards.get(owned.shard());
    if (hold != null && hold.epoch != owned.epoch()) {
      machine.lose(hold, "the assignment names epoch " + owned.epoch(), now);
      hold = null;
    }
    if (hold == null) {
      // A consumer that leaves takes no more; its last heartbeat sets what it was given free.
      if (closing || shards.outOfDate(owned, now)) {
        return;
      }
      hold = shards.take(owned);
    }
    hold.draining = owned.draining() || closing;
    machine.step(hold, now);
  }

  @Override
  public void gone(OwnedShard hold) {
    if (hold.outputs != null) {
      for (Task task : hold.outputs.clear()) {
        hold.ended(task, hold.stoppedMillis);
        machine.puller().dropped(new OwnedShard.Dropped(1, task.bytes), hold.stoppedMillis);
      }
    }
    shards.gone(hold);
    marks.gone(hold);
  }

  private void tellOwned() {
    if (shards.takeChanged()) {
      actions.add(new ConsumerAction.OwnedChanged(shards.count()));
    }
  }

  @Override
  public Task next(long now) {
    while (!ready.isEmpty() && mayBegin(now)) {
      Task task = ready.next(hold -> take(hold, false, now));
      if (task == null) {
        return null;
      }
      running++;
      if (task.unreadable == null) {
        return task;
      }
      failed(task, task.unreadable, now);
    }
    return null;
  }

  // For a gate between this and the handlers

  /**
   * As {@link #next} for a message that may not begin yet, whatever the limit of handlers. It is
   * {@link #begin begun} or {@link #declined} while it is {@link #holds held}, which it may cease
   * to be at any event.
   */
  Task hold(long now) {
    while (!ready.isEmpty() && mayStart(now)) {
      Task task = ready.next(hold -> take(hold, true, now));
      if (task == null || task.unreadable == null) {
        return task;
      }
      begin(task);
      failed(task, task.unreadable, now);
    }
    return null;
  }

  /** Whether a message that {@link #hold} gave is still wanted. */
  boolean holds(Task task) {
    return task.hold.holds(task);
  }

  /** Grows when held messages are not wanted any more. */
  int drops() {
    return shards.drops();
  }

  /** A held message behind which others have come to wait since, or null. */
  Task pollCrowded() {
    return shards.pollCrowded();
  }

  /** Messages that wait behind one that is held, in its lane. */
  Iterator<Task> behind(Task held) {
    return held.hold.behind(held);
  }

  /** Takes some of those out of the lane: they are to be {@link #declined}. */
  void takeBehind(Task held, Set<Task> some) {
    held.hold.takeBehind(held, some);
  }

  /** Whether shards are let go of, and held messages need not be awaited for their state's sake. */
  boolean mayGiveBack() {
    return !stateful
        && shards.all().stream().anyMatch(each -> each.state == OwnedShardState.DRAINING);
  }

  /** Shards that wait for messages that are held. */
  int shardsFull() {
    int full = 0;
    for (OwnedShard hold : shards.all()) {
      full += hold.waitsForHeld() ? 1 : 0;
    }
    return full;
  }

  /** Messages that were not consumed, by the last fetches; null if not all shards were fetched. */
  public Long lag() {
    long lag = 0;
    for (OwnedShard hold : shards.all()) {
      if (hold.window == null || hold.logEnd < 0) {
        return null;
      }
      lag += Math.max(0, hold.logEnd - hold.window.committed());
    }
    return lag;
  }

  /** Whether anything may be started: onAssign, a handler, a claim for one. */
  @Override
  public boolean mayStart(long now) {
    return fence.mayStart(now) && machine.open();
  }

  /** Whether a handler may be started. */
  boolean mayBegin(long now) {
    return running < options.getParallel()
        && mayStart(now)
        && machine.failing().mayStart(running, now);
  }

  /** A held message goes to its handler. */
  void begin(Task task) {
    task.hold.begin(task);
    running++;
  }

  /** A held message is finished without its handler. */
  void declined(Task task, long now) {
    // It says nothing of what handlers need.
    task.hold.declined(task, now);
    settled(task, now);
  }

  private Task take(OwnedShard hold, boolean held, long now) {
    Task task = held ? hold.nextHeld(now) : hold.next(now);
    OwnedShard.Dropped passed = hold.passed();
    if (passed != OwnedShard.Dropped.NONE) {
      machine.puller().dropped(passed, now);
      machine.puller().fetch(hold, now);
    }
    return task;
  }

  @Override
  public void ready(OwnedShard hold) {
    ready.add(hold);
  }

  @Override
  public int holds() {
    return shards.count();
  }

  @Override
  public void resumed(long now) {
    for (OwnedShard hold : shards.all()) {
      machine.puller().fetch(hold, now);
    }
  }

  /** The handler has ended well; what it published goes to the log before the message is done. */
  @Override
  public void finished(Task task, long now) {
    running--;
    if (task.publishes() && task.hold.outputs != null && !task.hold.state.over()) {
      // It takes no handler's place: those below it, whose outputs it waits for, need one.
      machine.publishing().add(task, now);
      return;
    }
    over(task, now);
  }

  private void over(Task task, long now) {
    task.hold.finished(task, now);
    machine.failing().handled(task);
    settled(task, now);
  }

  private void settled(Task task, long now) {
    OwnedShard hold = task.hold;
    consumed++;
    machine.failing().settled(task, now);
    machine.puller().dropped(new OwnedShard.Dropped(1, task.bytes), now);
    if (hold.state == OwnedShardState.RUNNING) {
      ready(hold);
      if (hold.pendingMessages == 0) {
        machine.puller().fetch(hold, now);
      }
      if (hold.atMostOnce() || machine.puller().isMany(hold.window.committed() - hold.committed)) {
        machine.puller().commitIfDue(hold, now);
      }
      machine.publishing().step(hold, now);
    } else {
      if (hold.state == OwnedShardState.DRAINING) {
        ready(hold);
      }
      machine.step(hold, now);
      tellOwned();
    }
  }

  /**
   * The handler has failed: the log is told, and the message is tried again after a pause, or
   * becomes a dead letter. If its shard is being let go, messages that keep their place are tried
   * again only while messages above them are finished.
   */
  @Override
  public void failed(Task task, Throwable cause, long now) {
    OwnedShard hold = task.hold;
    running--;
    hold.ended(task, now);
    if (hold.atMostOnce() && !task.retry && !hold.state.over()) {
      actions.add(
          new ConsumerAction.Report(
              ConsumerAction.Severity.WARN,
              hold + ": offset " + task.offset + " failed, and is not tried again",
              cause));
      hold.left(task);
      machine.puller().dropped(new OwnedShard.Dropped(1, task.bytes), now);
      ready(hold);
      machine.step(hold, now);
      tellOwned();
      return;
    }
    if (hold.state.over()) {
      machine.puller().dropped(new OwnedShard.Dropped(1, task.bytes), now);
    } else {
      machine.failing().failed(task, cause, running, now);
      ready(hold);
    }
    if (hold.state != OwnedShardState.RUNNING) {
      machine.step(hold, now);
      tellOwned();
    }
  }

  /** Whether most messages fail, so that one at a time is tried. */
  public boolean breakerOpen() {
    return machine.failing().breakerOpen();
  }

  /**
   * The log has taken outcomes.
   *
   * @param noRoom offsets of those that it has no room for
   */
  public void recorded(
      OwnedShard hold, DataCommand.RecordOutcomes command, List<Long> noRoom, long now) {
    machine.recorded(hold, command, noRoom, now);
    tellOwned();
  }

  public void recordFailed(
      OwnedShard hold, DataCommand.RecordOutcomes command, RefusedException refused, long now) {
    machine.recordFailed(hold, command, refused, now);
    tellOwned();
  }

  public void retriesFetched(OwnedShard hold, RetryRequest request, RetryAnswer answer, long now) {
    machine.retriesFetched(hold, request, answer, now);
    tellOwned();
  }

  public void retriesFailed(
      OwnedShard hold, RetryRequest request, RefusedException refused, long now) {
    machine.retriesFailed(hold, request, refused, now);
    tellOwned();
  }

  /** The lease's epoch is open for what handlers publish. */
  public void publisherOpened(OwnedShard hold, long producerId, int groups, long now) {
    machine.publisherOpened(hold, producerId, groups, now);
    tellOwned();
  }

  public void publisherFailed(OwnedShard hold, RefusedException refused, long now) {
    machine.publisherFailed(hold, refused, now);
    tellOwned();
  }

  /**
   * The log has answered what handlers published.
   *
   * @param results one for each batch, in order
   */
  public void published(OwnedShard hold, PublishRequest request, List<Result> results, long now) {
    if (hold.state.over()) {
      return;
    }
    List<Task> whole = new ArrayList<>();
    beginAnew(hold, machine.publishing().answered(hold, request, results, whole, now), now);
    whole.forEach(task -> over(task, now));
    machine.publishing().step(hold, now);
  }

  public void publishFailed(
      OwnedShard hold, PublishRequest request, RefusedException refused, long now) {
    if (!hold.state.over()) {
      beginAnew(hold, machine.publishing().failed(hold, request, refused, now), now);
    }
  }

  /** What can never be published: the next assignment begins with what is committed. */
  private void beginAnew(OwnedShard hold, RefusedException why, long now) {
    if (why != null) {
      machine.lose(hold, "what its handlers publish is refused: " + why, now);
      tellOwned();
    }
  }

  public void leaseRead(OwnedShard hold, Lease lease, long now) {
    machine.leaseRead(hold, lease, now);
    tellOwned();
  }

  public void leaseFailed(OwnedShard hold, RefusedException refused, long now) {
    machine.leaseFailed(hold, refused, now);
    tellOwned();
  }

  public void assignDone(OwnedShard hold, Throwable failure, long now) {
    machine.assignDone(hold, failure, now);
  }

  public void fetched(OwnedShard hold, FetchRequest request, FetchAnswer answer, long now) {
    machine.fetched(hold, request, answer, now);
  }

  public void fetchFailed(
      OwnedShard hold, FetchRequest request, RefusedException refused, long now) {
    machine.fetchFailed(hold, request, refused, now);
    tellOwned();
  }

  public void committed(OwnedShard hold, long offset) {
    machine.committed(hold, offset);
  }

  public void commitFailed(OwnedShard hold, RefusedException refused, long now) {
    machine.commitFailed(hold, refused, now);
    tellOwned();
  }

  public void stateGiven(OwnedShard hold, byte[] state, Throwable failure, long now) {
    machine.stateGiven(hold, state, failure, now);
  }

  public void released(OwnedShard hold) {
    machine.released(hold);
    tellOwned();
  }

  public void releaseFailed(OwnedShard hold, RefusedException refused, long now) {
    machine.releaseFailed(hold, refused, now);
    tellOwned();
  }

  /** The connection was lost, or is there again. */
  public void link(boolean up, long now) {
    fence.link(up);
    machine.link(up);
    if (!up) {
      return;
    }
    for (OwnedShard hold : shards.all()) {
      // Whatever was on its way when the connection broke is not awaited.
      hold.fetch = null;
      hold.fetchRetryMillis = now;
      hold.commitRetryMillis = now;
      hold.retries.linkUp(now);
      if (hold.state == OwnedShardState.ATTACHING || hold.state == OwnedShardState.RELEASING) {
        hold.retryMillis = now;
      }
      machine.step(hold, now);
    }
    actions.add(new ConsumerAction.HeartbeatNow());
  }

  /** To be called every few 10 ms: tries again what is due. */
  public void tick(long now) {
    shards.forgetQuiet();
    for (OwnedShard hold : shards.all()) {
      machine.step(hold, now);
    }
  }

  /** Stops or resumes pulling, as the application wishes. */
  public void pause(boolean on, long now) {
    machine.puller().pause(on);
    if (!on) {
      resumed(now);
    }
  }

  /** Lets go of every shard; {@link #drained} tells when that is done. */
  public void close(long now) {
    close(now, options.getLockTimeMillis());
  }

  /**
   * As {@link #close(long)}.
   *
   * @param withinMillis how long it may take, in all
   */
  public void close(long now, long withinMillis) {
    closing = true;
    lead(lead);
    machine.closeWithin(Math.min(withinMillis, options.getLockTimeMillis()));
    if (shards.count() > 0) {
      // The sooner the dispatcher knows, the sooner others are chosen for what is let go.
      actions.add(new ConsumerAction.HeartbeatNow());
    }
    for (OwnedShard hold : shards.all()) {
      hold.draining = true;
      machine.step(hold, now);
    }
    tellOwned();
  }

  /** Another has this member's place: everything is lost at once. */
  public void replaced(String why, long now) {
    closing = true;
    lead(null);
    for (OwnedShard hold : shards.all()) {
      machine.lose(hold, why, now);
    }
    tellOwned();
  }
}
