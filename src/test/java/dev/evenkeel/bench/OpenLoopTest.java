package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class OpenLoopTest {
  @Test
  void aThousandASecondIsOneAMillisecond() {
    OpenLoop loop = new OpenLoop(5_000, 1_000);
    assertThat(loop.dueNanos(0)).isEqualTo(5_000);
    assertThat(loop.dueNanos(1)).isEqualTo(1_005_000);
    assertThat(loop.dueNanos(60_000)).isEqualTo(60_000_000_000L + 5_000);
    assertThat(loop.count(2_000_000_000L)).isEqualTo(2_000);
  }

  @Test
  void thereIsNoRateOfNothing() {
    assertThatThrownBy(() -> new OpenLoop(0, 0)).isInstanceOf(IllegalArgumentException.class);
    Fails.with(IllegalArgumentException.class, () -> new OpenLoop(0, Double.NaN));
  }

  @Property
  void timesNeverGoBackAndNoErrorAddsUp(
      @ForAll @DoubleRange(min = 0.1, max = 1e7) double perSecond,
      @ForAll @LongRange(min = 0, max = 10_000_000) long i) {
    OpenLoop loop = new OpenLoop(0, perSecond);
    assertThat(loop.dueNanos(i + 1)).isGreaterThanOrEqualTo(loop.dueNanos(i));
    assertThat(Math.abs(loop.dueNanos(i) - i * 1e9 / perSecond))
        .isLessThanOrEqualTo(1 + 1e-12 * loop.dueNanos(i));
  }

  @Property
  void exactlyThoseCountedAreDueInATime(
      @ForAll @DoubleRange(min = 0.1, max = 1e6) double perSecond,
      @ForAll @LongRange(min = 1, max = 100_000_000_000L) long nanos) {
    OpenLoop loop = new OpenLoop(0, perSecond);
    long count = loop.count(nanos);
    assertThat(count).isPositive();
    // Within the rounding of one nanosecond.
    assertThat(loop.dueNanos(count - 1)).isLessThanOrEqualTo(nanos + 1);
    assertThat(loop.dueNanos(count)).isGreaterThanOrEqualTo(nanos - 1);
  }
}
