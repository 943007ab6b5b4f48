package dev.evenkeel.gateway.live;

import java.util.ArrayDeque;

/** How fast a count grows, over the last while. Times are monotonic milliseconds. */
final class Meter {
  /** A shorter time than this says too little. */
  private static final long SPAN_MILLIS_MIN = 400;

  /** The window is kept in about so many samples. */
  private static final int SAMPLES = 40;

  private record Sample(long atMillis, long count) {}

  private final long windowMillis;
  private final ArrayDeque<Sample> samples = new ArrayDeque<>();

  Meter(long windowMillis) {
    this.windowMillis = windowMillis;
  }

  /** A count that went back began anew, and so does the rate. */
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

  /** Per second; null before there is enough to tell. */
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
