package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class ElapsedTimeTest {
  private static final long WALL = 1_700_000_000_000L;
  private static final long TIMEOUT_MILLIS = 10_000;

  private final SelfFence fence = new SelfFence(TIMEOUT_MILLIS);
  private long monotonicNanos = -5_000_000_000L;
  private long wallMillis = WALL;
  private final ElapsedTime time = new ElapsedTime(monotonicNanos, wallMillis);

  @Example
  void aMemberOfAMachineThatWasSuspendedStartsNothingBeforeItIsAnsweredAgain() {
    fence.answered(millis());
    pass(5_000);
    assertThat(fence.mayStart(millis())).isTrue();
    // Suspended: the monotonic clock stands still.
    wallMillis += 60_000;
    assertThat(fence.mayStart(millis())).isFalse();
    pass(2);
    assertThat(fence.mayStart(millis())).isFalse();
    fence.answered(millis());
    assertThat(fence.mayStart(millis())).isTrue();
    pass(TIMEOUT_MILLIS - SelfFence.MARGIN_MILLIS);
    assertThat(fence.mayStart(millis())).isTrue();
    pass(1);
    assertThat(fence.mayStart(millis())).isFalse();
  }

  @Example
  void oneWhoseClockStandsStillForLessThanIsNoticedKeepsWithinTheMargin() {
    assertThat(ElapsedTime.APART_NANOS_MAX * 4).isLessThan(SelfFence.MARGIN_MILLIS * 1_000_000);
  }

  @Example
  void aWallClockThatIsSetForwardCountsOnceAndOneThatIsSetBackNotAtAll() {
    fence.answered(millis());
    wallMillis += 86_400_000;
    assertThat(fence.mayStart(millis())).isFalse();
    fence.answered(millis());
    assertThat(fence.mayStart(millis())).isTrue();
    wallMillis -= 86_400_000;
    assertThat(fence.mayStart(millis())).isTrue();
    pass(TIMEOUT_MILLIS - SelfFence.MARGIN_MILLIS);
    assertThat(fence.mayStart(millis())).isTrue();
    // And after that a suspension is noticed as before.
    fence.answered(millis());
    wallMillis += TIMEOUT_MILLIS;
    assertThat(fence.mayStart(millis())).isFalse();
  }

  /** However often it is read, and however coarse the wall clock is, it does not run ahead. */
  @Property(tries = 100)
  void whatPassedIsWhatTheClockSaysThatMovedFurther(@ForAll long seed) {
    Random random = new Random(seed);
    long tickNanos = 16_000_000;
    long exactWallNanos = wallMillis * 1_000_000;
    long suspendedNanos = 0;
    ElapsedTime time = new ElapsedTime(monotonicNanos, wallMillis);
    long last = time.nanos(monotonicNanos, wallMillis);
    int jumps = 1;
    for (int i = 0; i < 5_000; i++) {
      long step = random.nextInt(1_000_000);
      long jump = ElapsedTime.APART_NANOS_MAX * (2 + random.nextInt(100));
      switch (random.nextInt(1_000)) {
        case 0 -> {
          suspendedNanos += jump;
          exactWallNanos += jump;
          jumps++;
        }
        case 1 -> {
          exactWallNanos -= jump;
          jumps++;
        }
        default -> {
          // Time goes by.
        }
      }
      monotonicNanos += step;
      exactWallNanos += step;
      wallMillis = exactWallNanos / tickNanos * tickNanos / 1_000_000;
      long now = time.nanos(monotonicNanos, wallMillis);
      assertThat(now).isGreaterThanOrEqualTo(last);
      last = now;
      long error = Math.abs(now - monotonicNanos - suspendedNanos);
      assertThat(error).isLessThanOrEqualTo(jumps * tickNanos);
    }
    assertThat(time.nanos(monotonicNanos)).isEqualTo(last);
  }

  private long millis() {
    return time.nanos(monotonicNanos, wallMillis) / 1_000_000;
  }

  private void pass(long millis) {
    monotonicNanos += millis * 1_000_000;
    wallMillis += millis;
  }
}
