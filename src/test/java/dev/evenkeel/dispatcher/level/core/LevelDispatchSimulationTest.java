package dev.evenkeel.dispatcher.level.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.level.Range;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Groups with everything that goes wrong, in virtual time; a failure names its seed. */
class LevelDispatchSimulationTest {
  private static final int SEEDS = Integer.getInteger("deal.seeds", 20);
  private static final long FIRST = Long.getLong("deal.first", 1);

  @ParameterizedTest
  @EnumSource(LevelPolicy.Strategy.class)
  void theBoundHoldsAndNothingIsLostOrStuck(LevelPolicy.Strategy strategy) {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try {
        simulate(seed, strategy);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(strategy + ", seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static void simulate(long seed, LevelPolicy.Strategy strategy) {
    int[] ranges = {1, 2, 5, 10, 50};
    Range range = Range.of(ranges[(int) (seed % ranges.length)]);
    LevelDispatchWorld world = new LevelDispatchWorld(seed, new LevelPolicy(range, strategy), 500);
    world.join();
    world.join();
    world.join();
    for (int i = 0; i < 60; i++) {
      world.run(world.random.nextInt(800));
      world.mischief();
    }
    world.settle();
    for (int i = 0; i < 20_000 && !world.allHandled(); i++) {
      world.run(500);
    }
    assertThat(world.allHandled()).as("all is handled: " + world.state()).isTrue();
    assertThat(world.remembered()).as("remembered for nothing").isZero();
  }
}
