package dev.evenkeel.dedup;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A request for a place. Give it back by {@link QueueCoordinator#deQueue}, whatever the outcome,
 * unless it was declined.
 *
 * @param <K> type of keys
 */
public interface Ticket<K> {
  K key();

  Worker worker();

  /** Number of the claim, unique for its member; later claims have higher numbers. */
  long token();

  /** The first answer, which does not change; null until it comes. */
  @Nullable Answer answer();

  /**
   * Completes with the first answer, or with ACCEPT if waiting ends before any answer came. After
   * BLOCK, wait for {@link #turn}. It stays incomplete if the ticket is given back before.
   * Callbacks run on any thread.
   */
  CompletionStage<Answer> answered();

  /**
   * Completes with ACCEPT or DECLINE: at once if that is the answer, and for a blocked ticket when
   * its turn comes. It fails only if the coordinator is guarded: FORBIDDEN, or UNAVAILABLE if the
   * cluster does not answer. It may stay incomplete only if the ticket is given back before.
   *
   * <p>ACCEPT does not promise that nobody else works on the key: after an eviction, or without the
   * cluster, it only says that waiting is over. DECLINE after a wait means that the place was lost
   * with the map, and others work and wait on the key by now.
   *
   * <p>Callbacks run on any thread and must not block.
   */
  CompletionStage<Answer> turn();
}
