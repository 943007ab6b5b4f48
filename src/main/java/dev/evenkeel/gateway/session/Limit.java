package dev.evenkeel.gateway.session;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** The limits for which something is refused, as metrics name them. */
enum Limit {
  CONNECTIONS,
  HALF_OPEN,
  REQUESTS,
  SESSION_BYTES,
  NODE_BYTES,
  ARRIVING_BYTES,
  LISTENING;

  /** OVERLOADED because of a limit. */
  static final class Reached extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final Limit limit;

    private Reached(Limit limit, String detail) {
      super(Refusal.OVERLOADED, detail);
      this.limit = limit;
    }

    Limit limit() {
      return limit;
    }
  }

  /** The limit as it is divided among users. */
  Reached reached(RefusedException share) {
    return new Reached(this, share.words());
  }

  /**
   * @param state with the value of the limit as {@code %s}
   */
  Reached reached(String state, long value) {
    return new Reached(this, state.formatted(value) + ", its limit: try again after a pause");
  }
}
