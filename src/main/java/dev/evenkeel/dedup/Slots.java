package dev.evenkeel.dedup;

import java.util.Arrays;

/**
 * A hash table of slots, which also keeps them in the order of their last use and in that of their
 * heads' beginnings. It grows with its keys and shrinks again. Not safe for threads.
 */
final class Slots<K> {
  private static final int SLOTS_MIN = 16;

  private Slot<K>[] slots;

  /** Index of each bucket's first slot, or -1. */
  private int[] buckets;

  /** By last use. The slot at {@link Ring#ENDS} is never used. */
  private Ring used;

  /** By the beginning of the head. */
  private Ring begun;

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
    used = new Ring(size);
    begun = new Ring(size);
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
    used.join(slot.index);
    begun.join(slot.index);
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
    used.leave(slot.index);
    begun.leave(slot.index);
  }

  /** The key was asked for. */
  void used(Slot<K> slot) {
    if (alone < 0) {
      used.leave(slot.index);
      used.join(slot.index);
    }
  }

  /** A head has begun. */
  void begun(Slot<K> slot) {
    if (alone < 0) {
      begun.leave(slot.index);
      begun.join(slot.index);
    }
  }

  /** The slot that was not used for longest; without a head if there is none. */
  Slot<K> leastUsed() {
    return slots[alone >= 0 ? alone : used.after(Ring.ENDS)];
  }

  /** The slot whose head began first; without a head if there is none. */
  Slot<K> firstBegun() {
    return slots[alone >= 0 ? alone : begun.after(Ring.ENDS)];
  }

  /** All slots with a key, the one that was not used for longest first. */
  Slot<K>[] all() {
    settle();
    return all(used);
  }

  private Slot<K>[] all(Ring ring) {
    Slot<K>[] all = array(keys);
    int at = Ring.ENDS;
    for (int i = 0; i < keys; i++) {
      at = ring.after(at);
      all[i] = slots[at];
    }
    return all;
  }

  /** The same slots in an arena of another size, in the same orders. */
  private void rebuild(int size) {
    Slot<K>[] byUse = all();
    Slot<K>[] byBeginning = all(begun);
    room(size);
    make();
    for (Slot<K> slot : byUse) {
      slot.index = made;
      slots[made++] = slot;
      link(slot);
      used.join(slot.index);
    }
    for (Slot<K> slot : byBeginning) {
      begun.join(slot.index);
    }
  }
}
