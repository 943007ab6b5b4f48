package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Dispatchers, members and a log under losses, delays and crashes, in virtual time. */
class DispatcherSimulationTest {
  private static final int SEEDS = 1_000;

  @Test
  void everyShardFindsALiveOwnerWhateverWasLost() {
    long from = Long.getLong("evenkeel.sim.seed", 1);
    long to = System.getProperty("evenkeel.sim.seed") == null ? SEEDS : from;
    long steps = 0;
    for (long seed = from; seed <= to; seed++) {
      try {
        steps += new Simulation(seed).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + " (-Devenkeel.sim.seed=" + seed + "): " + e, e);
      }
    }
    assertThat(steps).isPositive();
    System.out.println("simulated " + (to - from + 1) + " seeds, " + steps + " events");
  }
}
