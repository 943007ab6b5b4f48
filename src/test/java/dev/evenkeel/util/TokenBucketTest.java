package dev.evenkeel.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class TokenBucketTest {
  private static final long MILLI = TokenBucket.NANOS_PER_MILLI;

  /** Never more than the permits and the rate times the time, in any time whatever. */
  @Property(tries = 300)
  void itBoundsEveryInterval(
      @ForAll @IntRange(min = 1, max = 20) int permits,
      @ForAll @IntRange(min = 1, max = 2_000) int periodMillis,
      @ForAll long seed) {
    TokenBucket bucket = TokenBucket.of(permits, periodMillis * MILLI);
    Random random = new Random(seed);
    long now = random.nextInt() * MILLI;
    long full = TokenBucket.ALWAYS_FULL;
    List<Long> taken = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      now += random.nextInt(3) == 0 ? random.nextInt(periodMillis) * MILLI : random.nextInt(1_000);
      int available = bucket.available(full, now);
      assertThat(available > 0).isEqualTo(bucket.due(full) <= now);
      assertThat(available).isBetween(0, permits);
      int wanted = random.nextInt(permits + 2);
      for (int k = 0; k < wanted && bucket.due(full) <= now; k++) {
        full = bucket.taken(full, now);
        assertThat(bucket.available(full, now)).isEqualTo(--available);
        taken.add(now);
      }
    }
    for (int i = 0; i < taken.size(); i++) {
      for (int j = i; j < taken.size(); j++) {
        double periods = (taken.get(j) - taken.get(i)) / (double) (periodMillis * MILLI);
        if (j - i + 1.0 > permits * (1 + periods) + 1e-6) {
          throw new AssertionError(j - i + 1 + " from " + taken.get(i) + " to " + taken.get(j));
        }
      }
    }
  }

  /** Whoever takes as soon as there is one gets the whole rate, but for what is rounded. */
  @Property(tries = 100)
  void itGivesWhatItPromises(
      @ForAll @IntRange(min = 1, max = 1_000) int permits,
      @ForAll @IntRange(min = 1, max = 60_000) int periodMillis) {
    TokenBucket bucket = TokenBucket.of(permits, periodMillis * MILLI);
    long full = TokenBucket.ALWAYS_FULL;
    long now = 0;
    for (int i = 0; i < 3 * permits; i++) {
      now = Math.max(now, bucket.due(full));
      full = bucket.taken(full, now);
    }
    assertThat(now).isLessThanOrEqualTo((2L * periodMillis + 1) * MILLI);
  }

  @Example
  void aFullOneIsAsGoodAsNew() {
    TokenBucket bucket = TokenBucket.of(3, 30 * MILLI);
    long full = bucket.taken(TokenBucket.ALWAYS_FULL, 0);
    assertThat(full).isEqualTo(10 * MILLI);
    assertThat(bucket.available(full, 10 * MILLI - 1)).isEqualTo(2);
    assertThat(bucket.available(full, 10 * MILLI)).isEqualTo(3);
    assertThat(bucket.taken(full, 10 * MILLI))
        .isEqualTo(bucket.taken(TokenBucket.ALWAYS_FULL, 10 * MILLI));
  }

  @Example
  void itSpreadsAndCatchesUpOnlyALittle() {
    TokenBucket bucket = new TokenBucket(100 * MILLI, 100 * MILLI);
    long full = 100 * MILLI;
    assertThat(bucket.due(full)).isZero();
    full = bucket.taken(full, 0);
    assertThat(bucket.due(full)).isEqualTo(100 * MILLI);
    long late = 10_000 * MILLI;
    full = bucket.taken(full, late);
    assertThat(bucket.due(full)).isEqualTo(late);
    assertThat(bucket.due(bucket.taken(full, late))).isEqualTo(late + 100 * MILLI);
  }
}
