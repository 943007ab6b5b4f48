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

  /** Neighbours in the ring by last use. */
  int usedBefore;

  int usedAfter;

  /** Neighbours in the ring by the beginning of the head. */
  int begunBefore;

  int begunAfter;

  Slot(int index) {
    at(index);
  }

  /** Gives it a place in an arena; it is in neither ring then. */
  void at(int place) {
    index = place;
    usedBefore = place;
    usedAfter = place;
    begunBefore = place;
    begunAfter = place;
  }
}
