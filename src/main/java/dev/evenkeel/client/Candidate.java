package dev.evenkeel.client;

import io.vertx.core.Future;
import io.vertx.core.Handler;

/**
 * A candidate of an election, made by {@link EvenkeelClient#election}. It leads, or waits to lead.
 * All methods may be called from any thread.
 */
public interface Candidate {
  /** Name of this candidate in its election: as the options say, or generated. */
  String member();

  /** Whether this candidate leads for sure, now; see {@link LeaderContext#isLeading}. */
  boolean isLeading();

  /** The present leadership of this candidate; null: it does not lead, as far as it knows. */
  LeaderContext leadership();

  /** Hands over if this candidate leads; see {@link LeaderContext#resign}. */
  void resign();

  /**
   * Sets the handler that is called once, on the candidate's context, if the candidate ends
   * although nobody closed it. It does not come back by itself. The cause is a {@code
   * RefusedException}: MEMBER_REPLACED if another candidate took its name, GROUP_MISMATCH if a
   * group of consumers has the name of the election, UNAVAILABLE if the connection was closed. If
   * the candidate has ended already, the handler is called soon.
   */
  Candidate onEnd(Handler<Throwable> handler);

  /**
   * Leaves the election. If this candidate leads, it waits for {@link ElectionCareer#execute}, and
   * then calls {@link ElectionCareer#handOver}; both take no longer than the lock time. Never
   * fails. Closing twice has no further effect.
   */
  Future<Void> close();
}
