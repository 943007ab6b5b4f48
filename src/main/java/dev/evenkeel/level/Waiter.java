package dev.evenkeel.level;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/**
 * One wait of one track, by {@link Track#ready}: goes from seat to seat, and stays in the list of
 * each that does not allow the next step yet. Who allows it stays so, because counts only grow; so
 * one round over the seats is enough.
 *
 * <p>At any time it is in one list, or in the hands of the one thread that took that list.
 */
final class Waiter {
  private final Seat mine;
  private final Seat[] seats;
  private final long[] references;
  private final long steps;
  private final Promise<Void> promise = Promise.promise();
  private final @Nullable Context context = Vertx.currentContext();
  private int at;
  private int left;
  private volatile @Nullable Seat parkedAt;
  private volatile boolean settled;

  /**
   * @param steps those of {@code mine}, none of which is granted while it waits
   * @param first index in its seats of the one that does not allow the next step
   */
  Waiter(Seat mine, long steps, int first) {
    this.mine = mine;
    this.seats = mine.known();
    this.references = mine.references();
    this.steps = steps;
    this.at = first;
    this.left = seats.length;
  }

  Future<Void> future() {
    return promise.future();
  }

  /** Whether it waits for nobody any more; its future may be about to complete. */
  boolean isSettled() {
    return settled;
  }

  /** Ends the wait of a track that was destroyed. */
  void fail(RuntimeException why) {
    settled = true;
    promise.tryFail(why);
    Seat seat = parkedAt;
    if (seat != null) {
      seat.wake();
    }
  }

  /** Goes on to the next seat that does not allow the step, or completes. */
  void goOn() {
    while (left > 0 && !settled) {
      Seat other = seats[at];
      long needed = steps + 1 - mine.range() - references[at];
      if (other == mine || allows(other.word(), needed)) {
        at = at + 1 == seats.length ? 0 : at + 1;
        left--;
        continue;
      }
      parkedAt = other;
      other.park(this, needed);
      return;
    }
    if (!settled) {
      mine.touch();
      settled = true;
      if (context == null) {
        Completions.complete(promise);
      } else {
        context.runOnContext(now -> promise.tryComplete());
      }
    }
  }

  static boolean allows(long word, long needed) {
    return !Seat.isTaken(word) || Seat.steps(word) >= needed;
  }
}
