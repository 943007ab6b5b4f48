package dev.evenkeel.dedup;

import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The automata of many keys. Nothing here blocks or polls; it may be called from any thread.
 *
 * <p>{@code nowMillis} is from a clock that does not go back, the same one for all calls.
 *
 * @param <K> type of keys, with equals and hashCode
 */
public interface QueueCoordinator<K> {
  /** Asks for a place at {@code key}. */
  Ticket<K> enQueue(K key, Worker worker, long nowMillis);

  /**
   * Gives a place back, and wakes who waits for it. To be called when the handler has ended, well
   * or not, and when the message is given up before its turn. Repeating it changes nothing.
   */
  CompletionStage<Departure> deQueue(Ticket<K> ticket, long nowMillis);

  /** To be called once a second or so: evicts heads that never finished, asks again what is due. */
  void tick(long nowMillis);

  /**
   * Gives up the places of all members that are not in {@code alive}.
   *
   * @return how many claims were dropped
   */
  CompletionStage<Integer> sweep(long nowMillis, Set<String> alive);

  DedupFigures figures();
}
