package dev.evenkeel.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation is only worth something if it finds what is wrong: here something is. */
class PlantedBugsTest {
  /** A bug that shows in none of so many seeds counts as not found. */
  private static final long SEEDS_MAX = 500;

  @ParameterizedTest
  @EnumSource(Bugs.class)
  void isFound(Bugs bug) {
    Setup planted = Setup.PRODUCT.with(bug);
    long found =
        LongStream.rangeClosed(1, SEEDS_MAX)
            .filter(seed -> Seeds.fails(seed, planted))
            .findFirst()
            .orElse(-1);
    assertThat(found).as("the first seed that shows " + bug).isPositive();
    System.out.println(bug + " is found by seed " + found);
  }
}
