package dev.evenkeel.client.internal.member;

import io.vertx.core.Future;

/**
 * What a mode or an option adds to a consumer. All of it happens on the consumer's context; {@code
 * now} is a monotonic clock in milliseconds.
 */
interface Feature {
  /** Completes when the cluster can reach it. */
  default Future<Void> begin() {
    return Future.succeededFuture();
  }

  /** To be called often. */
  default void tick(long now) {}

  /** Messages were handled as far as that goes now. */
  default void turned() {}

  /** A heartbeat that was sent at {@code sentMillis} was answered. */
  default void heartbeatAnswered(long sentMillis) {}

  /** The connection was lost, or is there again. */
  default void link(boolean up, long now) {}

  default void pause(boolean on) {}

  /** The consumer closes: nothing is begun any more. */
  default void close() {}

  /** After {@link #close}: whether nothing is left to do before the consumer leaves its group. */
  default boolean drained(long now) {
    return true;
  }

  /** The consumer has ended. */
  default void end(long now) {}
}
