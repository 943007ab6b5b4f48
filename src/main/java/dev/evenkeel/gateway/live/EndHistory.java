package dev.evenkeel.gateway.live;

import java.util.ArrayList;
import java.util.List;

/**
 * When the end of a shard was where, as far as it was seen: tells how old an offset is. At most
 * {@link #SAMPLES_MAX} points; the older half is thinned out when they are full, so it reaches far
 * back and is coarser there. Times are monotonic milliseconds.
 */
final class EndHistory {
  static final int SAMPLES_MAX = 64;

  /** The end was {@code end} from {@code first} to {@code last} at least. */
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
   * How long ago the message at {@code offset} was appended, in milliseconds; null if that was
   * before the history began, or if there is no such message yet.
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
