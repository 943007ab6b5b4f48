package dev.evenkeel.broker.decide;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EqualPartTest {
  private static int kept(int[] counts, int part) {
    return IntStream.of(counts).map(each -> Math.min(each, part)).sum();
  }

  /** The definition: the highest number for which all keep no more than there is room for. */
  @Test
  void isTheHighestNumberThatFits() {
    long seed = 471_100;
    for (int run = 0; run < 2_000; run++) {
      Random random = new Random(seed + run);
      int[] counts = random.ints(1 + random.nextInt(8), 1, 50).sorted().toArray();
      int sum = IntStream.of(counts).sum();
      int max = 1 + random.nextInt(sum);
      int part = RetainDecider.equalPart(counts, max);
      assertThat(kept(counts, part)).as("seed %d", seed + run).isLessThanOrEqualTo(max);
      if (sum > max) {
        assertThat(kept(counts, part + 1)).as("seed %d", seed + run).isGreaterThan(max);
      }
    }
  }
}
