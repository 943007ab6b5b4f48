package dev.evenkeel.demo;

import java.util.random.RandomGenerator;

/**
 * Ranks by Zipf's law with exponent 1: rank k is k times as rare as the first, as it is with
 * customers, words and cities. Pure: randomness is handed in.
 */
public final class Zipf {
  /** The chance of each rank or a lower one. */
  private final double[] upTo;

  /**
   * @param ranks how many there are, at least 1
   */
  public Zipf(int ranks) {
    if (ranks < 1) {
      throw new IllegalArgumentException("ranks is " + ranks + ": at least 1 is needed");
    }
    upTo = new double[ranks];
    double sum = 0;
    for (int i = 0; i < ranks; i++) {
      sum += 1.0 / (i + 1);
      upTo[i] = sum;
    }
    for (int i = 0; i < ranks; i++) {
      upTo[i] /= sum;
    }
  }

  /** A rank from 1, the commonest, to {@code ranks}. */
  public int next(RandomGenerator random) {
    double point = random.nextDouble();
    int low = 0;
    int high = upTo.length - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (upTo[middle] > point) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low + 1;
  }
}
