package dev.evenkeel.broker.machine;

import dev.evenkeel.protocol.StateDigest;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Sums up the digests of the entries that are applied, and remembers the sum at places that are the
 * same on all replicas, so that replicas can be compared while one lags. Only the applying thread
 * changes it; any thread may read.
 */
final class DigestHistory {
  /**
   * How digests are made. It must change whenever a build writes other bytes for an existing kind
   * of entry, or digests them in another way: sums of different forms are not compared.
   */
  static final int FORM = 2;

  /** The distance between two places, in entries. */
  static final long ENTRIES_BETWEEN = 1_024;

  /** Replicas further apart than this cannot be compared until the lag is smaller. */
  static final int PLACES_KEPT = 16;

  // Guarded by this.
  private final NavigableMap<Long, Long> sums = new TreeMap<>();
  private long since;
  private long sum;
  private long appliedIndex = -1;

  /**
   * Continues from a state that was opened.
   *
   * @param known the digest of that state; null: nothing is known of its history
   */
  synchronized void begin(long index, StateNote.Digest known) {
    sums.clear();
    since = known == null ? index + 1 : known.since();
    sum = known == null ? 0 : known.sum();
    appliedIndex = index;
  }

  /** The digest to be stored with the next entry, whose own digest is given. */
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
