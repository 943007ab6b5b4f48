package dev.evenkeel.dispatcher;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Which owners of claims can no longer rely on any of them. A program relies on its claims for a
 * while after its connections broke. One that hung may come back under the same name between two
 * looks, and go again: then it relies on them anew. So the while counts from the last moment at
 * which it may have had a connection, as far as that is known.
 *
 * <p>Times are monotonic and in milliseconds. Not thread-safe.
 */
final class EndedOwners {
  private final long reliesMillisMax;

  /** Owners that the last look found to have ended → since when they surely have. */
  private final Map<String, Long> since = new HashMap<>();

  private long lookedMillis = Long.MIN_VALUE / 2;

  /**
   * @param reliesMillisMax how long a program relies on its claims without a connection
   */
  EndedOwners(long reliesMillisMax) {
    this.reliesMillisMax = reliesMillisMax;
  }

  /**
   * Takes what a look has found. Returns those of them that can no longer rely on any claim.
   *
   * @param ended all owners of claims that have no connection now
   * @param reportedAgo how long ago a node reported that it lost the last connection of an owner;
   *     null: not lately
   */
  Set<String> endedForLong(Set<String> ended, Function<String, Long> reportedAgo, long nowMillis) {
    if (nowMillis - lookedMillis >= reliesMillisMax) {
      // Between two looks so far apart, an owner may have come back and gone again.
      since.clear();
    }
    lookedMillis = nowMillis;
    since.keySet().retainAll(ended);
    Set<String> forLong = new HashSet<>();
    for (String each : ended) {
      Long agoMillis = reportedAgo.apply(each);
      long endedMillis = since.getOrDefault(each, nowMillis);
      if (agoMillis != null) {
        endedMillis = Math.max(endedMillis, nowMillis - agoMillis);
      }
      since.put(each, endedMillis);
      if (nowMillis - endedMillis >= reliesMillisMax) {
        forLong.add(each);
      }
    }
    return forLong;
  }

  /** It is back. */
  void back(String owner) {
    since.remove(owner);
  }

  /** A look has failed: any of them may have been back. */
  void unknown() {
    since.clear();
  }
}
