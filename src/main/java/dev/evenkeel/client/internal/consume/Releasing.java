package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.function.Consumer;

/** What a hold does in RELEASING: it asks the handler for its state, then tells the log. */
final class Releasing {
  /** What a refused release means. */
  enum Refused {
    /** It is tried again later. */
    AGAIN,
    /** An earlier try, whose answer was lost, has been taken, and the shard given on since. */
    TAKEN,
    /** The shard was another's before. */
    LOST
  }

  private static final byte[] NO_STATE = new byte[0];

  private final ConsumerOptions options;
  private final Reports reports;
  private final Consumer<ConsumerAction> out;

  /** Without onRelease: state comes with messages, and none does not mean the empty one. */
  private final boolean stateByCommits;

  Releasing(
      ConsumerOptions options,
      boolean stateByCommits,
      Reports reports,
      Consumer<ConsumerAction> out) {
    this.options = options;
    this.stateByCommits = stateByCommits;
    this.reports = reports;
    this.out = out;
  }

  void step(OwnedShard hold, boolean linkUp, long now) {
    if (hold.busy) {
      return;
    }
    if (!hold.releaseReady && hold.assigned) {
      if (!hold.releaseAsked) {
        hold.releaseAsked = true;
        hold.busy = true;
        out.accept(new ConsumerAction.CallRelease(hold, hold.context(options.getMember())));
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
    byte[] given = hold.releaseState;
    long stateOffset = state ? offset : -1;
    if (!state && hold.keptOffset >= 0) {
      given = hold.keptState;
      stateOffset = hold.keptOffset;
    } else if (!state && hold.assigned && hold.markOffset >= 0) {
      // The empty state: of here if the handler has none, of where it began if its state is lost.
      given = NO_STATE;
      stateOffset = hold.stateMissing || stateByCommits ? hold.markOffset : done;
    }
    out.accept(
        new ConsumerAction.Release(
            hold,
            new DataCommand.Release(
                options.getGroup(), hold.shard, hold.epoch, offset, stateOffset, given)));
  }

  /**
   * @param state what onRelease gave; null or empty: none
   * @param failure why onRelease failed, or null
   */
  void stateGiven(OwnedShard hold, byte[] state, Throwable failure) {
    hold.releaseReady = true;
    if (hold.stateMissing) {
      // It has messages above the released offset in it, or none that the next owner needs.
      return;
    }
    if (failure != null) {
      hold.stateMissing = true;
      reports.error(hold + ": onRelease failed, so it is released without state", failure);
    } else if (state != null && state.length > Limits.STATE_BYTES_MAX) {
      hold.stateMissing = true;
      reports.error(
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
  }

  Refused failed(OwnedShard hold, RefusedException refused, long now) {
    if (refused.refusal() == Refusal.FENCED) {
      if (hold.releaseTries > 1) {
        return Refused.TAKEN;
      }
      hold.releaseSent = false;
      return Refused.LOST;
    }
    if (!refused.refusal().retriable() && hold.releaseState != null) {
      hold.releaseState = null;
      hold.stateMissing = true;
      reports.error(hold + ": its state was refused, so it is released without state", refused);
    }
    hold.retryMillis = now + reports.pause(hold, "it cannot be released", refused);
    return Refused.AGAIN;
  }
}
