package dev.evenkeel.util;

import java.util.random.RandomGenerator;

/** How long to wait before a retry, in milliseconds. */
public final class Backoff {
  private static final long[] STEPS = {1_000, 2_000, 5_000, 10_000, 20_000, 30_000};

  private Backoff() {}

  /**
   * Doubles with each failure: {@code min} after the first one.
   *
   * @param failuresBefore failures in a row before this one
   */
  public static long doubling(int failuresBefore, long min, long max) {
    return Math.min(max, min << Math.min(failuresBefore, 20));
  }

  /**
   * After the {@code failures}th failure in a row of user code, or of reading data: 1 s to 30 s.
   */
  public static long steps(int failures) {
    return STEPS[Math.max(0, Math.min(failures, STEPS.length) - 1)];
  }

  /** After a request that the cluster could not serve: 100 ms to 300 ms, at random. */
  public static long soon(RandomGenerator random) {
    return 100 + random.nextInt(201);
  }
}
