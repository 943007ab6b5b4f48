package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The transitions of {@link OwnedShardState}: an event about a hold comes in, actions go out.
 * {@link #step} says what a state wants next and may be called at any time; whatever must be tried
 * again is tried by the step of a later tick. Times are monotonic milliseconds.
 */
final class ShardLifecycle {
  /** What the machine needs of the consumer around it. */
  interface Owner {
    /** The hold has something to hand out, perhaps. */
    void ready(OwnedShard hold);

    /** The hold is over. */
    void gone(OwnedShard hold);

    /** How many shards are held. */
    int holds();

    /** Pulling may go on for all shards. */
    void resumed(long now);

    /** Whether the application may be given anything: nobody else owns what this member holds. */
    boolean mayStart(long now);
  }

  /** What is kept of a hand-over's time for onRelease and the log: 5 s, or a fifth of less. */
  private static final long RELEASE_MILLIS = 5_000;

  private final ConsumerOptions options;
  private final String instance;
  private final boolean keepsState;
  private final boolean marksState;
  private final boolean publishes;
  private final boolean atMostOnce;
  private final FlowControl flow;
  private final RandomGenerator random;
  private final Owner owner;
  private final Consumer<ConsumerAction> out;
  private final Reports reports;
  private final Puller puller;
  private final Releasing releasing;
  private final Failing failing;
  private final Publishing publishing;

  /** Whether shards may begin: in mode singleton all of them were granted at the present term. */
  private boolean open;

  /** Mode singleton: the last term of which that was told. */
  private long openTerm;

  private boolean linkUp = true;
  private long closeHolesMillisMax;

  ShardLifecycle(
      ConsumerOptions options,
      String instance,
      boolean keepsState,
      boolean givesState,
      boolean publishes,
      FlowControl flow,
      RandomGenerator random,
      Owner owner,
      Consumer<ConsumerAction> out) {
    this.options = options;
    this.instance = instance;
    this.keepsState = keepsState;
    this.publishes = publishes;
    ConsumerOptions.DeliveryPolicy delivery = options.getDelivery();
    boolean effectivelyOnce = delivery == ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE;
    atMostOnce = delivery == ConsumerOptions.DeliveryPolicy.AT_MOST_ONCE;
    marksState = keepsState && (givesState || effectivelyOnce);
    this.flow = flow;
    this.random = random;
    this.owner = owner;
    this.out = out;
    reports = new Reports(random, out);
    puller = new Puller(options, flow, owner, reports, out);
    releasing = new Releasing(options, effectivelyOnce && !givesState, reports, out);
    publishing = new Publishing(reports, out);
    FailurePolicy policy =
        new FailurePolicy(options, keepsState || givesState || publishes, random);
    failing = new Failing(options, policy, puller, reports, random, out);
    closeWithin(options.getLockTimeMillis());
    open = options.getMode() != ConsumerOptions.Mode.SINGLETON;
  }

  /**
   * Mode singleton: nothing begins before all shards were granted, or the former leader might still
   * hold one. What is granted later at the same term begins at once.
   *
   * @param lead null: this member does not lead
   */
  void lead(Assignment.Lead lead) {
    if (options.getMode() == ConsumerOptions.Mode.SINGLETON) {
      openTerm = lead != null && lead.whole() ? lead.term() : openTerm;
      open = lead != null && lead.term() == openTerm;
    }
  }

  /**
   * Bounds how long a hand-over waits for failing messages: the rest is left to onRelease and to
   * the log.
   */
  void closeWithin(long millis) {
    closeHolesMillisMax = millis - Math.min(RELEASE_MILLIS, millis / 5);
  }

  /** Whether shards may begin, and those that have begun go on. */
  boolean open() {
    return open;
  }

  /** The part that moves data. */
  Puller puller() {
    return puller;
  }

  /** The part that deals with failures. */
  Failing failing() {
    return failing;
  }

  /** The part that publishes for handlers. */
  Publishing publishing() {
    return publishing;
  }

  void link(boolean up) {
    linkUp = up;
    publishing.link(up);
    puller.link(up);
    failing.link(up);
  }

  /** Does what the hold's state wants now. */
  void step(OwnedShard hold, long now) {
    boolean stopping =
        hold.state == OwnedShardState.DRAINING || hold.state == OwnedShardState.RELEASING;
    if (stopping && hold.stoppedMillis < 0) {
      hold.stoppedMillis = now;
    }
    switch (hold.state) {
      case ATTACHING -> attach(hold, now);
      case ASSIGNING -> assign(hold, now);
      case RUNNING -> run(hold, now);
      case DRAINING -> drain(hold, now);
      case RELEASING -> releasing.step(hold, linkUp, now);
      case RELEASED, LOST -> {
        // Nothing more.
      }
    }
  }

  // ATTACHING

  private void attach(OwnedShard hold, long now) {
    if (hold.predecessor != null) {
      // A commit or a failure of the same epoch would be taken after the lease was read: this hold
      // would not know what has become of messages from which it begins.
      boolean same = hold.predecessor.epoch == hold.epoch;
      if (same && hold.predecessor.writes() || !hold.predecessor.quiet()) {
        return;
      }
      hold.doubt.inherit(same && hold.predecessor.doubt.exists());
      hold.predecessor = null;
    }
    if (!keepsState && !publishes && !options.isHoldFailed() && hold.grantedCommitted >= 0) {
      // State is in the log alone, and so is the generation, which a level dispatcher needs. Where
      // to begin without them came with the assignment; should that be of a grant that is over, the
      // first request with its epoch is refused.
      attached(hold, hold.grantedCommitted, now);
    } else if (!hold.busy && linkUp && now >= hold.retryMillis) {
      hold.busy = true;
      out.accept(new ConsumerAction.ReadLease(hold));
    }
  }

  void leaseRead(OwnedShard hold, Lease lease, long now) {
    hold.busy = false;
    if (hold.state != OwnedShardState.ATTACHING) {
      return;
    }
    if (lease.epoch() < hold.epoch) {
      // The node that answered has not applied the grant yet.
      hold.retryMillis = now + Backoff.soon(random);
      return;
    }
    if (!lease.heldAt(hold.epoch) || !instance.equals(lease.instance())) {
      lose(hold, "the log says: " + lease.withoutState(), now);
      return;
    }
    boolean given = keepsState && lease.state() != null && lease.stateOffset() >= 0;
    boolean empty = given && lease.state().length == 0;
    hold.givenState = given && !empty ? lease.state() : null;
    // The empty state stands where the first owner that keeps state begins: an owner after a crash
    // needs all messages from there. Once told, the log keeps it.
    hold.markOffset =
        empty ? lease.stateOffset() : marksState && lease.state() == null ? lease.committed() : -1;
    hold.leaseCommitted = lease.committed();
    hold.generation = lease.generation().number();
    hold.beginOffset = given ? lease.stateOffset() : lease.committed();
    if (publishes && !hold.draining && !hold.doubt.exists()) {
      // Nothing is handled before everything that a former owner may still send is fenced.
      hold.busy = true;
      out.accept(new ConsumerAction.OpenPublisher(hold, lease.generation().producerId()));
    } else {
      attached(hold, hold.beginOffset, now);
    }
  }

  /**
   * The lease's epoch may publish.
   *
   * @param groups number of data groups
   */
  void publisherOpened(OwnedShard hold, long producerId, int groups, long now) {
    hold.busy = false;
    if (hold.state == OwnedShardState.ATTACHING) {
      hold.outputs = new PublishQueue(producerId, Math.toIntExact(hold.epoch), groups);
      attached(hold, hold.beginOffset, now);
    }
  }

  void publisherFailed(OwnedShard hold, RefusedException refused, long now) {
    hold.busy = false;
    if (hold.state != OwnedShardState.ATTACHING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED || refused.refusal() == Refusal.PRODUCER_FENCED) {
      lose(hold, refused.getMessage(), now);
    } else {
      hold.retryMillis = now + reports.pause(hold, "its handlers cannot publish yet", refused);
    }
  }

  private void attached(OwnedShard hold, long offset, long now) {
    hold.leaseCommitted = Math.max(hold.leaseCommitted, offset);
    hold.begin(offset);
    failing.begin(hold);
    if (atMostOnce) {
      hold.claims();
    }
    hold.lastCommitMillis = now;
    if (hold.doubt.exists()) {
      // The next epoch begins where this one's last word was, for the log refuses any after it.
      reports.warn(hold + " is released: it was lost under this epoch, and goes on under the next");
    }
    boolean release = hold.draining || hold.doubt.exists();
    hold.state = release ? OwnedShardState.RELEASING : OwnedShardState.ASSIGNING;
    step(hold, now);
  }

  void leaseFailed(OwnedShard hold, RefusedException refused, long now) {
    hold.busy = false;
    if (hold.state != OwnedShardState.ATTACHING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage(), now);
    } else {
      hold.retryMillis = now + reports.pause(hold, "its lease cannot be read", refused);
    }
  }

  // ASSIGNING

  private void assign(OwnedShard hold, long now) {
    if (hold.busy) {
      return;
    }
    if (hold.draining) {
      hold.state = OwnedShardState.RELEASING;
      step(hold, now);
    } else if (owner.mayStart(now) && now >= hold.retryMillis) {
      // An assignment may come late, to a process that stood still: another may own the shard.
      hold.busy = true;
      hold.assignCalled = true;
      out.accept(
          new ConsumerAction.CallAssign(hold, hold.context(options.getMember()), hold.givenState));
    }
  }

  /**
   * @param failure why onAssign failed, or null
   */
  void assignDone(OwnedShard hold, Throwable failure, long now) {
    hold.busy = false;
    if (hold.state != OwnedShardState.ASSIGNING) {
      return;
    }
    if (failure != null) {
      long wait = Backoff.steps(++hold.failures);
      hold.retryMillis = now + wait;
      reports.error(
          hold + ": onAssign failed, and is tried again in " + wait / 1000 + " s", failure);
    } else {
      hold.failures = 0;
      hold.givenState = null;
      hold.assigned = true;
      hold.state = OwnedShardState.RUNNING;
    }
    step(hold, now);
  }

  // RUNNING

  private void run(OwnedShard hold, long now) {
    if (hold.draining) {
      hold.state = OwnedShardState.DRAINING;
      puller.dropped(hold.keepBegun(now), now);
      if (hold.running > 0 || hold.mayClose()) {
        out.accept(new ConsumerAction.CallDraining(hold.context(options.getMember())));
      }
      step(hold, now);
      return;
    }
    if (hold.wake(now)) {
      owner.ready(hold);
    }
    failing.step(hold, now);
    publishing.step(hold, now);
    puller.fetch(hold, now);
    puller.commitIfDue(hold, now);
  }

  void fetched(OwnedShard hold, FetchRequest request, FetchAnswer answer, long now) {
    if (hold.fetch != request) {
      return;
    }
    hold.fetch = null;
    if (hold.state == OwnedShardState.RUNNING) {
      puller.accept(hold, answer, now);
      step(hold, now);
    }
  }

  void fetchFailed(OwnedShard hold, FetchRequest request, RefusedException refused, long now) {
    if (hold.fetch != request) {
      return;
    }
    hold.fetch = null;
    if (hold.state != OwnedShardState.RUNNING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage(), now);
      return;
    }
    puller.failed(hold, refused, now);
    step(hold, now);
  }

  void committed(OwnedShard hold, long offset) {
    hold.commitInFlight = false;
    hold.doubt.commitTaken();
    hold.committed = Math.max(hold.committed, offset);
    hold.keptTaken = Math.max(hold.keptTaken, hold.keptSent);
    if (hold.atMostOnce() && !hold.state.over()) {
      hold.claimed = Math.max(hold.claimed, offset);
      owner.ready(hold);
    }
  }

  void commitFailed(OwnedShard hold, RefusedException refused, long now) {
    hold.commitInFlight = false;
    hold.doubt.commitFailed(refused);
    if (hold.state != OwnedShardState.RUNNING && hold.state != OwnedShardState.DRAINING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage(), now);
    } else {
      hold.commitRetryMillis =
          now + reports.pause(hold, "its progress cannot be committed", refused);
    }
  }

  /** Whether a refusal says that the shard is another's, which is dealt with. */
  private boolean fenced(OwnedShard hold, RefusedException refused, long now) {
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage(), now);
      return true;
    }
    return false;
  }

  void recorded(OwnedShard hold, DataCommand.RecordOutcomes command, List<Long> noRoom, long now) {
    hold.recordsInFlight--;
    if (hold.state == OwnedShardState.RUNNING || hold.state == OwnedShardState.DRAINING) {
      failing.recorded(hold, command, noRoom, now);
      owner.ready(hold);
      step(hold, now);
    }
  }

  void recordFailed(
      OwnedShard hold, DataCommand.RecordOutcomes command, RefusedException refused, long now) {
    hold.recordsInFlight--;
    hold.doubt.failed(refused);
    boolean awaited =
        hold.state == OwnedShardState.RUNNING || hold.state == OwnedShardState.DRAINING;
    if (awaited && !fenced(hold, refused, now)) {
      failing.recordFailed(hold, command, refused, now);
    }
  }

  void retriesFetched(OwnedShard hold, RetryRequest request, RetryAnswer answer, long now) {
    if (hold.state == OwnedShardState.RUNNING) {
      failing.retriesFetched(hold, request, answer, now);
      owner.ready(hold);
      step(hold, now);
    }
  }

  void retriesFailed(OwnedShard hold, RetryRequest request, RefusedException refused, long now) {
    if (hold.state == OwnedShardState.RUNNING && !fenced(hold, refused, now)) {
      failing.retriesFailed(hold, request, refused, now);
    }
  }

  // DRAINING

  private void drain(OwnedShard hold, long now) {
    if (!hold.draining) {
      // What was begun goes on; what was dropped is fetched again.
      hold.state = OwnedShardState.RUNNING;
      hold.stoppedMillis = -1;
      hold.givenBack = false;
      hold.waitsForRate = false;
      hold.retries.resumed(now);
      out.accept(new ConsumerAction.CallKept(hold.context(options.getMember())));
      owner.ready(hold);
    } else if (closes(hold, now) || runs(hold, now)) {
      if (hold.wake(now)) {
        owner.ready(hold);
      }
      failing.step(hold, now);
      publishing.step(hold, now);
      puller.commitIfDue(hold, now);
      return;
    } else {
      tellUnhandled(hold);
      if (hold.handledTop() > hold.window.committed()) {
        hold.stateMissing = true;
        reportHoles(hold);
      }
      puller.dropped(hold.dropNotStarted(), now);
      hold.state = OwnedShardState.RELEASING;
    }
    step(hold, now);
  }

  /** Whether it is worth waiting for messages that do not run. */
  private boolean closes(OwnedShard hold, long now) {
    return (hold.mayClose() || !hold.retries.outbox.isEmpty()) && !tooLate(hold, now);
  }

  /**
   * Whether handlers run, or outputs of theirs are on their way. What waits for the outputs of a
   * message that begins no more would wait for ever: it goes to the next owner, and was not sent.
   */
  private boolean runs(OwnedShard hold, long now) {
    if (hold.outputs != null && (hold.givenBack || tooLate(hold, now))) {
      hold.outputs.giveUp(hold.window, hold.running).forEach(task -> hold.givenUp(task, now));
    }
    return hold.running > 0;
  }

  private void reportHoles(OwnedShard hold) {
    String released = hold + ": released at offset " + hold.window.committed();
    String twice = "; of those up to " + hold.handledTop() + " some come twice";
    if (hold.waitsForRate) {
      reports.warn(released + ", where messages wait for their rate" + twice);
    } else if (!keepsState && hold.givenBack) {
      reports.info(released + ", where messages were given back" + twice);
    } else if (!keepsState) {
      reports.warn(released + ", because the message there could not be handled" + twice);
    } else {
      reports.error(
          released + " and without state, because the message there could not be handled" + twice,
          null);
    }
  }

  /** With at most once: what nobody will handle. */
  private void tellUnhandled(OwnedShard hold) {
    long left = hold.window == null ? 0 : hold.claimedLeft();
    if (left > 0) {
      reports.warn(
          hold
              + ": up to "
              + left
              + " messages from offset "
              + hold.window.committed()
              + " on were committed, and are not handled");
    }
  }

  private boolean tooLate(OwnedShard hold, long now) {
    return now - hold.stoppedMillis >= closeHolesMillisMax;
  }

  // RELEASING

  /**
   * @param state what onRelease gave; null or empty: none
   * @param failure why onRelease failed, or null
   */
  void stateGiven(OwnedShard hold, byte[] state, Throwable failure, long now) {
    hold.busy = false;
    if (hold.state == OwnedShardState.RELEASING) {
      releasing.stateGiven(hold, state, failure);
      step(hold, now);
    }
  }

  void released(OwnedShard hold) {
    hold.busy = false;
    if (hold.state == OwnedShardState.RELEASING) {
      hold.releaseTaken = true;
      end(hold, OwnedShardState.RELEASED);
      out.accept(new ConsumerAction.HeartbeatNow());
    }
  }

  void releaseFailed(OwnedShard hold, RefusedException refused, long now) {
    hold.busy = false;
    hold.doubt.failed(refused);
    if (hold.state != OwnedShardState.RELEASING) {
      return;
    }
    switch (releasing.failed(hold, refused, now)) {
      case TAKEN -> released(hold);
      case LOST -> lose(hold, refused.getMessage(), now);
      case AGAIN -> {
        // A later step does it.
      }
    }
  }

  // Anywhere

  /** The shard is another's, or may be: nothing of it is started or committed any more. */
  void lose(OwnedShard hold, String why, long now) {
    if (hold.state.over()) {
      return;
    }
    if (hold.stoppedMillis < 0) {
      hold.stoppedMillis = now;
    }
    tellUnhandled(hold);
    // A release on its way may have been taken: then the log has heard all there is to say.
    boolean letGo = hold.releaseSent;
    end(hold, letGo ? OwnedShardState.RELEASED : OwnedShardState.LOST);
    if (!letGo) {
      reports.warn(hold + " is lost: " + why);
      if (hold.assignCalled) {
        out.accept(new ConsumerAction.CallLost(hold.context(options.getMember())));
      }
    }
  }

  private void end(OwnedShard hold, OwnedShardState end) {
    OwnedShard.Dropped rest = hold.dropNotStarted();
    hold.state = end;
    flow.removed(rest.messages(), rest.bytes());
    owner.gone(hold);
  }
}
