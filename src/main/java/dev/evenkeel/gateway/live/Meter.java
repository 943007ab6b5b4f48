package dev.evenkeel.gateway.live;

import java.util.ArrayDeque;

/** Measures how fast a count grows within a time window. Times are monotonic milliseconds. */
final class Meter {
  /** Shortest time between samples that gives a rate. */
  private static final long SPAN_MILLIS_MIN = 400;

  /** About how many samples a window has. */
  private static final int SAMPLES = 40;

  private record Sample(long atMillis, long count) {}

  private final long windowMillis;
  private final ArrayDeque<Sample> samples = new ArrayDeque<>();

  Meter(long windowMillis) {
    this.windowMillis = windowMillis;
  }

  /** Adds a sample. If the count went back, it has begun anew, and so does the rate. */
  void add(long nowMillis, long count) {
    if (!samples.isEmpty() && count < samples.peekLast().count()) {
      samples.clear();
    }
    Sample last = samples.pollLast();
    if (last != null) {
      Sample secondLast = samples.peekLast();
      boolean dense =
          secondLast != null && nowMillis - secondLast.atMillis() < windowMillis / SAMPLES;
      if (!dense && last.atMillis() < nowMillis) {
        samples.addLast(last);
      }
    }
    samples.addLast(new Sample(nowMillis, count));
    while (samples.size() > 2 && nowMillis - samples.peekFirst().atMillis() > windowMillis) {
      samples.removeFirst();
    }
  }

  /** The rate per second; null if there are too few samples. */
  Double perSecond() {
    if (samples.isEmpty()) {
      return null;
    }
    Sample first = samples.peekFirst();
    Sample last = samples.peekLast();
    long span = last.atMillis() - first.atMillis();
    return span < SPAN_MILLIS_MIN
        ? null
        : (Double) (1000.0 * (last.count() - first.count()) / span);
  }
}
