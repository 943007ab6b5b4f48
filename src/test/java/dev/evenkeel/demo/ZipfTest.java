package dev.evenkeel.demo;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class ZipfTest {
  @Property
  void ranksAreWithinTheirBounds(
      @ForAll @IntRange(min = 1, max = 2_000) int ranks, @ForAll long seed) {
    assertThat(new Zipf(ranks, 1).next(new SplittableRandom(seed))).isBetween(1, ranks);
  }

  @Test
  void rankKIsKTimesAsRareAsTheFirst() {
    SplittableRandom random = new SplittableRandom(7);
    Zipf zipf = new Zipf(100, 1);
    int[] counts = new int[101];
    times(1_000_000, i -> counts[zipf.next(random)]++);
    for (int rank : new int[] {2, 5, 10, 50}) {
      assertThat((double) counts[1] / counts[rank]).isCloseTo(rank, Percentage.withPercentage(5));
    }
  }

  @Test
  void noRanksAreRefused() {
    assertThatThrownBy(() -> new Zipf(0, 1)).hasMessageContaining("at least 1");
  }
}
