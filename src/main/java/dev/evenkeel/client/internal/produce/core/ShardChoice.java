package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.Router;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Murmur2;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the shard of a message: by the router if there is one, else by its key, else the same
 * shard until a batch of it is full and then the next one.
 */
public final class ShardChoice {
  private final @Nullable Router router;
  private int sticky;

  /**
   * @param router null: murmur2 of the key, or round robin by batch for messages without one
   */
  public ShardChoice(@Nullable Router router) {
    this.router = router;
  }

  /**
   * @throws RefusedException INVALID if the router failed, or gave a shard that is not there
   */
  public int of(Message message, int shards) {
    if (router != null) {
      int shard = routed(router, message, shards);
      if (shard < 0 || shard >= shards) {
        throw new RefusedException(
            Refusal.INVALID,
            "the router gave shard " + shard + ": the topic has 0 to " + (shards - 1));
      }
      return shard;
    }
    return message.key() != null ? Murmur2.shard(message.key(), shards) : sticky;
  }

  /** A router that fails for one message must not stop the other messages. */
  private int routed(Router router, Message message, int shards) {
    try {
      return router.route(message, shards);
    } catch (RuntimeException e) {
      throw new RefusedException(Refusal.INVALID, "the router failed: " + e);
    }
  }

  /** A batch of {@code shard} was closed. */
  public void closed(int shard, int shards) {
    if (shard == sticky) {
      sticky = (sticky + 1) % shards;
    }
  }

  /**
   * There is a topic, the first or another. Many short runs with a message each must not all use
   * the same shard.
   *
   * @param random from 0 to 1
   */
  public void restart(int shards, double random) {
    sticky = Math.min(shards - 1, (int) (random * shards));
  }
}
