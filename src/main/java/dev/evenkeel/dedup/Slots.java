package dev.evenkeel.dedup;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of slots that also keeps them in the order of their last use, and in the order in
 * which their heads began. It grows and shrinks with its keys. Not safe for use from several
 * threads.
 */
final class Slots<K> {
  private static final int SLOTS_MIN = 16;

  private Slot<K>[] slots;

  /** Index of each bucket's first slot, or -1. */
  private int[] buckets;

  /** Slots by last use. The slot at {@link Ring#ENDS} is never used. */
  private Ring used;

  /** Slots by when their heads began. */
  private Ring begun;

  private int free = -1;

  /** Slots from this index on do not exist yet. */
  private int made;

  private int keys;

  /**
   * Index of the slot of the only key, or -1. As most keys of a stripe come and go alone, such a
   * slot joins its bucket and the rings only when another key comes.
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

  /** The key's slot. */
  @Nullable Slot<K> find(K key, int hash) {
    if (keys == 0) {
      return null;
    }
    if (alone >= 0) {
      Slot<K> slot = slots[alone];
      return holds(slot, key, hash) ? slot : null;
    }
    int at = buckets[hash & buckets.length - 1];
    while (at >= 0) {
      Slot<K> slot = slots[at];
      if (holds(slot, key, hash)) {
        return slot;
      }
      at = slot.next;
    }
    return null;
  }

  private static <K> boolean holds(Slot<K> slot, K key, int hash) {
    LocalTicket<K> head = slot.head();
    return slot.hash == hash && head != null && head.key.equals(key);
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

  /** Puts the slot of a key that was alone into its bucket and the rings. */
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

  /** Removes a slot, whose automaton is in state INIT or is to be dropped. */
  void remove(Slot<K> slot) {
    if (alone >= 0) {
      alone = -1;
    } else {
      leave(slot);
    }
    slot.next = free;
    free = slot.index;
    // It leaves room, so that a single key that comes and goes does not cause a rebuild each time.
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

  /** Notes that the key was asked for. */
  void used(Slot<K> slot) {
    if (alone < 0) {
      used.leave(slot.index);
      used.join(slot.index);
    }
  }

  /** Notes that a head has begun. */
  void begun(Slot<K> slot) {
    if (alone < 0) {
      begun.leave(slot.index);
      begun.join(slot.index);
    }
  }

  /** The least recently used slot; a slot without a head if there are no keys. */
  Slot<K> leastUsed() {
    return slots[alone >= 0 ? alone : used.after(Ring.ENDS)];
  }

  /** The slot whose head began first; a slot without a head if there are no keys. */
  Slot<K> firstBegun() {
    return slots[alone >= 0 ? alone : begun.after(Ring.ENDS)];
  }

  /** All slots with a key, the least recently used one first. */
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

  /** Makes tables of another size with the same slots in the same orders. */
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
