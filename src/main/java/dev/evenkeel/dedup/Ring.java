package dev.evenkeel.dedup;

/**
 * A doubly linked ring of slots, by index (see {@link Slot}). It begins and ends at index {@link
 * #ENDS}.
 */
final class Ring {
  static final int ENDS = 0;

  private final int[] before;
  private final int[] after;

  Ring(int size) {
    before = new int[size];
    after = new int[size];
  }

  /** Puts an index that is not in the ring at its end. */
  void join(int index) {
    int last = before[ENDS];
    before[index] = last;
    after[index] = ENDS;
    after[last] = index;
    before[ENDS] = index;
  }

  void leave(int index) {
    after[before[index]] = after[index];
    before[after[index]] = before[index];
  }

  /** The index after this one; after {@link #ENDS} it is the one that joined first. */
  int after(int index) {
    return after[index];
  }
}
