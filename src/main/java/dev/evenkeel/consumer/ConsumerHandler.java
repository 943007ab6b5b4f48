package dev.evenkeel.consumer;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;

/**
 * What an application does with messages. Methods are called on the consumer's context and must not
 * block; each is over when its future completes.
 */
@FunctionalInterface
public interface ConsumerHandler {

  /** Handles a message. A failed future means that it is tried again. */
  Future<Void> handle(Delivery delivery);

  /**
   * Called before the first message of a shard.
   *
   * @param state what the former owner's {@link #onRelease} gave, or null
   */
  default Future<Void> onAssign(ShardContext shard, Buffer state) {
    return Future.succeededFuture();
  }

  /**
   * Called when a shard is about to go to another owner: no further message of it starts, and those
   * that run are awaited, for the lock time at most. Work that could be given up should be: a
   * message that fails now comes again to the next owner.
   */
  default void onDraining(ShardContext shard) {}

  /**
   * Called after the last message of a shard that goes to another owner.
   *
   * @return the shard's state for the next owner, at most 1 MiB; null or empty: none, and what was
   *     there stays
   */
  default Future<Buffer> onRelease(ShardContext shard) {
    return Future.succeededFuture();
  }

  /**
   * Whether this handler makes use of a former owner's state. If so, a shard that has one begins at
   * the offset that the state stands for; else at the committed offset. By default: whether the
   * class overrides {@link #onAssign}.
   */
  default boolean keepsState() {
    try {
      return getClass().getMethod("onAssign", ShardContext.class, Buffer.class).getDeclaringClass()
          != ConsumerHandler.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Called when a shard was lost without a release: another owner may be at work already. */
  default void onLost(ShardContext shard) {}
}
