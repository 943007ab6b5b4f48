package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * What an application does as the one leader of its group, in mode singleton. Of all members one
 * leads: it gets every message of every topic that it reads; the others wait, connected, to take
 * its place. Methods are called on the consumer's context and must not block; each is over when its
 * future completes.
 *
 * <pre>
 *   elected          all shards granted           another is elected, close, or a reset of all
 * standby ------> inaugurate ------> execute ... ------> handOver ------> standby
 *                     |                 |                    |
 *                     `-----------------+--------------------`--- fenced: lost ---> standby
 * </pre>
 *
 * The next leader's {@link #inaugurate} begins only after this one's {@link #handOver} has ended,
 * or after the lock time, or when this one is taken for dead. After the latter two this one may
 * still be at work and not know it: it can commit nothing any more, and {@link
 * LeaderContext#term()} keeps it from writing elsewhere.
 */
public interface LeaderCareer {
  /** What becomes of messages whose {@link #execute} runs when this member is to hand over. */
  enum AtHand {
    /** They are finished first; then {@link #handOver} is called. */
    FINISH,
    /**
     * {@link #handOver} is called at once; what has not ended when it ends goes to the next leader,
     * and however it ends does not count.
     */
    CUT
  }

  /**
   * Called before the first message. If it fails it is called again after 1, 2, 5, 10, 20 and then
   * every 30 seconds, while this member leads.
   */
  Future<Void> inaugurate(LeaderContext context);

  /** Handles a message. A failed future means that it is tried again. */
  Future<Void> execute(Delivery message);

  /**
   * Called after the last message, once for each {@link #inaugurate} that ended well. Within the
   * lock time, with what {@link #execute} still takes, or the next leader does not wait for it. A
   * failure is logged, and hands over all the same.
   */
  Future<Void> handOver(LeaderContext context);

  /**
   * Called instead of the end of {@link #handOver} if the leadership was lost without it: another
   * may lead already.
   */
  default void lost(LeaderContext context) {}

  /** By default {@link AtHand#FINISH}. */
  default AtHand atHand() {
    return AtHand.FINISH;
  }
}
