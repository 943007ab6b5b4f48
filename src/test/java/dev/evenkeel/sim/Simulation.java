package dev.evenkeel.sim;

import java.util.List;

/**
 * One seed: a world with faults for some seconds of virtual time, and then without. While there are
 * faults nothing unsafe may happen; after them everything must come to rest as it should be.
 */
final class Simulation {
  private static final long SETTLE_MILLIS_MAX = 60_000;

  /** So long everything must stay as it is. */
  private static final long QUIET_MILLIS = 6_000;

  private static final long LOOK_MILLIS = 250;

  /** A group that is forgotten begins with everything anew: it must not become too much. */
  private static final long DELAYING_MILLIS_MAX = 20_000;

  private final World world;
  private long settledAfterMillis;

  Simulation(long seed, Setup setup, boolean tracing) {
    world = new World(seed, setup, tracing);
  }

  /** How long it took to come to rest after the last fault, in milliseconds of virtual time. */
  long settledAfterMillis() {
    return settledAfterMillis;
  }

  /**
   * Returns how many events there were.
   *
   * @throws AssertionError if something was not as it must be
   */
  long run() {
    long faultsEnd =
        World.START + (5_000 + world.random.nextInt(15_000)) * world.features.focus().lasts;
    new Mischief(world, faultsEnd);
    if (world.features.resets()) {
      new Operator(world, faultsEnd);
    }
    if (world.features.delays()) {
      new DelayingProducer(world, Math.min(faultsEnd, World.START + DELAYING_MILLIS_MAX));
    }
    world.time.runUntil(faultsEnd);
    world.calm();
    Settling settling = new Settling(world);
    String unsettled = "nothing was looked at";
    long settledSince = -1;
    long movesThen = -1;
    long bound = faultsEnd + SETTLE_MILLIS_MAX;
    while (world.time.now() < bound) {
      world.time.runUntil(world.time.now() + LOOK_MILLIS);
      unsettled = settling.unsettled();
      if (unsettled != null || world.ledger.moves() != movesThen) {
        settledSince = world.time.now();
        movesThen = world.ledger.moves();
      } else if (world.time.now() - settledSince >= QUIET_MILLIS) {
        world.brokers.groups().forEach(DataGroup::compare);
        settledAfterMillis = settledSince - faultsEnd;
        return world.time.handled();
      }
    }
    throw new SimulationFailure(
        "not settled " + SETTLE_MILLIS_MAX + " ms after the last fault: " + unsettled);
  }

  List<String> trace() {
    return world.time.trace();
  }
}
