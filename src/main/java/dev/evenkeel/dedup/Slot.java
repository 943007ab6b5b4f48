package dev.evenkeel.dedup;

/**
 * A reusable automaton in the table of a {@link Stripe}. Slots refer to each other by index:
 * storing references would be the most expensive part of a step, because the garbage collector has
 * to track each of them.
 */
final class Slot<K> extends Automaton<LocalTicket<K>> {
  int index;
  int hash;

  /** Index of the next slot in its bucket or in the list of free slots; -1: none. */
  int next = -1;

  Slot(int index) {
    this.index = index;
  }
}
