package dev.evenkeel.log.raft;

import dev.evenkeel.util.Backoff;
import dev.evenkeel.util.Causes;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Decides when a leader's copy of the log counts as damaged: when it failed several times in a row
 * to read what a follower needs. Belongs to one log group. May be used from any thread.
 */
final class ReadFailures {
  /** One failure is no damage: the segment may just have been purged. */
  static final int DAMAGED = 3;

  static final long PAUSE_MILLIS_MIN = 100;
  static final long PAUSE_MILLIS_MAX = 30_000;

  /** A damaged body is mended within moments. */
  static final long BODY_PAUSE_MILLIS_MAX = 1_000;

  /** After this long without a failure, the next one is the first. */
  private static final long FORGET_NANOS = TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS_MAX + 10_000);

  private record Row(int failures, long lastNanos) {}

  private final Consumer<String> damaged;

  /** By follower; guarded by this. */
  private final Map<String, Row> rows = new HashMap<>();

  /**
   * @param damaged takes a line for people that says what cannot be read; may be called again
   */
  ReadFailures(Consumer<String> damaged) {
    this.damaged = damaged;
  }

  /**
   * Counts a failure to read an entry for a follower.
   *
   * @return how long to wait before the next attempt, in milliseconds; it doubles each time
   */
  synchronized long failed(String follower, Throwable failure, long nowNanos) {
    Row last = rows.get(follower);
    boolean inARow = last != null && nowNanos - last.lastNanos() < FORGET_NANOS;
    int failures = inARow ? last.failures() + 1 : 1;
    rows.put(follower, new Row(failures, nowNanos));
    boolean body = Causes.include(LogBodies.DamagedBodyException.class, failure);
    long pause =
        Backoff.doubling(
            failures - 1, PAUSE_MILLIS_MIN, body ? BODY_PAUSE_MILLIS_MAX : PAUSE_MILLIS_MAX);
    if (body) {
      // Bodies are mended without another leader; the log itself is not.
      return pause;
    }
    String reason = Refusals.reason(failure);
    // If too many files are open, the file that could not be opened need not be damaged.
    if (failures >= DAMAGED && !reason.contains("Too many open files")) {
      damaged.accept("an entry of the log that " + follower + " needs cannot be read: " + reason);
    }
    return pause;
  }
}
