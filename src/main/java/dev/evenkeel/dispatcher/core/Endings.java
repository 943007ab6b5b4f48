package dev.evenkeel.dispatcher.core;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Runs of members that have ended, and why: the last {@link #MAX} of them. Who is not in here any
 * more is treated as unheard, which costs one member timeout and nothing else.
 */
final class Endings {
  static final int MAX = 10_000;

  private final Map<String, Cause> causes =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Cause> eldest) {
          return size() > MAX;
        }
      };

  void add(String instance, Cause cause) {
    // A replaced run stays replaced, whatever else befalls it.
    if (causes.get(instance) != Cause.REPLACED) {
      causes.put(instance, cause);
    }
  }

  /** It was heard again. */
  void revive(String instance) {
    causes.remove(instance);
  }

  /** Why it ended, or null if it is not known to have ended. */
  Cause of(String instance) {
    return causes.get(instance);
  }
}
