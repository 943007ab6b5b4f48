package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.NewestMap;
import java.util.Map;

/**
 * Runs of members that have ended, and why: the last {@link #MAX} of them. If a forgotten run is
 * still named by a lease, it counts as not heard yet; that costs one member timeout and nothing
 * else.
 */
final class EndedRuns {
  static final int MAX = 10_000;

  /**
   * @param lockedUntilMillis until then its shards wait for a release that may still come
   */
  private record Ending(Cause cause, long lockedUntilMillis) {}

  private static final Ending NONE = new Ending(null, Long.MIN_VALUE);

  private final Map<String, Ending> byInstance = new NewestMap<>(MAX);

  /** It ended in a way that no release follows. */
  void add(String instance, Cause cause) {
    add(instance, cause, Long.MIN_VALUE);
  }

  void add(String instance, Cause cause, long lockedUntilMillis) {
    // A replaced run stays replaced, whatever happens later.
    if (of(instance) != Cause.REPLACED) {
      byInstance.put(instance, new Ending(cause, lockedUntilMillis));
    }
  }

  /** It was heard again. */
  void revive(String instance) {
    byInstance.remove(instance);
  }

  /** Why it ended, or null if it is not known to have ended. */
  Cause of(String instance) {
    return byInstance.getOrDefault(instance, NONE).cause();
  }

  /** Until when the shards of a run that ended wait; long past if they do not. */
  long lockedUntilMillis(String instance) {
    return byInstance.getOrDefault(instance, NONE).lockedUntilMillis();
  }
}
