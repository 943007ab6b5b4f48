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
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.ConsumerAction.Performer;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.List;
import org.slf4j.event.Level;

/**
 * A shard that this consumer owns at one epoch: the state machine of {@link OwnedShardState}, and
 * the parts that do the work. Events come in, {@link ConsumerAction}s go out. {@link #step} does
 * what the state requires next, may be called at any time, and retries what is due. Whoever carries
 * out an action reports the outcome to a public method here, or of a public part, however late.
 * Times are monotonic milliseconds.
 */
public final class OwnedShard {
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
   * What is known of the shard when it is granted.
   *
   * @param predecessor an earlier owner of the same shard in this consumer, some of whose handlers
   *     may still run; or null
   * @param spent nothing may begin under this epoch any more: the shard is only released
   * @param committed the committed offset that the grant found, or -1 if the lease must be read for
   *     it
   * @param origin where its keys come from, or null
   * @param crashes owners that died before, or null
   * @param skipped what was dropped before the group had consumed it, or null
   */
  record Start(
      OwnedShard predecessor,
      boolean spent,
      long committed,
      Assignment.Origin origin,
      Crashes crashes,
      Skipped skipped) {}

  /**
   * The part of a handover's time that is kept for onRelease and the log: 5 s, or a fifth if that
   * is less.
   */
  private static final long RELEASE_MILLIS = 5_000;

  private final Ownership ownership;
  final Environment environment;
  final Host host;
  final ShardLog log;
  final ShardCare care;
  final ShardHandling handling;
  final ShardRetries retries;
  final ShardMessages messages;
  final ShardFetch fetch;
  final ShardCommits commits;
  final ShardFailures failures;
  final ShardReports reports;

  /** What its handlers publish. */
  public final ShardOutputs outputs;

  /** What it does in the states ATTACHING and ASSIGNING. */
  public final ShardTakeover takeover;

  /** What it does in the state RELEASING. */
  public final ShardRelease release;

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

  OwnedShard(Ownership ownership, Environment environment, Host host, Start start) {
    this.ownership = ownership;
    this.environment = environment;
    this.host = host;
    spent = start.spent;
    log = new ShardLog(ownership, environment);
    care = new ShardCare(environment, start.crashes);
    handling = new ShardHandling(this);
    retries = handling.retries;
    messages = handling.messages;
    fetch = new ShardFetch(this);
    commits = new ShardCommits(this);
    failures = new ShardFailures(this);
    reports = new ShardReports(this);
    outputs = new ShardOutputs(this);
    takeover = new ShardTakeover(this, start);
    paused = environment.isPaused(ownership.shard());
    release = new ShardRelease(this);
  }

  public Ownership ownership() {
    return ownership;
  }

  public Shard shard() {
    return ownership.shard();
  }

  long epoch() {
    return ownership.epoch();
  }

  OwnedShardState state() {
    return state;
  }

  /** The window of the shard; null before it is known where to begin. */
  Window window() {
    return messages.window();
  }

  /** What the log knew of owners that died when the shard was granted; null: nothing. */
  public Crashes crashes() {
    return care.crashes();
  }

  /** What callbacks of the handler get. */
  ShardContext context() {
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

  /** Whether writes to the log are under way, so that the lease may change. */
  boolean writes() {
    return commits.inFlight() || failures.recordsInFlight() > 0;
  }

  /** Whether no handler, callback or request of the shard is under way. */
  boolean quiet() {
    return messages.running() == 0 && !takeover.isBusy() && !release.isBusy();
  }

  /**
   * Whether the log may take something of this epoch at any time, although no answer is awaited any
   * more.
   */
  boolean inDoubt() {
    return commits.inDoubt() || spent;
  }

  /** See {@link #inDoubt}: nothing may begin under this epoch any more. */
  void markSpent() {
    spent = true;
  }

  /** Whether the shard must be given away. */
  boolean isDraining() {
    return draining;
  }

  /** Whether a later owner at this epoch would begin messages again. */
  boolean wouldRepeat() {
    return messages.begunOffset() > commits.committed()
        || messages.retriesRunning() > 0
        || !retries.outbox.isEmpty();
  }

  /** Since when no handler of the shard starts any more, or -1. */
  long stoppedMillis() {
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

  /** Does what the state requires now. */
  void step(long now) {
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
    ShardContext shard = context();
    boolean on = paused;
    if (on) {
      fetch.cancel();
      messages.keepBegun(now);
      environment.claims.giveBack(now);
    } else {
      retries.resumed(now);
      host.ready(this);
    }
    environment.act(by -> by.callPaused(shard, on));
    step(now);
  }

  /** Whether nothing begins, because the group is paused. */
  boolean isPaused() {
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

  boolean isDying() {
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

  /** Fetching may go on. */
  void resume(long now) {
    if (state == RUNNING && !paused) {
      fetch.step(now);
    }
  }

  /**
   * The shard has another owner, or may have one: nothing of it starts or is committed any more.
   */
  void lose(String why, long now) {
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
        ShardContext lost = context();
        environment.act(by -> by.callLost(lost));
      }
    }
  }

  /** The log has taken the release. */
  void released(long now) {
    end(RELEASED, now);
    environment.act(Performer::heartbeatNow);
  }

  private void end(OwnedShardState end, long now) {
    state = end;
    fetch.cancel();
    messages.dropNotStarted(now);
    outputs.clear(stoppedMillis, now);
    environment.claims.giveBack(now);
    host.gone(this);
  }

  /** Loses the shard if a refusal says that it is another's. */
  boolean fenced(RefusedException refused, long now) {
    boolean fenced = refused.refusal() == Refusal.FENCED;
    if (fenced) {
      lose(refused.getMessage(), now);
    }
    return fenced;
  }

  /**
   * It is known where to begin.
   *
   * @param emptyStateOffset where the empty state stands that this owner begins with, or -1
   */
  void attached(long offset, long emptyStateOffset, long now) {
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
        ShardContext shard = context();
        environment.act(by -> by.callDraining(shard));
      }
      step(now);
      return;
    }
    wake(now);
    failures.step(state, now);
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

  /** Whether messages are handed out one by one, because owners died. */
  boolean isCareful() {
    return window() != null && care.applies();
  }

  /** Handlers that run, and messages whose outputs are under way. */
  private int running() {
    return messages.running() - outputs.held();
  }

  /** Whether nothing of the shard runs, and the log has all of its progress and outcomes. */
  boolean isIdle() {
    return running() == 0
        && !messages.anyInAdmission()
        && retries.outbox.isEmpty()
        && window().committed() <= commits.committed();
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
    if (messages.wake(now) || messages.isHeldBack() || isCareful()) {
      host.ready(this);
    }
  }

  /** Whether the shard hands out messages and commits progress. */
  boolean works() {
    return state == RUNNING || state == DRAINING;
  }

  /** Whether it is released because the shard is sealed, and nothing is left to do. */
  boolean finishes() {
    return finishes;
  }

  /** Whether the last fetch brought no messages, or there was none. */
  public boolean isQuiet() {
    return fetch.isQuiet();
  }

  /** A fetch was answered. */
  public void fetched(FetchRequest request, FetchAnswer answer, long now) {
    if (fetch.ended(request) && state == RUNNING && !paused) {
      if (fetch.accept(answer, now)) {
        host.ready(this);
      }
      step(now);
    }
  }

  /** A fetch failed. */
  public void fetchFailed(FetchRequest request, RefusedException refused, long now) {
    if (fetch.ended(request) && state == RUNNING && !fenced(refused, now)) {
      fetch.failed(refused, now);
      step(now);
    }
  }

  /** The log has taken a commit. */
  public void committed(long offset) {
    boolean careful = isCareful();
    commits.taken(offset);
    care.committed(offset);
    if (state.over()) {
      return;
    }
    if (environment.atMostOnce) {
      messages.startableTo(offset);
    }
    if (environment.atMostOnce || careful) {
      host.ready(this);
    }
  }

  /** A commit failed, or its answer was lost. */
  public void commitFailed(RefusedException refused, long now) {
    commits.ended(refused);
    if (works() && !fenced(refused, now)) {
      commits.failed(refused, now);
    }
  }

  /**
   * The log has taken outcomes.
   *
   * @param noRoom offsets of those that it has no room for
   */
  public void recorded(DataCommand.RecordOutcomes command, List<Long> noRoom, long now) {
    failures.recordEnded();
    if (works()) {
      failures.recorded(command, noRoom, now);
      host.ready(this);
      step(now);
    }
  }

  /** Outcomes could not be recorded, or the answer was lost. */
  public void recordFailed(DataCommand.RecordOutcomes command, RefusedException refused, long now) {
    failures.recordEnded();
    spent |= refused.refusal() == Refusal.INDETERMINATE;
    if (works() && !fenced(refused, now)) {
      failures.recordFailed(command, refused, now);
    }
  }

  /** A request for retries was answered. */
  public void retriesFetched(RetryRequest request, RetryAnswer answer, long now) {
    if (state == RUNNING) {
      failures.retriesFetched(request, answer, now);
      host.ready(this);
      step(now);
    }
  }

  /** A request for retries failed. */
  public void retriesFailed(RetryRequest request, RefusedException refused, long now) {
    if (state == RUNNING && !fenced(refused, now)) {
      failures.retriesFailed(request, now);
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
      boolean on = paused;
      environment.act(by -> by.callKept(shard));
      environment.act(by -> by.callPaused(shard, on));
      host.ready(this);
    } else if (dying ? unsettled() && !tooLate(now) : closes(now) || runs(now)) {
      wake(now);
      failures.step(state, now);
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

  /** Whether the handover waits for a message that has not begun: messages above it are done. */
  boolean waitsFor(Task task, long now) {
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
