package dev.evenkeel.protocol;

import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What log entries did to one replica's state of a log group, as a sum of their digests at some
 * places of the log. Replicas whose sums began at the same entry have the same sum at the same
 * place, or their states differ. See ADR 23.
 *
 * @param form how an entry is digested; sums of different forms cannot be compared
 * @param since index of the first entry that counts
 * @param sums place → sum of the digests of all entries that count and lie before it; the last
 *     place lies behind the last entry applied. Never empty
 */
public record StateDigest(int form, long since, NavigableMap<Long, Long> sums) {
  /** Most places. */
  public static final int PLACES_MAX = 64;

  public StateDigest {
    if (sums.isEmpty() || sums.size() > PLACES_MAX) {
      throw new IllegalArgumentException(sums.size() + " places: use 1 to " + PLACES_MAX);
    }
    sums = Collections.unmodifiableNavigableMap(new TreeMap<>(sums));
  }

  /** Index of the last entry applied, or -1. */
  public long appliedIndex() {
    return sums.lastKey() - 1;
  }

  /** The sum of all entries applied that count. */
  public long sum() {
    return sums.lastEntry().getValue();
  }

  @Override
  public String toString() {
    return String.format("%016x since %d up to %d", sum(), since, appliedIndex());
  }
}
