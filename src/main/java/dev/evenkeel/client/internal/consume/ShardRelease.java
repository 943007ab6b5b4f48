package dev.evenkeel.client.internal.consume;

import static dev.evenkeel.client.internal.consume.OwnedShardState.RELEASING;

import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/**
 * Releases an owned shard: what it does in the state RELEASING. It calls onRelease for the
 * handler's state, and hands that to the log for the next owner. Times are monotonic milliseconds.
 */
final class ShardRelease {
  private static final byte[] EMPTY_STATE = new byte[0];

  /** The shard around it. */
  interface Port extends ShardPort {
    /** What callbacks of the handler get. */
    ShardContext context();

    /** Whether it is released because the shard is sealed, and nothing is left to do. */
    boolean finishes();

    /** The log has taken the release. */
    void released(long now);
  }

  private final Port shard;
  private final ShardLog log;
  private final Environment environment;
  private final ShardMessages messages;
  private final ShardCommits commits;
  private final ShardTakeover takeover;

  /** A call of onRelease, or a request, is under way. */
  private boolean busy;

  /** The next request is not sent before this time. */
  private long retryMillis;

  /** onRelease has ended. */
  private boolean ready;

  /** How often the release was sent. */
  private int tries;

  private boolean sent;
  private boolean taken;

  /** What onRelease gave, or null. */
  private byte[] givenState;

  /** The handler could not give its state, or the state does not belong to the released offset. */
  private boolean stateMissing;

  ShardRelease(
      Port shard,
      ShardLog log,
      Environment environment,
      ShardMessages messages,
      ShardCommits commits,
      ShardTakeover takeover) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    this.messages = messages;
    this.commits = commits;
    this.takeover = takeover;
  }

  boolean isBusy() {
    return busy;
  }

  /** Whether the log may have taken a release: then it needs nothing more of this owner. */
  boolean isSent() {
    return sent;
  }

  /** Whether the log has taken the release. */
  boolean isTaken() {
    return taken;
  }

  /** The state contains messages above the released offset, so the next owner cannot use it. */
  void stateMissing() {
    stateMissing = true;
  }

  void linkUp(long now) {
    retryMillis = now;
  }

  /** Does what RELEASING requires now. */
  void step(long now) {
    if (busy) {
      return;
    }
    if (!ready && takeover.assigned()) {
      busy = true;
      environment.act(new ConsumerAction.CallRelease(shard, shard.context()));
    } else if (environment.linkUp() && now >= retryMillis) {
      busy = true;
      sent = true;
      tries++;
      environment.act(new ConsumerAction.Release(shard, command()));
    }
  }

  private DataCommand.Release command() {
    long done = messages.window().committed();
    // Without state, the committed offset of an earlier owner may be above the offset of our state,
    // where we began. With state, state and offset belong together.
    boolean own = givenState != null;
    long offset = own ? done : Math.max(done, takeover.leaseCommitted());
    byte[] given = givenState;
    long givenOffset = own ? offset : -1;
    if (!own && commits.stateOffset() >= 0) {
      given = commits.state();
      givenOffset = commits.stateOffset();
    } else if (!own && takeover.assigned() && commits.emptyStateOffset() >= 0) {
      // The empty state: it stands here if the handler has no state, and where it began if its
      // state is lost. Without onRelease, state comes with messages, so no state does not mean the
      // empty one.
      boolean byCommits = environment.effectivelyOnce && !environment.handler.givesState();
      // A sealed shard leaves nothing if no message has changed what it took over: that stays with
      // its parents.
      boolean nothing = shard.finishes() && (byCommits || stateMissing && done == 0);
      if (!nothing) {
        given = EMPTY_STATE;
        givenOffset = stateMissing || byCommits ? commits.emptyStateOffset() : done;
      }
    }
    if (given == null && (!stateMissing || done == 0) && shard.finishes()) {
      givenOffset = DataCommand.Release.FINISHED;
    }
    return new DataCommand.Release(
        environment.options.getGroup(), shard.shard(), shard.epoch(), offset, givenOffset, given);
  }

  /**
   * onRelease has ended.
   *
   * @param given what it gave; null or empty: no state
   * @param failure why it failed, or null
   */
  void stateGiven(byte[] given, Throwable failure, long now) {
    busy = false;
    if (shard.state() == RELEASING) {
      ready = true;
      if (!stateMissing) {
        keep(given, failure);
      }
      step(now);
    }
  }

  private void keep(byte[] given, Throwable failure) {
    if (failure != null) {
      stateMissing = true;
      log.error(": onRelease failed, so it is released without state", failure);
    } else if (given != null && given.length > Limits.STATE_BYTES_MAX) {
      stateMissing = true;
      String size = given.length + " bytes, at most " + Limits.STATE_BYTES_MAX + " are allowed";
      log.error(": onRelease gave a state of " + size + ", so it is released without state", null);
    } else if (given != null && given.length > 0) {
      givenState = given;
    }
  }

  /** The log has taken the release. */
  void released(long now) {
    busy = false;
    if (shard.state() == RELEASING) {
      taken = true;
      shard.released(now);
    }
  }

  /** The release was refused, or its answer was lost. */
  void releaseFailed(RefusedException refused, long now) {
    busy = false;
    if (refused.refusal() == Refusal.INDETERMINATE) {
      shard.markSpent();
    }
    if (shard.state() != RELEASING) {
      return;
    }
    if (refused.refusal() == Refusal.FENCED) {
      // Perhaps the log took an earlier try whose answer was lost, and the shard has another owner
      // since. Else it had another owner before.
      sent = tries > 1;
      if (sent) {
        released(now);
      } else {
        shard.lose(refused.getMessage(), now);
      }
      return;
    }
    if (!refused.refusal().retriable() && givenState != null) {
      givenState = null;
      stateMissing = true;
      log.error(": its state was refused, so it is released without state", refused);
    }
    retryMillis = now + log.pause("it cannot be released", refused);
  }
}
