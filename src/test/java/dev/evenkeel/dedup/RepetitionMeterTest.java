package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class RepetitionMeterTest {
  /** The definition, word for word, on one block. */
  private static Repetition naive(List<Long> block, int inFlight) {
    boolean[] declined = new boolean[block.size()];
    int smallest = 0;
    int counted = 0;
    int count = 0;
    for (int i = 0; i < block.size(); i++) {
      for (int j = i - 1; j >= 0; j--) {
        if (block.get(j).equals(block.get(i))) {
          smallest = smallest == 0 ? i - j : Math.min(smallest, i - j);
          break;
        }
      }
      int same = 0;
      for (int j = Math.max(0, i - (inFlight - 1)); j < i; j++) {
        same += block.get(j).equals(block.get(i)) && !declined[j] ? 1 : 0;
      }
      declined[i] = same >= 2;
      if (i >= inFlight - 1) {
        counted++;
        count += declined[i] ? 1 : 0;
      }
    }
    Repetition.Level level =
        smallest == 0
            ? Repetition.Level.NONE
            : smallest < inFlight ? Repetition.Level.HIGH : Repetition.Level.SPARSE;
    return new Repetition(
        level, smallest, counted == 0 ? null : (double) count / counted, block.size());
  }

  @Property(tries = 300)
  void withinABlockItDoesWhatTheDefinitionSays(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 200) int inFlight,
      @ForAll @IntRange(min = 1, max = 2_000) int values,
      @ForAll @IntRange(min = 1, max = 1_023) int messages) {
    Random random = new Random(seed);
    RepetitionMeter meter = new RepetitionMeter(inFlight);
    List<Long> block = new ArrayList<>();
    for (int i = 0; i < messages; i++) {
      long digest = random.nextInt(values) * 0x1234567890abcdefL;
      block.add(digest);
      assertThat(meter.next()).isTrue();
      meter.observe(digest);
    }
    assertThat(meter.read()).isEqualTo(naive(block, inFlight));
  }

  private static RepetitionMeter fed(int inFlight, long messages, LongSupplier digests) {
    RepetitionMeter meter = new RepetitionMeter(inFlight);
    for (long i = 0; i < messages; i++) {
      long digest = digests.getAsLong();
      if (meter.next()) {
        meter.observe(digest);
      }
    }
    return meter;
  }

  @Example
  void oneBlockInEightIsLookedAt() {
    long[] next = {0};
    Repetition seen = fed(16, 8 * 1_024 * 10, () -> next[0]++).read();
    assertThat(seen).isEqualTo(new Repetition(Repetition.Level.NONE, 0, 0.0, 1_024 * 10));
  }

  @Example
  void whatRepeatsFartherApartThanTheHandlersIsSparse() {
    long[] next = {0};
    Repetition seen = fed(16, 100_000, () -> next[0]++ % 16).read();
    assertThat(seen.level()).isEqualTo(Repetition.Level.SPARSE);
    assertThat(seen.smallestDistance()).isEqualTo(16);
    assertThat(seen.declinedShare()).isZero();
    Repetition closer = fed(17, 100_000, () -> next[0]++ % 16).read();
    assertThat(closer.level()).isEqualTo(Repetition.Level.HIGH);
  }

  @Example
  void allTheSameAreDeclinedButForTwoInEachTurn() {
    Repetition seen = fed(16, 100_000, () -> 7).read();
    // One works and one waits, as long as 16 take.
    assertThat(seen.declinedShare()).isCloseTo(14.0 / 16, within(0.03));
    assertThat(seen.smallestDistance()).isEqualTo(1);
  }

  @Example
  void whatWasLongAgoIsForgotten() {
    RepetitionMeter meter = new RepetitionMeter(16);
    long[] next = {0};
    for (long i = 0; i < 1_024; i++) {
      meter.next();
      meter.observe(1);
    }
    assertThat(meter.read().level()).isEqualTo(Repetition.Level.HIGH);
    for (long i = 0; i < 3L * RepetitionMeter.EPOCH_BLOCKS * 8 * 1_024; i++) {
      if (meter.next()) {
        meter.observe(next[0]++);
      }
    }
    assertThat(meter.read().level()).isEqualTo(Repetition.Level.NONE);
  }
}
