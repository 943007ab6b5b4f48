package dev.evenkeel.demo;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Draws ranks by Zipf's law: the weight of rank k is k to the power of minus the exponent. Pure:
 * callers pass the randomness.
 */
public final class Zipf {
  /** For each rank, the sum of its weight and the weights before it. */
  private final double[] sums;

  /**
   * @param ranks how many there are, at least 1
   */
  public Zipf(int ranks, double exponent) {
    if (ranks < 1) {
      throw new IllegalArgumentException("ranks is " + ranks + ": at least 1 is needed");
    }
    sums = new double[ranks];
    Arrays.setAll(sums, i -> (i == 0 ? 0 : sums[i - 1]) + Math.pow(i + 1, -exponent));
  }

  /** Draws a rank from 1, the most common, to {@code ranks}. */
  public int next(RandomGenerator random) {
    int found = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
    return found < 0 ? -found : found + 1;
  }
}
