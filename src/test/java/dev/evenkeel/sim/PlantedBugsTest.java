package dev.evenkeel.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation is only worth something if it finds what is wrong: here something is. */
class PlantedBugsTest {
  /** A bug that shows in none of so many seeds counts as not found. */
  private static final long SEEDS_MAX = 500;

  @ParameterizedTest
  @EnumSource(Bugs.class)
  void isFound(Bugs bug) {
    Setup planted = Setup.PRODUCT.with(bug).with(bug.focus);
    String found = null;
    long seed = 0;
    while (found == null && seed < SEEDS_MAX) {
      found = Seeds.failure(++seed, planted);
    }
    assertThat(found).as("what " + bug + " does").isNotNull();
    System.out.println(bug + " is found by seed " + seed + ": " + found);
  }
}
