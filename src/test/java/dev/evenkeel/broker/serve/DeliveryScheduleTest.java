package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class DeliveryScheduleTest {
  @Test
  void nothingWaits() {
    assertThat(DeliverySchedule.waitMillis(5, Long.MAX_VALUE, 1_000_000, 0))
        .isEqualTo(DeliverySchedule.NOTHING);
  }

  @Property
  void neverBeforeTheTimeNorTooSoonAfterTheLastAndNeverLongBlind(
      @ForAll @LongRange(max = 5_000) long now,
      @ForAll @LongRange(max = 10_000) long due,
      @ForAll @LongRange(max = 3_000) long sinceLast,
      @ForAll @IntRange(max = 40) int failures) {
    long wait = DeliverySchedule.waitMillis(now, due, sinceLast, failures);
    assertThat(wait).isBetween(0L, DeliverySchedule.LOOK_MILLIS_MAX);
    if (wait == 0) {
      assertThat(due).isLessThanOrEqualTo(now);
      assertThat(sinceLast).isGreaterThanOrEqualTo(DeliverySchedule.PAUSE_MILLIS);
    }
    if (due <= now && sinceLast >= DeliverySchedule.FAILED_PAUSE_MILLIS_MAX) {
      assertThat(wait).as("no reason to wait is left").isZero();
    }
    if (failures == 0 && due <= now) {
      assertThat(wait).isLessThanOrEqualTo(DeliverySchedule.PAUSE_MILLIS);
    }
  }
}
