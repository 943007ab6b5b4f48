package dev.evenkeel.demo;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Ranks by Zipf's law: rank k is k to the power of the exponent times as rare as the first. With
 * exponent 1 that is how customers, words and cities are spread. Pure: randomness is handed in.
 */
public final class Zipf {
  /** The sum of the weights of each rank and those before it. */
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

  /** A rank from 1, the commonest, to {@code ranks}. */
  public int next(RandomGenerator random) {
    int found = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
    return found < 0 ? -found : found + 1;
  }
}
