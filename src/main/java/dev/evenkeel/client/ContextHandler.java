package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * A {@link ConsumerHandler} that publishes messages or commits state through a {@link
 * MessageContext}.
 *
 * <pre>{@code
 * ContextHandler enrich = (delivery, context) -> {
 *   context.publish("enriched", delivery.message().keyText(), enriched(delivery));
 *   return Future.succeededFuture();
 * };
 * }</pre>
 *
 * <p>It works in mode sharded and without dedup, and not with delivery AT_MOST_ONCE; otherwise the
 * consumer fails with INVALID. Its failed messages keep their place until their next attempt, with
 * every order, because what they publish must come before what later messages of the shard publish.
 */
@FunctionalInterface
public interface ContextHandler extends ConsumerHandler {
  /**
   * Handles a message. What it publishes and commits through {@code context} takes effect when the
   * returned future has succeeded. If the future fails, nothing is published or kept, and the
   * message is tried again.
   */
  Future<Void> handle(Delivery delivery, MessageContext context);

  /** Never called: {@link #handle(Delivery, MessageContext)} is called instead. */
  @Override
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default Future<Void> handle(Delivery delivery) {
    throw new UnsupportedOperationException("this handler needs a context");
  }
}
