package dev.evenkeel.gateway.live;

import java.util.ArrayList;
import java.util.List;

/**
 * Remembers where the end of a shard was at which time, and so tells the age of an offset. It keeps
 * at most {@link #SAMPLES_MAX} points. When they are full, it removes every other point of the
 * older half, so that it reaches far back, where it is coarser. Times are monotonic milliseconds.
 */
final class EndHistory {
  static final int SAMPLES_MAX = 64;

  /** The end was {@code end} at least from the first to the last time. */
  private static final class Sample {
    final long end;
    final long firstMillis;
    long lastMillis;

    Sample(long end, long atMillis) {
      this.end = end;
      firstMillis = atMillis;
      lastMillis = atMillis;
    }
  }

  private final List<Sample> samples = new ArrayList<>();

  void add(long nowMillis, long end) {
    Sample last = samples.isEmpty() ? null : samples.get(samples.size() - 1);
    if (last != null && end == last.end) {
      last.lastMillis = nowMillis;
      return;
    }
    if (last != null && end < last.end) {
      // Another topic of the same name.
      samples.clear();
    }
    samples.add(new Sample(end, nowMillis));
    if (samples.size() > SAMPLES_MAX) {
      for (int i = SAMPLES_MAX / 2; i > 0; i -= 2) {
        samples.remove(i);
      }
    }
  }

  /**
   * The age of the message at {@code offset}, in milliseconds; null if the message is older than
   * the history, or does not exist yet.
   */
  Long ageMillis(long offset, long nowMillis) {
    int after = 0;
    while (after < samples.size() && samples.get(after).end <= offset) {
      after++;
    }
    if (after == 0 || after == samples.size()) {
      return null;
    }
    Sample before = samples.get(after - 1);
    Sample with = samples.get(after);
    double part = (offset + 1 - before.end) / (double) (with.end - before.end);
    double appended = before.lastMillis + part * (with.firstMillis - before.lastMillis);
    return Math.max(0, nowMillis - Math.round(appended));
  }
}
