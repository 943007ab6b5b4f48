package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.Delivery;

/**
 * Gives the messages of a consumer to its handler, and learns how they ended. All calls come from
 * one thread at a time; {@code now} is a monotonic clock in milliseconds.
 *
 * @param <T> a message for a handler
 */
public interface MessageSource<T extends MessageSource.Handed> {
  /** A message for a handler. */
  interface Handed {
    /**
     * @param member name of the consumer
     */
    Delivery delivery(String member);
  }

  /**
   * The next message for the handler, or null. The caller reports its end with {@link #finished} or
   * {@link #failed}.
   */
  T next(long now);

  /** The handler has ended well. */
  void finished(T task, long now);

  /** The handler has failed. */
  void failed(T task, Throwable cause, long now);

  /** What a consumer counts. */
  interface Counts {
    /** Messages finished by this run. */
    long consumed();

    /** Handlers that have not ended. */
    int running();
  }
}
