package dev.evenkeel.client.internal.consume;

import static dev.evenkeel.client.internal.consume.OwnedShardState.ASSIGNING;
import static dev.evenkeel.client.internal.consume.OwnedShardState.ATTACHING;
import static dev.evenkeel.client.internal.consume.OwnedShardState.DRAINING;
import static dev.evenkeel.client.internal.consume.OwnedShardState.LOST;
import static dev.evenkeel.client.internal.consume.OwnedShardState.RELEASED;
import static dev.evenkeel.client.internal.consume.OwnedShardState.RELEASING;
import static dev.evenkeel.client.internal.consume.OwnedShardState.RUNNING;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallDraining;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallKept;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallPaused;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.Commit;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.FetchRetries;
import dev.evenkeel.client.internal.consume.ConsumerAction.HeartbeatNow;
import dev.evenkeel.client.internal.consume.ConsumerAction.OpenPublisher;
import dev.evenkeel.client.internal.consume.ConsumerAction.Publish;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadParents;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.client.internal.consume.ConsumerAction.ShardRequest;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.RetryAnswer;
import org.slf4j.event.Level;

/**
 * A shard that this consumer owns at one epoch: the state machine of {@link OwnedShardState}, and
 * the parts that do the work. Events come in, {@link ConsumerAction}s go out. {@link #step} does
 * what the state requires next, may be called at any time, and retries what is due. Times are
 * monotonic milliseconds.
 */
final class OwnedShard
    implements ShardHandling.Port,
        ShardReports.Port,
        ShardTakeover.Port,
        ShardTakeover.Former,
        ShardRelease.Port {
  /** The consumer around it. */
  interface Host {
    /** The shard may have messages to hand out. */
    void ready(OwnedShard shard);

    /** The shard is released or lost. */
    void gone(OwnedShard shard);

    /** A message is finished. */
    void finished();

    /** Whether callbacks and handlers may start: nobody else owns what this member owns. */
    boolean mayStart(long now);
  }

  /**
   * The part of a handover's time that is kept for onRelease and the log: 5 s, or a fifth if that
   * is less.
   */
  private static final long RELEASE_MILLIS = 5_000;

  private final Ownership ownership;
  private final Environment environment;
  private final Host host;
  private final ShardLog log;
  final ShardCare care;
  final ShardHandling handling;
  final ShardRetries retries;
  final ShardMessages messages;
  final ShardFetch fetch;
  final ShardCommits commits;
  final ShardFailures failures;
  final ShardReports reports;
  final ShardOutputs outputs;
  final ShardTakeover takeover;
  final ShardRelease release;

  private OwnedShardState state = ATTACHING;

  /** The shard must be given away. */
  private boolean draining;

  /** Nothing begins, because the group is paused. */
  private boolean paused;

  /** See {@link #die}. */
  private boolean dying;

  /** See {@link #finishes()}. */
  private boolean finishes;

  /**
   * The log may still take something else of this epoch, although no answer is awaited any more. A
   * later owner at the same epoch cannot know where to begin: the lease that it reads may change
   * afterwards.
   */
  private boolean spent;

  /** See {@link #stoppedMillis()}. */
  private long stoppedMillis = -1;

  /** See {@link #queued(boolean)}. */
  private boolean queued;

  OwnedShard(Ownership ownership, Environment environment, Host host, ShardTakeover.Start start) {
    this.ownership = ownership;
    this.environment = environment;
    this.host = host;
    spent = start.spent();
    log = new ShardLog(ownership, environment);
    care = new ShardCare(environment, start.crashes());
    handling = new ShardHandling(this, log, environment, care);
    retries = handling.retries;
    messages = handling.messages;
    fetch = handling.fetch;
    commits = handling.commits;
    failures = handling.failures;
    outputs = handling.outputs;
    takeover = new ShardTakeover(this, log, environment, outputs, care.crashes(), start);
    release = new ShardRelease(this, log, environment, messages, commits, takeover);
    reports = new ShardReports(this, environment.claims, handling, takeover);
    paused = environment.isPaused(ownership.shard());
  }

  @Override
  public Ownership ownership() {
    return ownership;
  }

  @Override
  public OwnedShardState state() {
    return state;
  }

  /** The window of the shard; null before it is known where to begin. */
  Window window() {
    return messages.window();
  }

  @Override
  public ShardContext context() {
    Assignment.Origin origin = takeover.origin();
    return new ShardContext(
        ownership.topic(),
        shard().shard(),
        epoch(),
        environment.options.getMember(),
        window() == null ? -1 : window().committed(),
        takeover.generation(),
        origin == null ? 0 : origin.first(),
        origin == null ? 0 : origin.shards());
  }

  @Override
  public boolean writes() {
    return commits.inFlight() || failures.recordsInFlight() > 0;
  }

  @Override
  public boolean quiet() {
    return messages.running() == 0 && !takeover.isBusy() && !release.isBusy();
  }

  @Override
  public boolean inDoubt() {
    return commits.inDoubt() || spent;
  }

  @Override
  public void markSpent() {
    spent = true;
  }

  @Override
  public boolean isDraining() {
    return draining;
  }

  /** Whether a later owner at this epoch would begin messages again. */
  boolean wouldRepeat() {
    return messages.begunOffset() > commits.committed()
        || messages.retriesRunning() > 0
        || !retries.outbox.isEmpty();
  }

  @Override
  public long stoppedMillis() {
    return stoppedMillis;
  }

  /** Notes whether the shard is queued to hand out messages. Returns whether this has changed. */
  boolean queued(boolean on) {
    boolean changed = queued != on;
    queued = on;
    return changed;
  }

  // ---- What the consumer decides

  /** To be called every {@link ConsumerCore#TICK_MILLIS} milliseconds. */
  void tick(long now) {
    messages.look(now);
    step(now);
  }

  @Override
  public void step(long now) {
    if ((state == DRAINING || state == RELEASING) && stoppedMillis < 0) {
      stoppedMillis = now;
    }
    switch (state) {
      case ATTACHING -> takeover.attach(now);
      case ASSIGNING -> assign(now);
      case RUNNING -> run(now);
      case DRAINING -> drain(now);
      case RELEASING -> release.step(now);
      case RELEASED, LOST -> {
        // Nothing more.
      }
    }
  }

  /** Pauses of the group began or ended, perhaps of this shard. */
  void paused(long now) {
    boolean was = paused;
    paused = environment.isPaused(shard());
    if (was == paused || state != RUNNING) {
      return;
    }
    if (paused) {
      fetch.cancel();
      messages.keepBegun(now);
      environment.claims.giveBack(now);
    } else {
      retries.resumed(now);
      host.ready(this);
    }
    environment.act(new CallPaused(context(), paused));
    step(now);
  }

  @Override
  public boolean isPaused() {
    return paused;
  }

  /** The shard must be given away, or no longer. */
  void draining(boolean on, long now) {
    draining = on;
    step(now);
  }

  /**
   * The owner is about to end as one that has died of a message that it has in hand. Nothing more
   * begins. When the log has what was finished, the shard is given away, but not released.
   *
   * @return false if the shard is released all the same: no message comes again
   */
  boolean die(long now) {
    dying = !environment.atMostOnce && works();
    if (dying) {
      environment.claims.stay(handling, now);
    }
    return dying;
  }

  @Override
  public boolean isDying() {
    return dying;
  }

  void linkUp(long now) {
    fetch.linkUp(now);
    commits.linkUp(now);
    retries.linkUp(now);
    takeover.linkUp(now);
    release.linkUp(now);
    step(now);
  }

  @Override
  public void ready() {
    host.ready(this);
  }

  @Override
  public void finished() {
    host.finished();
  }

  @Override
  public boolean mayStart(long now) {
    return host.mayStart(now);
  }

  @Override
  public void lose(String why, long now) {
    if (state.over()) {
      return;
    }
    if (stoppedMillis < 0) {
      stoppedMillis = now;
    }
    reportUnhandled();
    boolean givenAway = release.isSent();
    end(givenAway ? RELEASED : LOST, now);
    if (!givenAway) {
      log.warn(" is lost: " + why);
      if (takeover.assignCalled()) {
        environment.act(new CallLost(context()));
      }
    }
  }

  @Override
  public void released(long now) {
    end(RELEASED, now);
    environment.act(new HeartbeatNow());
  }

  private void end(OwnedShardState end, long now) {
    state = end;
    fetch.cancel();
    messages.dropNotStarted(now);
    outputs.clear(stoppedMillis, now);
    environment.claims.giveBack(now);
    host.gone(this);
  }

  @Override
  public void attached(long offset, long emptyStateOffset, long now) {
    messages.begin(offset);
    care.begin(takeover.leaseCommitted());
    if (care.applies()) {
      String deaths = ": " + care.crashes().count() + " owners died without progress, ";
      log.warn(deaths + "so its messages are handled one by one for a while");
    }
    commits.begin(offset, emptyStateOffset, now);
    if (inDoubt()) {
      // The next epoch begins where the last write of this one left off: the log refuses later
      // ones.
      log.warn(" is released: it was lost under this epoch, and goes on under the next");
    }
    state = draining || inDoubt() ? RELEASING : ASSIGNING;
    step(now);
  }

  private void assign(long now) {
    if (takeover.assigned()) {
      state = RUNNING;
      step(now);
    } else if (!draining) {
      takeover.assign(now);
    } else if (!takeover.isBusy()) {
      state = RELEASING;
      step(now);
    }
  }

  // ---- RUNNING

  private void run(long now) {
    if (draining) {
      state = DRAINING;
      stoppedMillis = now;
      fetch.cancel();
      messages.keepBegun(now);
      environment.claims.giveBack(now);
      if (!dying) {
        environment.claims.leave(handling, now);
      }
      // With at most once, what is committed may begin now, although the group is paused.
      host.ready(this);
      if (messages.running() > 0 || mayClose()) {
        environment.act(new CallDraining(context()));
      }
      step(now);
      return;
    }
    wake(now);
    failures.step(now);
    outputs.step(now);
    if (paused) {
      failures.dropGivenBack(now);
      commits.step(false, now);
      return;
    }
    if (isFinished()) {
      // Nothing will come any more: whoever waits for this shard may go on.
      finishes = true;
      stoppedMillis = now;
      fetch.cancel();
      state = RELEASING;
      step(now);
      return;
    }
    fetch.step(now);
    commits.step(false, now);
  }

  /** Whether the shard is sealed, and nothing is left to do in it. */
  private boolean isFinished() {
    return fetch.isAtSealedEnd()
        && window().committed() >= fetch.logEnd()
        && messages.pending() == 0
        && quiet()
        && !writes()
        && retries.isIdle()
        && environment.linkUp();
  }

  private void wake(long now) {
    if (messages.wake(now) || messages.isHeldBack() || messages.isCareful()) {
      host.ready(this);
    }
  }

  @Override
  public boolean finishes() {
    return finishes;
  }

  // ---- Answers

  @Override
  public void answered(ShardRequest<?> request, Answer<?> answer, long now) {
    if (request instanceof CallAssign) {
      takeover.assignDone(answer.failure(), now);
    } else if (request instanceof CallRelease) {
      release.stateGiven((byte[]) answer.value(), answer.failure(), now);
    } else if (answer.failure() == null) {
      taken(request, answer.value(), now);
    } else {
      refused(request, RefusedException.of(answer.failure()), now);
    }
  }

  private void taken(ShardRequest<?> request, Object answer, long now) {
    if (request instanceof Fetch fetch) {
      this.fetch.fetched(fetch.request(), (FetchAnswer) answer, now);
    } else if (request instanceof Commit commit) {
      commits.committed(commit.command().offset());
    } else if (request instanceof RecordOutcomes record) {
      failures.recorded(record.command(), (Reply) answer, now);
    } else if (request instanceof FetchRetries retries) {
      failures.retriesFetched(retries.request(), (RetryAnswer) answer, now);
    } else if (request instanceof Publish publish) {
      outputs.published(publish.request(), ((AppendResults) answer).results(), now);
    } else if (request instanceof ReadLease) {
      takeover.leaseRead((Lease) answer, now);
    } else if (request instanceof ReadParents) {
      takeover.parentRead((Lease) answer, now);
    } else if (request instanceof OpenPublisher) {
      takeover.publisherOpened((ConsumerAction.Opened) answer, now);
    } else if (request instanceof Release) {
      release.released(now);
    }
  }

  private void refused(ShardRequest<?> request, RefusedException refused, long now) {
    if (request instanceof Fetch fetch) {
      this.fetch.fetchFailed(fetch.request(), refused, now);
    } else if (request instanceof Commit) {
      commits.commitFailed(refused, now);
    } else if (request instanceof RecordOutcomes record) {
      failures.recordFailed(record.command(), refused, now);
    } else if (request instanceof FetchRetries retries) {
      failures.retriesFailed(retries.request(), refused, now);
    } else if (request instanceof Publish publish) {
      outputs.publishFailed(publish.request(), refused, now);
    } else if (request instanceof ReadLease) {
      takeover.leaseFailed(refused, now);
    } else if (request instanceof ReadParents) {
      takeover.parentFailed(refused, now);
    } else if (request instanceof OpenPublisher) {
      takeover.publisherFailed(refused, now);
    } else if (request instanceof Release) {
      release.releaseFailed(refused, now);
    }
  }

  // ---- DRAINING

  private void drain(long now) {
    if (!draining) {
      // What has begun goes on; what was dropped is fetched again.
      state = RUNNING;
      stoppedMillis = -1;
      handling.resumed();
      retries.resumed(now);
      ShardContext shard = context();
      environment.act(new CallKept(shard));
      environment.act(new CallPaused(shard, paused));
      host.ready(this);
    } else if (dying ? unsettled() && !tooLate(now) : closes(now) || runs(now)) {
      wake(now);
      failures.step(now);
      outputs.step(now);
      commits.step(true, now);
      return;
    } else if (dying) {
      lose("its owner ends with messages in hand, as if it had died", now);
      return;
    } else {
      reportUnhandled();
      if (messages.handledTop() > window().committed()) {
        release.stateMissing();
        reportHoles();
      }
      fetch.cancel();
      messages.dropNotStarted(now);
      state = RELEASING;
    }
    step(now);
  }

  /** Whether the log has not all that became of its messages. */
  private boolean unsettled() {
    return !retries.outbox.isEmpty() || window().committed() > commits.committed();
  }

  /** Whether the handover waits for messages that do not run. */
  private boolean closes(long now) {
    return (mayClose() || !retries.outbox.isEmpty()) && !tooLate(now);
  }

  /**
   * Whether a message may start before the handover ends. With at most once, that may be a message
   * that a commit under way names, or one of whose commit the answer was lost: nobody else would
   * handle it.
   */
  private boolean mayClose() {
    return !givesBack() && (!window().whole() || commits.claimedLeft() > 0);
  }

  /** Messages above it are done. */
  @Override
  public boolean waitsFor(Task task, long now) {
    boolean hole = !task.retry && task.offset < messages.handledTop();
    return hole && !givesBack() && !tooLate(now);
  }

  /** Whether messages are left to the next owner. */
  private boolean givesBack() {
    // With at most once, nobody else handles what is committed.
    boolean leaves = paused && !environment.atMostOnce;
    return messages.givenBack() || environment.isFaulty() || leaves || dying;
  }

  /**
   * Whether the handover no longer waits for failing messages: the rest of its time is for
   * onRelease.
   */
  boolean tooLate(long now) {
    long max = environment.releaseMillisMax();
    return now - stoppedMillis >= max - Math.min(RELEASE_MILLIS, max / 5);
  }

  /** Whether handlers run, or what they published is under way. */
  private boolean runs(long now) {
    if (givesBack() || tooLate(now)) {
      outputs.giveUp(now);
    }
    return messages.running() > 0;
  }

  private void reportHoles() {
    String released = ": released at offset " + window().committed();
    String twice = "; of those up to " + messages.handledTop() + " some come twice";
    boolean keepsState = environment.handler.keepsState();
    if (handling.waitsForRate()) {
      log.warn(released + ", where messages wait for their rate" + twice);
    } else if (!keepsState && givesBack()) {
      log.info(released + ", where messages were given back" + twice);
    } else {
      String why = ", because the message there could not be handled" + twice;
      log.report(
          keepsState ? Level.ERROR : Level.WARN,
          released + (keepsState ? " and without state" : "") + why,
          null);
    }
  }

  /** With at most once: warns of committed messages that nobody will handle. */
  private void reportUnhandled() {
    long left = commits.claimedLeft();
    if (left > 0) {
      String from = " messages from offset " + window().committed();
      log.warn(": up to " + left + from + " on were committed, and are not handled");
    }
  }

  @Override
  public String toString() {
    return ownership.toString();
  }
}
