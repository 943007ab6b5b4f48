package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.Delivery;
import java.util.List;

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

    /** Whether it goes to the handler of single messages although there is one of batches. */
    default boolean goesAlone() {
      return true;
    }
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

  /**
   * For a handler of batches: the next message that goes to it together with {@code first}, which
   * {@link #next} has returned; or null. All of a batch are of one shard, and in its order.
   */
  default T nextWith(T first, long now) {
    return null;
  }

  /**
   * The handler of a batch has ended.
   *
   * @param tasks {@code first} and what {@link #nextWith} gave
   * @param failure null: it has ended well
   */
  default void batchEnded(List<T> tasks, Throwable failure, long now) {
    throw new UnsupportedOperationException("there are no batches");
  }

  /** What a consumer counts. */
  interface Counts {
    /** Messages finished by this run. */
    long consumed();

    /** Handlers that have not ended. */
    int running();
  }
}
