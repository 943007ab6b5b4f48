package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * What an application does while it leads an {@link EvenkeelClient#election election}. One
 * candidate leads at a time; the others wait to take its place.
 *
 * <p>All methods are called on the candidate's context and must not block. Each call has ended when
 * its future completes, on any thread. At most one call that returns a future runs at a time, also
 * over several terms.
 *
 * <pre>
 *   elected                          resign, close, or another is elected
 * standby ------> inaugurate ------> execute, execute ... ------> handOver ------> standby
 *                     |                   |                           |
 *                     `-------------------+---------------------------`--- lost ---> standby
 * </pre>
 *
 * <p>The next leader's {@link #inaugurate} begins only after this leader's {@link #handOver} has
 * ended, or after the lock time, or when this leader is taken for dead or replaced by a later
 * candidate of its name. In these cases this leader may still be at work without knowing. Other
 * systems can refuse it by {@link LeaderContext#term()}.
 */
public interface ElectionCareer {
  /**
   * Called before the first {@link #execute} of a term. If it fails, it is called again after 1, 2,
   * 5, 10, 20 and then every 30 seconds, as long as this candidate leads. By default nothing is to
   * do.
   */
  default Future<Void> inaugurate(LeaderContext context) {
    return Future.succeededFuture();
  }

  /**
   * Works as the leader. It is called again and again until the term ends: the next time when the
   * future has completed and {@link ElectionOptions#setPauseMillis the pause} is over. No call
   * begins when the last answered heartbeat was sent too long ago; see {@link
   * LeaderContext#isLeading}. If it fails, the failure is logged, and it is called again after the
   * pause, and after 1 s at least.
   */
  Future<Void> execute(LeaderContext context);

  /**
   * Called when the term ends, after the last {@link #execute}, once for each {@link #inaugurate}
   * that succeeded. The lock time covers it and the {@link #execute} that still runs; after that
   * the next leader no longer waits. If it fails, the failure is logged and the handover goes on.
   * By default nothing is to do.
   */
  default Future<Void> handOver(LeaderContext context) {
    return Future.succeededFuture();
  }

  /**
   * Called if the term was lost before {@link #handOver} has ended: another candidate may lead
   * already. A call that still runs is awaited before this candidate begins again. Does nothing by
   * default.
   */
  default void lost(LeaderContext context) {}
}
