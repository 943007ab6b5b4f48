package dev.evenkeel.broker.machine;

import dev.evenkeel.protocol.StateDigest;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Sums up the digests of the entries that are applied, and remembers the sum at places that are the
 * same on all replicas, so that they can be compared while they are not equally far. The applying
 * thread alone changes it; any thread may look.
 */
final class DigestHistory {
  /**
   * How digests are made. It must change whenever a build writes other bytes for an existing kind
   * of entry, or digests them in another way: sums of different forms are not compared.
   */
  static final int FORM = 2;

  /** The distance between two places, in entries. */
  static final long ENTRIES_BETWEEN = 1_024;

  /** Replicas that are further apart cannot be compared until they are closer again. */
  static final int PLACES_KEPT = 16;

  // Guarded by this.
  private final NavigableMap<Long, Long> sums = new TreeMap<>();
  private long since;
  private long sum;
  private long appliedIndex = -1;

  /**
   * Goes on where a state stands.
   *
   * @param known of that state; null: nothing is known of what it came from
   */
  synchronized void begin(long index, StateNote.Digest known) {
    sums.clear();
    since = known == null ? index + 1 : known.since();
    sum = known == null ? 0 : known.sum();
    appliedIndex = index;
  }

  /** What the state has to remember once another entry with that digest is applied. */
  synchronized StateNote.Digest with(long digest) {
    return new StateNote.Digest(since, sum + digest);
  }

  /** An entry has been applied. */
  synchronized void applied(long index, long digest) {
    long place = index - Math.floorMod(index, ENTRIES_BETWEEN);
    if (place > appliedIndex) {
      sums.put(place, sum);
      if (sums.size() > PLACES_KEPT) {
        sums.pollFirstEntry();
      }
    }
    sum += digest;
    appliedIndex = index;
  }

  synchronized StateDigest now() {
    NavigableMap<Long, Long> all = new TreeMap<>(sums);
    all.put(appliedIndex + 1, sum);
    return new StateDigest(FORM, since, all);
  }
}
