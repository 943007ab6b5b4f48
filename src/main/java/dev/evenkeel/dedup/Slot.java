package dev.evenkeel.dedup;

/**
 * A place for a key's automaton in a {@link Stripe}, used again and again. Slots name each other by
 * their index, so that linking one stores no references: those cost more than all else here,
 * because the garbage collector wants to know of each.
 */
final class Slot<K> extends Automaton<LocalTicket<K>> {
  int index;
  int hash;

  /** The next slot of its bucket, or of the free ones; or -1. */
  int next = -1;

  Slot(int index) {
    this.index = index;
  }
}
