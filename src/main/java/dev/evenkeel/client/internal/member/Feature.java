package dev.evenkeel.client.internal.member;

import io.vertx.core.Future;

/**
 * A part of a consumer that a mode or an option adds. All of it happens on the consumer's context;
 * {@code now} is a monotonic clock in milliseconds.
 */
interface Feature {
  /** Completes when the cluster can reach it. */
  default Future<Void> begin() {
    return Future.succeededFuture();
  }

  /** Called every few 10 ms. */
  default void tick(long now) {}

  /** Called after each turn: all messages were handled that could be. */
  default void turned() {}

  /** A heartbeat that was sent at {@code sentMillis} was answered. */
  default void heartbeatAnswered(long sentMillis) {}

  /** The connection was lost, or is back. */
  default void link(boolean up, long now) {}

  default void pause(boolean on) {}

  /** The whole group is paused, or is not any more. */
  default void groupPaused(boolean on) {}

  /** The consumer closes: no message begins any more. */
  default void close() {}

  /** After {@link #close}: whether the consumer may leave its group. */
  default boolean drained(long now) {
    return true;
  }

  /** The consumer has ended. */
  default void end(long now) {}
}
