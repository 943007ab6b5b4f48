package dev.evenkeel.util.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import java.io.InterruptedIOException;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ByteRateTest {
  private static final long SECOND = 1_000_000_000;

  @Test
  void whoTakesWaitsAsLongAsTheBytesLast() {
    // A clock may begin anywhere, also below zero.
    for (long now : new long[] {0, -5, Long.MAX_VALUE - 3, Long.MIN_VALUE}) {
      ByteRate rate = new ByteRate(1_000, now);
      assertThat(rate.waitNanos(500, now)).isEqualTo(SECOND / 2);
      assertThat(rate.waitNanos(0, now + SECOND / 4)).isEqualTo(SECOND / 4);
      assertThat(rate.waitNanos(0, now + SECOND / 2)).isZero();
    }
  }

  @Test
  void whoTakesWhileOthersWaitComesAfterThem() {
    ByteRate rate = new ByteRate(1_000, 0);
    assertThat(rate.waitNanos(500, 0)).isEqualTo(SECOND / 2);
    assertThat(rate.waitNanos(250, 0)).isEqualTo(SECOND * 3 / 4);
  }

  @Test
  void whatWasNotTakenIsSavedForAMoment() {
    assertThat(new ByteRate(1_000, 0).waitNanos(100, 9 * SECOND)).isZero();
    assertThat(new ByteRate(1_000, 0).waitNanos(200, 9 * SECOND)).isEqualTo(SECOND / 10);
  }

  @Test
  void shortWaitsAreJoined() {
    ByteRate rate = new ByteRate(1_000, 0);
    for (int taken = 1; taken < 10; taken++) {
      assertThat(rate.waitNanos(1, 0)).isZero();
    }
    assertThat(rate.waitNanos(1, 0)).isEqualTo(SECOND / 100);
  }

  @Test
  void anInterruptEndsTheWait() {
    Thread.currentThread().interrupt();
    Fails.with(InterruptedIOException.class, () -> new ByteRate(1).take(1_000));
    assertThat(Thread.interrupted()).isTrue();
  }

  /**
   * Several threads, each of which works for a while after it has waited, together never go faster
   * than the rate, but for what was saved and for a short wait.
   */
  @Property
  void neverFasterThanTheRate(
      @ForAll @Size(max = 50) List<@IntRange(min = 1, max = 1 << 20) Integer> chunks,
      @ForAll @IntRange(min = 1 << 10, max = 1 << 30) int bytesPerSecond,
      @ForAll @IntRange(min = 1, max = 4) int threads,
      @ForAll @IntRange(min = 0, max = 1_000_000) int workNanos) {
    ByteRate rate = new ByteRate(bytesPerSecond, 0);
    long[] free = new long[threads];
    double bytes = 0;
    for (int chunk : chunks) {
      int first = 0;
      for (int i = 1; i < threads; i++) {
        first = free[i] < free[first] ? i : first;
      }
      long done = free[first] + rate.waitNanos(chunk, free[first]);
      bytes += chunk;
      long spare = ByteRate.SAVED_NANOS_MAX + ByteRate.SLEEP_NANOS_MIN;
      assertThat(bytes).isLessThanOrEqualTo((double) bytesPerSecond * (done + spare) / SECOND + 1);
      free[first] = done + workNanos;
    }
  }

  /** However small the pieces are, nobody waits for longer than all of them last. */
  @Property
  void neverSlowerThanTheRate(
      @ForAll @Size(max = 50) List<@IntRange(min = 1, max = 1 << 20) Integer> chunks,
      @ForAll @IntRange(min = 1 << 10, max = 1 << 30) int bytesPerSecond) {
    ByteRate rate = new ByteRate(bytesPerSecond, 0);
    long now = 0;
    double bytes = 0;
    for (int chunk : chunks) {
      now += rate.waitNanos(chunk, now);
      bytes += chunk;
      assertThat((double) now).isLessThanOrEqualTo(bytes * SECOND / bytesPerSecond + chunks.size());
    }
  }
}
