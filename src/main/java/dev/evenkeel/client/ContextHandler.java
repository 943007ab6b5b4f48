package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * A handler that publishes messages or keeps its state through its context.
 *
 * <pre>{@code
 * ContextHandler enrich = (delivery, context) -> {
 *   context.publish("enriched", delivery.message().keyText(), enriched(delivery));
 *   return Future.succeededFuture();
 * };
 * }</pre>
 *
 * <p>Its failed messages keep their place until their next attempt, whatever the order: what they
 * publish must not come after what later messages of the shard do. It works in mode sharded,
 * without dedup.
 */
@FunctionalInterface
public interface ContextHandler extends ConsumerHandler {
  @Override
  Future<Void> handle(Delivery delivery, MessageContext context);

  /** Not called: the other one is. */
  @Override
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default Future<Void> handle(Delivery delivery) {
    throw new UnsupportedOperationException("this handler needs a context");
  }

  @Override
  default boolean usesContext() {
    return true;
  }
}
