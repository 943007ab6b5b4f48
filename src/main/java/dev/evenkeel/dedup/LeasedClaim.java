package dev.evenkeel.dedup;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A claim of a {@link LeasedCoordinator}, which alone changes it. Safe for use from any thread;
 * callbacks run on any thread and must not block.
 */
public final class LeasedClaim {
  /** Where a claim is. It never goes back to an earlier one. */
  enum Stage {
    ASKED,
    AT_WORK,
    LOST,
    OVER
  }

  final SharedTicket ticket;
  final CompletableFuture<Answer> answered = new CompletableFuture<>();
  final CompletableFuture<Answer> turn = new CompletableFuture<>();
  final CompletableFuture<Void> lost = new CompletableFuture<>();

  /** When it was given back. */
  final CompletableFuture<Departure> left = new CompletableFuture<>();

  /** Number of the lease on which it began to work. */
  volatile long lease;

  private volatile Stage stage = Stage.ASKED;

  LeasedClaim(SharedTicket ticket) {
    this.ticket = ticket;
  }

  Stage stage() {
    return stage;
  }

  /** Goes on to a later stage. Returns the one before, which may be later than that. */
  synchronized Stage become(Stage next) {
    Stage last = stage;
    if (next.compareTo(last) > 0) {
      stage = next;
    }
    return last;
  }

  /** As {@link Ticket#answered}; fails as {@link #turn} does. */
  public CompletionStage<Answer> answered() {
    return answered;
  }

  /**
   * Completes with ACCEPT when the claim works, and with DECLINE. Fails with UNAVAILABLE if the
   * cluster does not answer or the claim is given back before, and with FORBIDDEN.
   */
  public CompletionStage<Answer> turn() {
    return turn;
  }

  /** Completes if the claim was lost while it worked. It is to be given back nevertheless. */
  public CompletionStage<Void> lost() {
    return lost;
  }
}
