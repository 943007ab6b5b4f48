package dev.evenkeel.level;

import org.jspecify.annotations.Nullable;

/**
 * A waiter in the list of the seat it waits for. Links are never used twice, so a list that was
 * taken and filled again cannot pass for the old one.
 */
final class WaiterLink {
  final Waiter waiter;

  /** The lowest count of steps that anybody from here on in the list waits for. */
  final long least;

  final @Nullable WaiterLink next;

  WaiterLink(Waiter waiter, long threshold, @Nullable WaiterLink next) {
    this.waiter = waiter;
    this.least = next == null ? threshold : Math.min(threshold, next.least);
    this.next = next;
  }
}
