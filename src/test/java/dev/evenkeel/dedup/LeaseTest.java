package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeaseTest {
  private final Lease lease = new Lease();

  @Test
  void itHoldsFromTheSendingOfAQuestionThatWasAnswered() {
    assertThat(lease.holds(0, 5_000)).isFalse();
    lease.answered(1_000);
    assertThat(lease.holds(5_999, 5_000)).isTrue();
    assertThat(lease.holds(6_000, 5_000)).isFalse();
    // The answer to an older question comes late.
    lease.answered(500);
    assertThat(lease.holds(5_999, 5_000)).isTrue();
    assertThat(lease.holds(1_000, 0)).as("the cluster knows it by another name").isFalse();
  }

  @Test
  void itAsksEachSecondAndMoreOftenIfItMayNotBeSilentForLong() {
    assertThat(lease.asks(0, 5_000)).isTrue();
    assertThat(lease.asks(999, 5_000)).isFalse();
    assertThat(lease.asks(1_000, 5_000)).isTrue();
    assertThat(lease.asks(1_019, 100)).isFalse();
    assertThat(lease.asks(1_020, 100)).isTrue();
  }

  @Test
  void itIsTwoThirdsOfTheSilenceButAtMostFiveSeconds() {
    assertThat(Lease.silentMillisMax(150)).isEqualTo(100);
    assertThat(Lease.silentMillisMax(7_500)).isEqualTo(5_000);
    assertThat(Lease.silentMillisMax(Long.MAX_VALUE / 4)).isEqualTo(5_000);
  }
}
