package dev.evenkeel.client;

import io.vertx.core.Future;
import io.vertx.core.Handler;

/**
 * A member of a group at work, made by {@link EvenkeelClient#consumer}. Its methods may be called
 * from any thread.
 */
public interface Consumer {
  /** Name of this member in its group: as the options say, else made up. */
  String member();

  /** Shards owned now. */
  int ownedShards();

  /** Messages finished by this run. */
  long consumed();

  /**
   * Stops pulling; what was pulled is still handled. In mode level, where messages are dealt and
   * not pulled, no further one is begun; the group waits for this member then, until it is set
   * aside.
   */
  void pause();

  /** Pulls again after {@link #pause}. */
  void resume();

  /**
   * Reads a topic no more. Its shards are released as in a handover. If no other member of the
   * group reads the topic, the group forgets it, with committed offsets, state, retries and dead
   * letters there, and retention waits for this group no more. A consumer that subscribes to it
   * again begins as in a new group.
   *
   * <p>Completes once that is done: with true if the group has forgotten the topic, with false if
   * another member reads it. Fails with INVALID if the consumer does not read the topic, or no
   * other: then close it, and delete the group if it shall not come back. Fails with a retriable
   * refusal if it is not known whether the topic is forgotten; it is not read any more all the
   * same.
   */
  Future<Boolean> unsubscribe(String topic);

  /**
   * Called once if the consumer ends against its will: another took its name (MEMBER_REPLACED), or
   * the group runs with other settings (GROUP_MISMATCH). It holds nothing any more then.
   */
  Consumer onEnd(Handler<Throwable> handler);

  /** Called when shards were gained or lost, with how many are owned now. */
  Consumer onAssignment(Handler<Integer> handler);

  /**
   * Finishes what runs, releases every shard, commits, leaves the group. It takes the lock time at
   * most; what is not released by then is another's at once. In mode level: finishes what runs,
   * tells the dealer, leaves the group; what was dealt and not begun is dealt to others.
   */
  Future<Void> close();

  /** Like {@link #close()}, within {@code timeoutMillis} if that is less than the lock time. */
  Future<Void> close(long timeoutMillis);
}
