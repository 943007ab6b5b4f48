package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * What an application does while it leads its group, in mode singleton. One member leads and gets
 * every message of the topics that it reads. The others are standbys: they stay connected and wait
 * to take its place. Pass a career to {@link EvenkeelClient#leader}.
 *
 * <p>All methods are called on the consumer's context and must not block. Each call has ended when
 * its future completes, on any thread. With {@link ConsumerOptions#setWorker}, the methods that
 * return futures are called on worker threads and may block.
 *
 * <pre>
 *   elected          all shards granted           another is elected, close, or a reset of all
 * standby ------> inaugurate ------> execute ... ------> handOver ------> standby
 *                     |                 |                    |
 *                     `-----------------+--------------------`--- fenced: lost ---> standby
 * </pre>
 *
 * The next leader's {@link #inaugurate} begins only after this leader's {@link #handOver} has
 * ended, or after the lock time, or when this leader is taken for dead. In the last two cases this
 * leader may still be at work without knowing. It can commit nothing any more, and other systems
 * can refuse it by {@link LeaderContext#term()}.
 */
public interface LeaderCareer {
  /** What happens to messages whose {@link #execute} runs when this member is to hand over. */
  enum AtHand {
    /** They are finished first; then {@link #handOver} is called. */
    FINISH,
    /**
     * {@link #handOver} is called at once. A message that has not ended when {@link #handOver} ends
     * goes to the next leader, and its result here is ignored.
     */
    CUT
  }

  /**
   * Called before the first message of a leadership. If it fails, it is called again after 1, 2, 5,
   * 10, 20 and then every 30 seconds, as long as this member leads.
   */
  Future<Void> inaugurate(LeaderContext context);

  /**
   * Handles a message. If the future fails or the method throws, the message is tried again. The
   * next message begins when this one has ended, over all shards, unless {@link #isSerial} says
   * otherwise.
   */
  Future<Void> execute(Delivery message);

  /**
   * Called when the leadership ends, after the last message (see {@link #atHand}), once for each
   * {@link #inaugurate} that succeeded. The lock time covers it and every {@link #execute} that
   * still runs; after that the next leader no longer waits. If it fails, the failure is logged and
   * the handover goes on.
   */
  Future<Void> handOver(LeaderContext context);

  /**
   * Called if the leadership was lost before {@link #handOver} has ended: another member may lead
   * already. Does nothing by default.
   */
  default void lost(LeaderContext context) {}

  /**
   * Whether one {@link #execute} runs at a time, over all shards; by default true. Then {@link
   * ConsumerOptions#setParallel} has no effect, and a message waits also for one that was {@link
   * AtHand#CUT cut} in an earlier term of this member and still runs. With false, several messages
   * run at once, as the options order and parallel say.
   */
  default boolean isSerial() {
    return true;
  }

  /** What happens to messages that run at the end, by default {@link AtHand#FINISH}. */
  default AtHand atHand() {
    return AtHand.FINISH;
  }
}
