package dev.evenkeel.model;

import dev.evenkeel.client.Rate;

/** Whether what begins keeps within a rate: in any time t at most number × (1 + t / period). */
final class Bucket {
  /** Clocks, tokens that members keep for a moment, and threads that wait allow so much more. */
  private static final double SLACK = 1.25;

  private static final int LATE_MAX = 16;

  private double begun;
  private long atMillis;

  /** Another one begins. Returns whether it may. */
  boolean begins(Rate rate, long nowMillis) {
    double passed = Math.max(0, nowMillis - atMillis);
    begun = Math.max(0, begun - passed * SLACK * rate.permits() / rate.periodMillis()) + 1;
    atMillis = Math.max(atMillis, nowMillis);
    return begun <= SLACK * rate.permits() + LATE_MAX;
  }
}
