package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** Gives one owned shard away: asks the handler for its state, then releases it in the log. */
final class ShardRelease {
  /** What a refused release means. */
  enum Refused {
    /** It is tried again later. */
    AGAIN,
    /** An earlier try, whose answer was lost, has been taken, and the shard given on since. */
    TAKEN,
    /** The shard was another's before. */
    LOST
  }

  private static final byte[] EMPTY_STATE = new byte[0];

  private final ShardScope scope;
  private final Environment environment;

  private boolean asked;
  private boolean ready;

  /** A release may have been taken: then the log has heard all there is to say. */
  private boolean sent;

  private int tries;
  private byte[] state;

  /** The handler could not give its state, or that would not stand for the released offset. */
  private boolean stateMissing;

  ShardRelease(ShardScope scope) {
    this.scope = scope;
    environment = scope.environment;
  }

  boolean sent() {
    return sent;
  }

  /** The state has messages above the released offset in it: the next owner cannot use it. */
  void stateMissing() {
    stateMissing = true;
  }

  /** Returns true once: whether onRelease is to be called now. */
  boolean asksForState() {
    boolean first = !asked;
    asked = true;
    return first;
  }

  boolean ready() {
    return ready;
  }

  /**
   * Releases the shard.
   *
   * @param done everything below is done
   * @param leaseCommitted of the lease when it was read; it never goes back
   * @param assigned whether onAssign has ended well
   */
  void send(long done, long leaseCommitted, boolean assigned, ShardCommits commits) {
    sent = true;
    tries++;
    // Without state the progress of an owner before us may be ahead of where our state made us
    // begin. With state, state and position are one.
    boolean own = state != null;
    long offset = own ? done : Math.max(done, leaseCommitted);
    byte[] given = state;
    long stateOffset = own ? offset : -1;
    if (!own && commits.stateOffset() >= 0) {
      given = commits.state();
      stateOffset = commits.stateOffset();
    } else if (!own && assigned && commits.emptyStateOffset() >= 0) {
      // The empty state: of here if the handler has none, of where it began if its state is lost.
      // Without onRelease, state comes with messages, and none does not mean the empty one.
      boolean byCommits = environment.effectivelyOnce && !environment.handler.givesState();
      given = EMPTY_STATE;
      stateOffset = stateMissing || byCommits ? commits.emptyStateOffset() : done;
    }
    DataCommand.Release command =
        new DataCommand.Release(
            environment.options.getGroup(),
            scope.ownership.shard(),
            scope.ownership.epoch(),
            offset,
            stateOffset,
            given);
    environment.act(by -> by.release(scope.owned, command));
  }

  /** See {@link ShardEvents#stateGiven}. */
  void stateGiven(byte[] given, Throwable failure) {
    ready = true;
    if (stateMissing) {
      return;
    }
    if (failure != null) {
      stateMissing = true;
      scope.error(": onRelease failed, so it is released without state", failure);
    } else if (given != null && given.length > Limits.STATE_BYTES_MAX) {
      stateMissing = true;
      String size = given.length + " bytes, at most " + Limits.STATE_BYTES_MAX + " are allowed";
      scope.error(
          ": onRelease gave a state of " + size + ", so it is released without state", null);
    } else if (given != null && given.length > 0) {
      state = given;
    }
  }

  Refused refused(RefusedException refused) {
    if (refused.refusal() == Refusal.FENCED) {
      sent = tries > 1;
      return sent ? Refused.TAKEN : Refused.LOST;
    }
    if (!refused.refusal().retriable() && state != null) {
      state = null;
      stateMissing = true;
      scope.error(": its state was refused, so it is released without state", refused);
    }
    return Refused.AGAIN;
  }
}
