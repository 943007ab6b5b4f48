package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TransferRateTest {
  private static final long SECOND = 1_000_000_000;

  @Test
  void whoTakesWaitsAsLongAsTheBytesLast() {
    // A clock may begin anywhere, also below zero.
    for (long now : new long[] {0, -5, Long.MAX_VALUE - 3, Long.MIN_VALUE}) {
      TransferRate rate = TransferRate.of(1_000, now).taken(500, now);
      assertThat(rate.waitNanos(now)).isEqualTo(SECOND / 2);
      assertThat(rate.waitNanos(now + SECOND / 4)).isEqualTo(SECOND / 4);
      assertThat(rate.waitNanos(now + SECOND)).isZero();
    }
  }

  @Test
  void whoTakesWhileOthersWaitComesAfterThem() {
    TransferRate rate = TransferRate.of(1_000, 0).taken(500, 0).taken(250, 0);
    assertThat(rate.waitNanos(0)).isEqualTo(SECOND * 3 / 4);
  }

  @Test
  void whatWasNotTakenIsSavedForAMoment() {
    TransferRate idle = TransferRate.of(1_000, 0);
    assertThat(idle.taken(100, 9 * SECOND).waitNanos(9 * SECOND)).isZero();
    assertThat(idle.taken(200, 9 * SECOND).waitNanos(9 * SECOND)).isEqualTo(SECOND / 10);
  }

  /** However long anyone waits besides: never faster than the rate, but for what was saved. */
  @Property
  void neverFasterThanTheRate(
      @ForAll @Size(max = 50) List<@IntRange(min = 1, max = 1 << 20) Integer> chunks,
      @ForAll @IntRange(min = 1 << 10, max = 1 << 30) int bytesPerSecond,
      @ForAll @IntRange(min = 0, max = 1_000_000) int between) {
    TransferRate rate = TransferRate.of(bytesPerSecond, 0);
    long now = 0;
    double bytes = 0;
    for (int chunk : chunks) {
      rate = rate.taken(chunk, now);
      now += rate.waitNanos(now);
      bytes += chunk;
      assertThat(bytes)
          .isLessThanOrEqualTo(bytesPerSecond * (now + SECOND / 10.0) / SECOND + chunks.size());
      now += between;
    }
  }
}
