package dev.evenkeel.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulation is only worth something if it finds what is wrong: here something is. */
class PlantedBugsTest {
  /** A bug that shows in none of so many seeds counts as not found. */
  private static final long SEEDS_MAX = 500;

  private static List<Bugs> half(int which) {
    return Stream.of(Bugs.values()).filter(bug -> bug.ordinal() % 2 == which).toList();
  }

  private static List<Bugs> some() {
    return half(0);
  }

  private static List<Bugs> others() {
    return half(1);
  }

  @ParameterizedTest
  @MethodSource("some")
  void isFound(Bugs bug) {
    find(bug);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Tag("full")
  void isFoundToo(Bugs bug) {
    find(bug);
  }

  private static void find(Bugs bug) {
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
