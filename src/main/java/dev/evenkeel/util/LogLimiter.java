package dev.evenkeel.util;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Limits what is logged about strangers: one line a minute for each source, so that nobody can fill
 * the disk with log lines. Safe for use from any thread.
 */
public final class LogLimiter {
  static final long EVERY_MILLIS = 60_000;

  /** Beyond it, the source that was logged longest ago is forgotten. */
  static final int SOURCES_MAX = 1_000;

  private final Map<String, Long> logged =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > SOURCES_MAX;
        }
      };

  /**
   * Whether a line about this source may be logged now; if so, no other may for a minute.
   *
   * @param source for example an IP address
   * @param nowMillis of a clock that never goes back
   */
  public synchronized boolean mayLog(String source, long nowMillis) {
    Long last = logged.get(source);
    if (last != null && nowMillis - last < EVERY_MILLIS) {
      return false;
    }
    logged.remove(source);
    logged.put(source, nowMillis);
    return true;
  }
}
