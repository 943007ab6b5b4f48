package dev.evenkeel.dedup;

import java.util.Arrays;

/**
 * A hash table of slots, which also keeps them in the order of their last use and in that of their
 * heads' beginnings. It grows with its keys and shrinks again. Not safe for threads.
 */
final class Slots<K> {
  private static final int SLOTS_MIN = 16;

  /** Index of a slot that is never used: the end of both rings. */
  private static final int ENDS = 0;

  private Slot<K>[] slots;

  /** Index of each bucket's first slot, or -1. */
  private int[] buckets;

  private int free = -1;

  /** Slots from here on were never made. */
  private int made;

  private int keys;

  /**
   * Index of the slot of a key that came when there was no other, or -1. It is in no bucket and in
   * no ring before another comes: most keys of a stripe come and go alone.
   */
  private int alone = -1;

  Slots() {
    room(SLOTS_MIN);
    make();
  }

  @SuppressWarnings("unchecked")
  private static <K> Slot<K>[] array(int size) {
    return (Slot<K>[]) new Slot<?>[size];
  }

  private void room(int size) {
    slots = array(size);
    buckets = new int[size];
    Arrays.fill(buckets, -1);
    free = -1;
    made = 0;
  }

  private Slot<K> make() {
    Slot<K> slot = new Slot<>(made);
    slots[made++] = slot;
    return slot;
  }

  int size() {
    return keys;
  }

  int capacity() {
    return slots.length;
  }

  /** The key's slot, or null. */
  Slot<K> find(K key, int hash) {
    if (keys == 0) {
      return null;
    }
    if (alone >= 0) {
      Slot<K> slot = slots[alone];
      return slot.hash == hash && slot.head().key.equals(key) ? slot : null;
    }
    int at = buckets[hash & buckets.length - 1];
    while (at >= 0) {
      Slot<K> slot = slots[at];
      if (slot.hash == hash && slot.head().key.equals(key)) {
        return slot;
      }
      at = slot.next;
    }
    return null;
  }

  /** A slot for a key that has none, whose head begins now. */
  Slot<K> add(int hash) {
    settle();
    Slot<K> slot;
    if (free >= 0) {
      slot = slots[free];
      free = slot.next;
    } else {
      if (made == slots.length) {
        rebuild(slots.length * 2);
      }
      slot = make();
    }
    slot.hash = hash;
    if (keys++ == 0) {
      alone = slot.index;
    } else {
      join(slot);
    }
    return slot;
  }

  /** One that was alone is so no more. */
  private void settle() {
    if (alone >= 0) {
      Slot<K> slot = slots[alone];
      alone = -1;
      join(slot);
    }
  }

  private void join(Slot<K> slot) {
    link(slot);
    joinUsed(slot);
    joinBegun(slot);
  }

  private void link(Slot<K> slot) {
    int bucket = slot.hash & buckets.length - 1;
    slot.next = buckets[bucket];
    buckets[bucket] = slot.index;
  }

  /** Takes out a slot whose automaton is, or may as well be, in INIT. */
  void remove(Slot<K> slot) {
    if (alone >= 0) {
      alone = -1;
    } else {
      leave(slot);
    }
    slot.next = free;
    free = slot.index;
    // With room left, so that a key that comes and goes does not rebuild it each time.
    if (--keys < slots.length / 8 && slots.length > SLOTS_MIN) {
      rebuild(slots.length / 2);
    }
  }

  private void leave(Slot<K> slot) {
    int bucket = slot.hash & buckets.length - 1;
    int at = buckets[bucket];
    if (at == slot.index) {
      buckets[bucket] = slot.next;
    } else {
      while (slots[at].next != slot.index) {
        at = slots[at].next;
      }
      slots[at].next = slot.next;
    }
    leaveUsed(slot);
    leaveBegun(slot);
  }

  /** The key was asked for. */
  void used(Slot<K> slot) {
    if (alone < 0) {
      leaveUsed(slot);
      joinUsed(slot);
    }
  }

  /** A head has begun. */
  void begun(Slot<K> slot) {
    if (alone < 0) {
      leaveBegun(slot);
      joinBegun(slot);
    }
  }

  private void joinUsed(Slot<K> slot) {
    Slot<K> ends = slots[ENDS];
    slot.usedBefore = ends.usedBefore;
    slot.usedAfter = ENDS;
    slots[slot.usedBefore].usedAfter = slot.index;
    ends.usedBefore = slot.index;
  }

  private void joinBegun(Slot<K> slot) {
    Slot<K> ends = slots[ENDS];
    slot.begunBefore = ends.begunBefore;
    slot.begunAfter = ENDS;
    slots[slot.begunBefore].begunAfter = slot.index;
    ends.begunBefore = slot.index;
  }

  private void leaveUsed(Slot<K> slot) {
    slots[slot.usedBefore].usedAfter = slot.usedAfter;
    slots[slot.usedAfter].usedBefore = slot.usedBefore;
  }

  private void leaveBegun(Slot<K> slot) {
    slots[slot.begunBefore].begunAfter = slot.begunAfter;
    slots[slot.begunAfter].begunBefore = slot.begunBefore;
  }

  /** The slot that was not used for longest; without a head if there is none. */
  Slot<K> leastUsed() {
    return slots[alone >= 0 ? alone : slots[ENDS].usedAfter];
  }

  /** The slot whose head began first; without a head if there is none. */
  Slot<K> firstBegun() {
    return slots[alone >= 0 ? alone : slots[ENDS].begunAfter];
  }

  /** All slots with a key, the one that was not used for longest first. */
  Slot<K>[] all() {
    settle();
    Slot<K>[] all = array(keys);
    int count = 0;
    for (Slot<K> slot = leastUsed(); slot.index != ENDS; slot = slots[slot.usedAfter]) {
      all[count++] = slot;
    }
    return all;
  }

  private Slot<K>[] byBeginning() {
    Slot<K>[] all = array(keys);
    int count = 0;
    for (Slot<K> slot = firstBegun(); slot.index != ENDS; slot = slots[slot.begunAfter]) {
      all[count++] = slot;
    }
    return all;
  }

  /** The same slots in an arena of another size, in the same orders. */
  private void rebuild(int size) {
    Slot<K>[] byUse = all();
    Slot<K>[] byBeginning = byBeginning();
    room(size);
    make();
    for (Slot<K> slot : byUse) {
      slot.at(made);
      slots[made++] = slot;
      link(slot);
      joinUsed(slot);
    }
    for (Slot<K> slot : byBeginning) {
      joinBegun(slot);
    }
  }
}
