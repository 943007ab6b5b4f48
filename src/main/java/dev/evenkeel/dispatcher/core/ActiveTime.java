package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;

/**
 * How long dispatchers have been active, this one and those before it. A group counts as absent
 * only for time in which a dispatcher could have seen it, so absence is measured in this time and
 * not by the clock. It is added up in the meta log, in short steps of time that this dispatcher has
 * lived through. Neither the time between two dispatchers nor a jump of the clock adds anything,
 * and a step that may be lost is not added again: the sum can only be too small.
 */
final class ActiveTime {
  /** How often a step is recorded. */
  static final long STEP_MILLIS = 60_000;

  private final DispatcherState state;
  private long lookedMillis = Long.MIN_VALUE;
  private long lived;
  private boolean inFlight;
  private boolean known;
  private long millis;

  ActiveTime(DispatcherState state) {
    this.state = state;
  }

  /** To be called every {@link DispatcherSettings#rebalanceMillis}; a longer gap counts as one. */
  void look(long nowMillis) {
    if (lookedMillis != Long.MIN_VALUE) {
      long gap = Math.min(nowMillis - lookedMillis, state.settings.rebalanceMillis());
      lived += Math.max(0, gap);
    }
    lookedMillis = nowMillis;
    if (!inFlight && (!known || lived >= step())) {
      inFlight = true;
      state.out.writeMeta(new MetaCommand.AddActiveTime(lived), (reply, now) -> written(reply));
      lived = 0;
    }
  }

  private long step() {
    return Math.min(STEP_MILLIS, state.settings.groupSeenMillis());
  }

  private void written(Reply reply) {
    inFlight = false;
    if (reply instanceof Reply.OfNumber sum) {
      known = true;
      millis = sum.number();
    }
  }

  /** False until the log has answered with the sum. */
  boolean known() {
    return known;
  }

  /** As the log had it last. */
  long millis() {
    return millis;
  }
}
