package dev.evenkeel.log.raft;

import java.util.function.IntSupplier;

/**
 * What the log groups of a node may keep on the heap: each gets an equal share. What an entry costs
 * beside its bytes is counted, too: with the smallest entries it is most of it.
 *
 * @param bytesMax of all log groups together
 * @param groups how many there are; more may come
 */
record LogMemory(long bytesMax, IntSupplier groups) {
  /** Where an entry lies in the engine's log: five objects, until a snapshot covers the entry. */
  static final int PLACE_BYTES = 200;

  /** A body beside its bytes: its place in maps, its future, and the objects around its bytes. */
  static final int BODY_BYTES = 256;

  /** The places of entries get this part of the memory, and bodies the rest. */
  private static final double PLACES_PART = 0.75;

  /** Snapshots that are more frequent would cost more than the places they free. */
  private static final long ENTRIES_MIN = 20_000;

  static final long ENTRIES_MAX = 100_000;

  private static final long BODIES_MIN = 4L << 20;
  private static final long BODIES_MAX = 64L << 20;
  private static final long APPLIED_BODIES_MIN = 256L << 10;
  private static final long APPLIED_BODIES_MAX = 8L << 20;

  private long share(double part) {
    return (long) (part * bytesMax) / Math.max(1, groups.getAsInt());
  }

  private static long within(long min, long value, long max) {
    return Math.max(min, Math.min(max, value));
  }

  /** A log group takes a snapshot after so many entries, unless a setting says another number. */
  long entriesBetweenSnapshots() {
    return within(ENTRIES_MIN, share(PLACES_PART) / PLACE_BYTES, ENTRIES_MAX);
  }

  /** Most bytes of bodies that a log group keeps in memory, unless they are not written yet. */
  long bodies() {
    return within(BODIES_MIN, share(1 - PLACES_PART), BODIES_MAX);
  }

  /** Bodies that are applied are forgotten beyond this: only followers may still need them. */
  long appliedBodies() {
    return within(APPLIED_BODIES_MIN, share(1 - PLACES_PART) / 2, APPLIED_BODIES_MAX);
  }
}
