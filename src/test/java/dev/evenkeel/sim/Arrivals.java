package dev.evenkeel.sim;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;

/** Hears what the log takes of messages. */
interface Arrivals {
  /**
   * The log has said that it has a batch of messages that are not delayed.
   *
   * @param before the shard's end before that
   * @param after and now
   * @param told the offset in the answer to the producer
   */
  void taken(AppendBody.Item item, long before, long after, long told);

  /** It keeps a batch until that is due. */
  void delayed(Batch batch);

  /**
   * It has given offsets to a batch that was delayed.
   *
   * @param clockMillis the leader's
   */
  void delivered(Shard shard, Batch batch, long base, long clockMillis);

  /**
   * It has a batch that a handler has published.
   *
   * @param told the offset in the answer to the consumer whose handler published
   */
  void published(Shard to, Batch batch, long told);
}
