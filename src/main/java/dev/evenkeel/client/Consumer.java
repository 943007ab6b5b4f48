package dev.evenkeel.client;

import io.vertx.core.Future;
import io.vertx.core.Handler;

/**
 * A running member of a consumer group, made by {@link EvenkeelClient#consumer}. All methods may be
 * called from any thread. Handlers are called on the consumer's context.
 */
public interface Consumer {
  /** Name of this member in its group: as the options say, or generated if they name none. */
  String member();

  /**
   * How many shards this member owns now. In mode level 0, because members own no shards; in mode
   * broadcast all shards that it reads.
   */
  int ownedShards();

  /** How many messages this member has finished since it was started. */
  long consumed();

  /**
   * How many messages the filter of this member has passed over since it was started. They count as
   * consumed by the group. In mode level always 0, because the filter works in the dispatcher.
   */
  long filtered();

  /**
   * Stops fetching until {@link #resume}. What was fetched is still handled, and the member keeps
   * its shards. In mode level the member begins no message, so the group waits for it until it is
   * set aside.
   */
  void pause();

  /** Fetches again after {@link #pause}. */
  void resume();

  /**
   * Also reads a topic, or all topics that fit a pattern, from now on; see {@link
   * ConsumerOptions#setTopics}. The dispatcher plans who gets the shards. Completes when the group
   * reads the topics that are there now: it gets every message that is sent after that. Fails with
   * {@code RefusedException} INVALID if the consumer reads that already, or is closed, with
   * UNKNOWN_TOPIC if there is no such topic, and with UNAVAILABLE if the cluster does not answer.
   * In the last case the consumer reads the topic as soon as the cluster answers.
   */
  Future<Void> subscribe(String topic);

  /**
   * Stops reading a topic and releases its shards, as in a handover. If no other member of the
   * group reads the topic, the group forgets it: its committed offsets, state, retries and dead
   * letters are deleted, and retention no longer waits for this group. A consumer that subscribes
   * to the topic again begins as in a new group; if it subscribes, or ends, before the group has
   * begun to forget the topic, the group may not do so. Of a pattern that the options name, it
   * stops reading the topics, which keep what the group knows of them. So does a topic that a
   * pattern of the consumer still matches.
   *
   * <p>Completes with true if the group has forgotten the topic, with false if another member reads
   * it, or this one by a pattern. It takes up to the lock time and 30 s more. Fails with {@code
   * RefusedException}:
   *
   * <ul>
   *   <li>INVALID if the consumer does not read the topic, reads no other topic, or is closed. To
   *       leave the only topic, close the consumer.
   *   <li>A retriable refusal if it is not known in time whether the group has forgotten the topic.
   *       The consumer has stopped reading it nevertheless.
   * </ul>
   */
  Future<Boolean> unsubscribe(String topic);

  /**
   * Sets the handler that is called once if the consumer ends although nobody closed it. Then it
   * owns no shards any more and does not come back by itself. The cause is a {@code
   * RefusedException}:
   *
   * <ul>
   *   <li>MEMBER_REPLACED: another member took its name.
   *   <li>GROUP_MISMATCH: the group runs with other settings.
   *   <li>INVALID: a message failed and onFailure is STOP, or the offsets file of mode broadcast is
   *       of another cluster.
   * </ul>
   *
   * <p>It gets the {@link MemberFaultException} with which a handler failed, if there was one.
   *
   * <p>If the consumer has ended already, the handler is called soon. A later handler replaces an
   * earlier one.
   */
  Consumer onEnd(Handler<Throwable> handler);

  /**
   * Sets the handler that is called whenever the number of owned shards changes, with that number.
   * If shards are owned already, it is called soon. A later handler replaces an earlier one.
   */
  Consumer onAssignment(Handler<Integer> handler);

  /**
   * Waits for the handlers that run, commits, releases every shard and leaves the group. It takes
   * no longer than the lock time ({@link ConsumerOptions#setLockTimeMillis}); shards that are not
   * released by then go to other members at once. In mode level, messages that were handed to this
   * member and not begun go to other members.
   *
   * <p>Never fails. Closing twice has no further effect.
   */
  Future<Void> close();

  /**
   * As {@link #close()}, but takes no longer than {@code timeoutMillis}, in milliseconds, if that
   * is less than the lock time.
   */
  Future<Void> close(long timeoutMillis);
}
