package dev.evenkeel.dedup;

import java.util.concurrent.CompletionStage;

/**
 * What a request gets, to be given back with {@link QueueCoordinator#deQueue} whatever becomes of
 * it; a declined one need not be.
 *
 * @param <K> type of keys
 */
public interface Ticket<K> {
  K key();

  Worker worker();

  /** Tells this claim from all others of its worker's member; later ones have higher tokens. */
  long token();

  /** What was answered first, or null while the cluster is being asked. It does not change. */
  Answer answer();

  /**
   * Completes with the first answer; if it is not BLOCK it is clear what to do. With ACCEPT also
   * when waiting is over before any answer. As {@link #turn} it stays incomplete if the ticket is
   * given back before, and its callbacks run on any thread.
   */
  CompletionStage<Answer> answered();

  /**
   * Completes when it is clear what to do, with ACCEPT or DECLINE: at once for those that are
   * answered so, and for one that is blocked when its turn comes. It never fails and never waits
   * for ever, unless the ticket is given back before: then it may stay incomplete.
   *
   * <p>ACCEPT does not promise that nobody else is at work: after an eviction, or without the
   * cluster, it only says that waiting is over. DECLINE after a wait: the place was lost with the
   * map, and by now others work and wait on the key.
   *
   * <p>Callbacks run on any thread and must not block.
   */
  CompletionStage<Answer> turn();
}
