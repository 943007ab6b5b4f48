package dev.evenkeel.consumer;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Limits;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The transitions of {@link HoldState}: an event about a hold comes in, actions go out. {@link
 * #step} says what a state wants next and may be called at any time; whatever must be tried again
 * is tried by the step of a later tick. Times are monotonic milliseconds.
 */
final class HoldMachine {
  /** Two commits of a shard are this far apart, so that a fast consumer does not flood the log. */
  static final long COMMIT_GAP_MILLIS = 50;

  /** A fetch that brought nothing, and did not wait either, is not repeated sooner. */
  private static final long EMPTY_GAP_MILLIS = 100;

  /** What the machine needs of the consumer around it. */
  interface Owner {
    /** The hold has something to hand out, perhaps. */
    void ready(Hold hold);

    /** The hold is over. */
    void gone(Hold hold);

    /** How many shards are held. */
    int holds();

    /** Pulling may go on for all shards. */
    void resumed(long now);
  }

  private final ConsumerOptions options;
  private final String instance;
  private final boolean keepsState;
  private final FlowControl flow;
  private final RandomGenerator random;
  private final Owner owner;
  private final Consumer<Action> out;
  private boolean linkUp = true;
  private boolean paused;

  HoldMachine(
      ConsumerOptions options,
      String instance,
      boolean keepsState,
      FlowControl flow,
      RandomGenerator random,
      Owner owner,
      Consumer<Action> out) {
    this.options = options;
    this.instance = instance;
    this.keepsState = keepsState;
    this.flow = flow;
    this.random = random;
    this.owner = owner;
    this.out = out;
  }

  void link(boolean up) {
    linkUp = up;
  }

  void pause(boolean on) {
    paused = on;
  }

  /** Does what the hold's state wants now. */
  void step(Hold hold, long now) {
    switch (hold.state) {
      case ATTACHING -> attach(hold, now);
      case ASSIGNING -> assign(hold, now);
      case RUNNING -> run(hold, now);
      case DRAINING -> drain(hold, now);
      case RELEASING -> release(hold, now);
      case RELEASED, LOST -> {
        // Nothing more.
      }
    }
  }

  // ATTACHING

  private void attach(Hold hold, long now) {
    if (hold.predecessor != null) {
      if (!hold.predecessor.quiet()) {
        return;
      }
      hold.predecessor = null;
    }
    if (!hold.busy && linkUp && now >= hold.retryMillis) {
      hold.busy = true;
      out.accept(new Action.ReadLease(hold));
    }
  }

  void leaseRead(Hold hold, Lease lease, long now) {
    hold.busy = false;
    if (hold.state != HoldState.ATTACHING) {
      return;
    }
    if (lease.epoch() < hold.epoch) {
      // The node that answered has not applied the grant yet.
      hold.retryMillis = now + Backoff.soon(random);
      return;
    }
    if (!lease.heldAt(hold.epoch) || !instance.equals(lease.instance())) {
      lose(hold, "the log says: " + lease.withoutState());
      return;
    }
    boolean given = keepsState && lease.state() != null && lease.stateOffset() >= 0;
    hold.leaseCommitted = lease.committed();
    hold.givenState = given ? lease.state() : null;
    hold.begin(given ? lease.stateOffset() : lease.committed());
    hold.lastCommitMillis = now;
    hold.state = hold.draining ? HoldState.RELEASING : HoldState.ASSIGNING;
    step(hold, now);
  }

  void leaseFailed(Hold hold, RefusedException refused, long now) {
    hold.busy = false;
    if (hold.state != HoldState.ATTACHING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage());
    } else {
      hold.retryMillis = now + pause(hold, "its lease cannot be read", refused);
    }
  }

  // ASSIGNING

  private void assign(Hold hold, long now) {
    if (hold.busy) {
      return;
    }
    if (hold.draining) {
      hold.state = HoldState.RELEASING;
      step(hold, now);
    } else if (now >= hold.retryMillis) {
      hold.busy = true;
      hold.assignCalled = true;
      out.accept(new Action.CallAssign(hold, hold.context(options.getMember()), hold.givenState));
    }
  }

  /**
   * @param failure why onAssign failed, or null
   */
  void assignDone(Hold hold, Throwable failure, long now) {
    hold.busy = false;
    if (hold.state != HoldState.ASSIGNING) {
      return;
    }
    if (failure != null) {
      long wait = Backoff.steps(++hold.failures);
      hold.retryMillis = now + wait;
      error(hold + ": onAssign failed, and is tried again in " + wait / 1000 + " s", failure);
    } else {
      hold.failures = 0;
      hold.givenState = null;
      hold.assigned = true;
      hold.state = HoldState.RUNNING;
    }
    step(hold, now);
  }

  // RUNNING

  private void run(Hold hold, long now) {
    if (hold.draining) {
      hold.state = HoldState.DRAINING;
      dropped(hold.dropNotStarted(), now);
      if (hold.running > 0) {
        out.accept(new Action.CallDraining(hold.context(options.getMember())));
      }
      step(hold, now);
      return;
    }
    if (hold.wake(now)) {
      owner.ready(hold);
    }
    fetch(hold, now);
    commitIfDue(hold, now);
  }

  /** Pulls if the hold may. */
  void fetch(Hold hold, long now) {
    if (hold.state != HoldState.RUNNING
        || hold.fetch != null
        || paused
        || !linkUp
        || now < hold.fetchRetryMillis
        || !flow.mayPull(hold.pendingMessages)) {
      return;
    }
    hold.fetchAskedMillis = now;
    hold.fetch =
        new FetchRequest(
            options.getGroup(),
            hold.shard,
            hold.epoch,
            hold.fetchOffset,
            flow.fetchBytes(options.getFetchBytesMax(), owner.holds()),
            options.getFetchWaitMillis());
    out.accept(new Action.Fetch(hold, hold.fetch));
  }

  void fetched(Hold hold, FetchRequest request, FetchAnswer answer, long now) {
    if (hold.fetch != request) {
      return;
    }
    hold.fetch = null;
    if (hold.state == HoldState.RUNNING) {
      accept(hold, answer, now);
      step(hold, now);
    }
  }

  private void accept(Hold hold, FetchAnswer answer, long now) {
    if (answer.batches().isEmpty() && now - hold.fetchAskedMillis < EMPTY_GAP_MILLIS) {
      hold.fetchRetryMillis = now + EMPTY_GAP_MILLIS;
    }
    for (FetchAnswer.Placed placed : answer.batches()) {
      if (placed.endOffset() <= hold.fetchOffset) {
        continue;
      }
      try {
        placed.batch().verified();
      } catch (RefusedException e) {
        unreadable(hold, Math.max(placed.baseOffset(), hold.fetchOffset), e, now);
        return;
      }
      if (placed.baseOffset() > hold.fetchOffset) {
        skipped(hold, placed.baseOffset());
      }
      long messages = hold.add(placed);
      flow.added(messages, messages * Backlog.share(placed));
      hold.reported = null;
      owner.ready(hold);
    }
  }

  /** A batch turned out to be malformed inside: it and what came after it are dropped. */
  void malformed(Hold hold, RefusedException e, long now) {
    dropped(hold.dropBacklog(), now);
    unreadable(hold, hold.fetchOffset, e, now);
  }

  /** Data that cannot be read is never handed out: the shard waits, visibly, and fetches again. */
  private void unreadable(Hold hold, long offset, RefusedException e, long now) {
    if (hold.corruptOffset != offset) {
      hold.corruptOffset = offset;
      hold.failures = 0;
      error(
          hold
              + ": unreadable batch at offset "
              + offset
              + ", it is fetched again until it is"
              + " readable",
          e);
    }
    hold.fetchRetryMillis = now + Backoff.steps(++hold.failures);
  }

  void fetchFailed(Hold hold, FetchRequest request, RefusedException refused, long now) {
    if (hold.fetch != request) {
      return;
    }
    hold.fetch = null;
    if (hold.state != HoldState.RUNNING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage());
      return;
    }
    long start = refused.refusal() == Refusal.OFFSET_OUT_OF_RANGE ? startOf(refused) : -1;
    if (start > hold.fetchOffset) {
      skipped(hold, start);
      hold.fetchOffset = start;
      if (hold.pendingMessages == 0) {
        // So that the offset is committed even if no further message comes.
        hold.window.skipTo(start);
      }
    } else {
      hold.fetchRetryMillis = now + pause(hold, "it cannot be fetched", refused);
    }
    step(hold, now);
  }

  /** The start of {@code "start..end"}, or -1. */
  private static long startOf(RefusedException refused) {
    String detail = String.valueOf(refused.getMessage());
    int dots = detail.indexOf("..");
    try {
      return dots < 0 ? -1 : Long.parseLong(detail.substring(0, dots).trim());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private void skipped(Hold hold, long to) {
    long count = to - hold.fetchOffset;
    warn(
        hold
            + ": retention has dropped "
            + count
            + " messages before they were consumed, offsets "
            + hold.fetchOffset
            + " to "
            + (to - 1)
            + "; it goes on at "
            + to);
  }

  /** Commits if enough messages or enough time have gone by. */
  void commitIfDue(Hold hold, long now) {
    long progress = hold.window.committed() - hold.committed;
    if (progress <= 0 || hold.commitInFlight || !linkUp || now < hold.commitRetryMillis) {
      return;
    }
    boolean many = progress >= options.getCommitMessages() || hold.state == HoldState.DRAINING;
    long gap = many ? COMMIT_GAP_MILLIS : options.getCommitMillis();
    if (now - hold.lastCommitMillis < gap) {
      return;
    }
    hold.commitInFlight = true;
    hold.lastCommitMillis = now;
    out.accept(
        new Action.Commit(
            hold,
            new DataCommand.Commit(
                options.getGroup(), hold.shard, hold.epoch, hold.window.committed())));
  }

  void committed(Hold hold, long offset) {
    hold.commitInFlight = false;
    hold.committed = Math.max(hold.committed, offset);
  }

  void commitFailed(Hold hold, RefusedException refused, long now) {
    hold.commitInFlight = false;
    if (hold.state != HoldState.RUNNING && hold.state != HoldState.DRAINING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      lose(hold, refused.getMessage());
    } else {
      hold.commitRetryMillis = now + pause(hold, "its progress cannot be committed", refused);
    }
  }

  // DRAINING

  private void drain(Hold hold, long now) {
    if (hold.running > 0) {
      commitIfDue(hold, now);
      return;
    }
    if (hold.draining) {
      hold.state = HoldState.RELEASING;
    } else {
      hold.state = HoldState.RUNNING;
      hold.rewind();
    }
    step(hold, now);
  }

  // RELEASING

  private void release(Hold hold, long now) {
    if (hold.busy) {
      return;
    }
    if (!hold.releaseReady && hold.assigned) {
      if (!hold.releaseAsked) {
        hold.releaseAsked = true;
        hold.busy = true;
        out.accept(new Action.CallRelease(hold, hold.context(options.getMember())));
      }
      return;
    }
    if (!linkUp || now < hold.retryMillis) {
      return;
    }
    hold.busy = true;
    hold.releaseSent = true;
    hold.releaseTries++;
    // Without state the progress of an owner before us may be ahead of where our state made us
    // begin. With state, state and position are one.
    boolean state = hold.releaseState != null;
    long done = hold.window.committed();
    long offset = state ? done : Math.max(done, hold.leaseCommitted);
    out.accept(
        new Action.Release(
            hold,
            new DataCommand.Release(
                options.getGroup(),
                hold.shard,
                hold.epoch,
                offset,
                state ? offset : -1,
                hold.releaseState)));
  }

  /**
   * @param state what onRelease gave; null or empty: none
   * @param failure why onRelease failed, or null
   */
  void stateGiven(Hold hold, byte[] state, Throwable failure, long now) {
    hold.busy = false;
    if (hold.state != HoldState.RELEASING) {
      return;
    }
    hold.releaseReady = true;
    if (failure != null) {
      error(hold + ": onRelease failed, so it is released without state", failure);
    } else if (state != null && state.length > Limits.STATE_BYTES_MAX) {
      error(
          hold
              + ": onRelease gave a state of "
              + state.length
              + " bytes, at most "
              + Limits.STATE_BYTES_MAX
              + " are allowed, so it is released without state",
          null);
    } else if (state != null && state.length > 0) {
      hold.releaseState = state;
    }
    step(hold, now);
  }

  void released(Hold hold) {
    hold.busy = false;
    if (hold.state == HoldState.RELEASING) {
      end(hold, HoldState.RELEASED);
      out.accept(new Action.HeartbeatNow());
    }
  }

  void releaseFailed(Hold hold, RefusedException refused, long now) {
    hold.busy = false;
    if (hold.state != HoldState.RELEASING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      if (hold.releaseTries > 1) {
        // An earlier try, whose answer was lost, has been taken, and the shard given on since.
        released(hold);
      } else {
        hold.releaseSent = false;
        lose(hold, refused.getMessage());
      }
      return;
    }
    if (!refused.refusal().retriable() && hold.releaseState != null) {
      hold.releaseState = null;
      error(hold + ": its state was refused, so it is released without state", refused);
    }
    hold.retryMillis = now + pause(hold, "it cannot be released", refused);
  }

  // Anywhere

  /** The shard is another's, or may be: nothing of it is started or committed any more. */
  void lose(Hold hold, String why) {
    if (hold.state.over()) {
      return;
    }
    // A release on its way may have been taken: then the log has heard all there is to say.
    boolean letGo = hold.releaseSent;
    end(hold, letGo ? HoldState.RELEASED : HoldState.LOST);
    if (!letGo) {
      warn(hold + " is lost: " + why);
      if (hold.assignCalled) {
        out.accept(new Action.CallLost(hold.context(options.getMember())));
      }
    }
  }

  private void end(Hold hold, HoldState end) {
    Hold.Dropped rest = hold.dropNotStarted();
    hold.state = end;
    flow.removed(rest.messages(), rest.bytes());
    owner.gone(hold);
  }

  /** Takes messages that are not to be handled out of the consumer's books. */
  void dropped(Hold.Dropped dropped, long now) {
    if (flow.removed(dropped.messages(), dropped.bytes())) {
      owner.resumed(now);
    }
  }

  /** How long to wait after a refusal; says once what is wrong if waiting alone may not help. */
  private long pause(Hold hold, String what, RefusedException refused) {
    if (refused.refusal().retriable()) {
      return Backoff.soon(random);
    }
    reportOnce(hold, hold + ": " + what + " (" + refused + "), it is tried again", null);
    return Backoff.steps(1);
  }

  private void reportOnce(Hold hold, String text, Throwable cause) {
    if (!text.equals(hold.reported)) {
      hold.reported = text;
      error(text, cause);
    }
  }

  private void error(String text, Throwable cause) {
    out.accept(new Action.Report(true, text, cause));
  }

  private void warn(String text) {
    out.accept(new Action.Report(false, text, null));
  }
}
