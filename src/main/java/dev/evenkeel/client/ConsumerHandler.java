package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;

/**
 * What an application does with messages. Methods are called on the consumer's context and must not
 * block; each is over when its future completes. Blocking work goes to {@code
 * vertx.executeBlocking}:
 *
 * <pre>{@code
 * delivery -> vertx.executeBlocking(() -> {
 *   database.store(delivery.message().payload());
 *   return null;
 * })
 * }</pre>
 */
@FunctionalInterface
public interface ConsumerHandler {

  /** Handles a message. A failed future means that it is tried again. */
  Future<Void> handle(Delivery delivery);

  /**
   * Handles a message, with a context to publish through if {@link #usesContext}; else it is not
   * called. See {@link ContextHandler}.
   */
  default Future<Void> handle(Delivery delivery, MessageContext context) {
    return handle(delivery);
  }

  /** Whether {@link #handle(Delivery, MessageContext)} is called. */
  default boolean usesContext() {
    return false;
  }

  /**
   * Called before the first message of a shard.
   *
   * <p>If it fails it is called again after 1, 2, 5, 10, 20 and then every 30 seconds: the shard
   * waits, and is seen to wait, until it succeeds or the shard goes elsewhere.
   *
   * @param state what the former owner's {@link #onRelease} gave, or null
   */
  default Future<Void> onAssign(ShardContext shard, Buffer state) {
    return Future.succeededFuture();
  }

  /**
   * Called in mode level, in which nobody is assigned shards, when the group's level dispatcher has
   * taken this member in: from now on messages may come. Called again when another dispatcher does,
   * or the same one after it had set this member aside.
   */
  default void onLevel() {}

  /**
   * Called in mode singleton when this member becomes the leader of its group, is about to hand
   * over, or leads no more: before {@link #onAssign} of the shards that it gets for it. No shard is
   * assigned before all of them were granted. See {@link LeaderCareer} for leaders that have
   * something to do at the beginning and at the end.
   *
   * @param leader null: this member does not lead
   */
  default void onLeadership(LeaderContext leader) {}

  /**
   * Called when a shard is about to go to another owner. Messages that run are awaited, and those
   * below the highest finished one are still handed out and tried again, so that nothing comes
   * twice; no others are started. All that for the lock time at most. Work that takes long can be
   * given up: what fails with {@link GivenBackException} is not tried again here, and comes to the
   * next owner together with all that was finished above it.
   *
   * <p>In mode level it is called when the consumer closes, for each shard of which a message runs.
   */
  default void onDraining(ShardContext shard) {}

  /**
   * Called when the hand-over that {@link #onDraining} told of is called off: the shard stays, and
   * its messages come again.
   */
  default void onKept(ShardContext shard) {}

  /**
   * Called after the last message of a shard that goes to another owner.
   *
   * @return the shard's state for the next owner, at most 1 MiB; null or empty: none, and what a
   *     former owner gave stays
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
    return overrides("onAssign", ShardContext.class, Buffer.class);
  }

  /**
   * Whether this handler gives state to later owners. If it also uses that of former ones, then a
   * shard without state has the empty one, which stands where its first such owner began: after a
   * crash the next owner begins there, and not at the committed offset. By default: whether the
   * class overrides {@link #onRelease}. One that overrides both methods and has no state should
   * answer false.
   */
  default boolean givesState() {
    return overrides("onRelease", ShardContext.class);
  }

  /**
   * Called when the log has taken a commit or a release of a shard: all below {@code offset} is
   * done. A commit or release whose answer was lost is not told; a later commit tells more.
   *
   * @param offset the next offset to be consumed; it does not go back while the shard is held
   */
  default void onCommitted(String topic, int shard, long offset) {}

  /**
   * With dedup, what identifies the work that a message asks for: of messages with the same bytes
   * one is handled and one waits at a time, and every further one is declined. Called often; it
   * must be fast and always give the same for the same message. All members of a group must have
   * the same function. One that throws fails the message.
   *
   * @return null: the message is like no other, and always handled
   */
  default byte[] dedupKey(Message message) {
    return null;
  }

  /**
   * Whether {@link #dedupKey} is to be asked. If not, messages are the same as the option dedup
   * says. By default: whether the class overrides it.
   */
  default boolean givesDedupKey() {
    return overrides("dedupKey", Message.class);
  }

  /**
   * Called when a message was finished without {@link #handle}, because one of the same works and
   * one waits. The one that waits had not begun when this one was declined.
   */
  default void onDeclined(Delivery delivery) {}

  /**
   * Called when a message was finished without {@link #handle}, because it came faster than the
   * rate of its key allows, and the options say that such messages are dropped.
   */
  default void onDropped(Delivery delivery) {}

  private boolean overrides(String method, Class<?>... parameters) {
    try {
      return getClass().getMethod(method, parameters).getDeclaringClass() != ConsumerHandler.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Called when a shard was lost without a release: another owner may be at work already. In mode
   * level: all messages of the shard that run were taken back and are dealt again.
   */
  default void onLost(ShardContext shard) {}
}
