package dev.evenkeel.sim;

import dev.evenkeel.protocol.Limits;
import java.util.SplittableRandom;

/**
 * What else there is in a world, by its seed: a share of all seeds has each, and some have several.
 *
 * @param resets somebody resets the group on shards at any time
 * @param publishes handlers publish
 * @param delays some messages are delayed
 * @param clocks wall clocks jump
 * @param focus what most of the faults are about
 * @param retriesMax most messages of a group and shard that wait for another attempt
 */
record Features(
    boolean resets,
    boolean publishes,
    boolean delays,
    boolean clocks,
    Focus focus,
    int retriesMax) {
  /** So that they are drawn apart from everything else. */
  private static final long SALT = 0x5DEECE66DL;

  /** One of so many seeds has each focus. */
  private static final int OF_EACH_FOCUS = 25;

  static Features of(long seed, Setup setup) {
    SplittableRandom random = new SplittableRandom(seed ^ SALT);
    Features drawn =
        new Features(
            random.nextInt(4) == 0,
            random.nextInt(4) == 0,
            random.nextInt(4) == 0,
            random.nextInt(3) == 0,
            focus(random.nextInt(OF_EACH_FOCUS)),
            random.nextInt(3) == 0 ? 1 + random.nextInt(6) : Limits.RETRIES_MAX);
    return drawn.with(setup.focus() == null ? drawn.focus() : setup.focus());
  }

  private static Focus focus(int drawn) {
    return drawn < Focus.values().length ? Focus.values()[drawn] : Focus.NONE;
  }

  private Features with(Focus other) {
    // After a reset, a shard may be consumed before those from which its keys came. Delayed
    // messages
    // have a path of their own to other shards.
    boolean plain = other.reshards();
    return new Features(resets && !plain, publishes, delays && !plain, clocks, other, retriesMax);
  }
}
