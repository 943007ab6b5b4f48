package dev.evenkeel.dedup;

import java.util.concurrent.CompletionStage;

/**
 * Coordinates requests for many keys, with an {@link Automaton} each. It does not block or poll,
 * and is safe for use from any thread.
 *
 * <p>{@code nowMillis} comes from one monotonic clock for all calls.
 *
 * @param <K> type of keys, with equals and hashCode
 */
public interface QueueCoordinator<K> {
  /** Asks for a place at {@code key}. */
  Ticket<K> enQueue(K key, Worker worker, long nowMillis);

  /**
   * Gives a place back, and wakes its waiter. Call it when the handler has ended, successfully or
   * not, and when the message is given up before its turn. It may be called twice.
   */
  CompletionStage<Departure> deQueue(Ticket<K> ticket, long nowMillis);

  /** Evicts heads that took too long, and repeats requests. Call it about once a second. */
  void tick(long nowMillis);

  DedupFigures figures();
}
