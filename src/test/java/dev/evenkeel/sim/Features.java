package dev.evenkeel.sim;

import java.util.SplittableRandom;

/**
 * What else there is in a world, by its seed: a share of all seeds has each, and some have several.
 *
 * @param resets somebody resets the group on shards at any time
 * @param publishes handlers publish
 * @param delays some messages are delayed
 * @param clocks wall clocks jump
 */
record Features(boolean resets, boolean publishes, boolean delays, boolean clocks) {
  /** So that they are drawn apart from everything else. */
  private static final long SALT = 0x5DEECE66DL;

  static Features of(long seed) {
    SplittableRandom random = new SplittableRandom(seed ^ SALT);
    return new Features(
        random.nextInt(4) == 0,
        random.nextInt(4) == 0,
        random.nextInt(4) == 0,
        random.nextInt(3) == 0);
  }
}
