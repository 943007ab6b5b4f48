package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeaseTest {
  private final Lease lease = new Lease();

  @Test
  void itHoldsFromTheSendingOfAQuestionThatWasAnswered() {
    assertThat(lease.holds(0, 0, 5_000)).isFalse();
    long number = lease.answered(1_000, 5_000);
    assertThat(lease.holds(number, 5_999, 5_000)).isTrue();
    assertThat(lease.holds(number, 6_000, 5_000)).isFalse();
    // The answer to an older question comes late.
    assertThat(lease.answered(500, 5_000)).isEqualTo(number);
    assertThat(lease.holds(number, 5_999, 5_000)).isTrue();
    assertThat(lease.holds(number, 1_000, 0)).as("known by another name").isFalse();
  }

  @Test
  void oneThatHasEndedIsNotTakenUpAgain() {
    long number = lease.answered(1_000, 5_000);
    assertThat(lease.answered(5_999, 5_000)).isEqualTo(number);
    long next = lease.answered(10_999, 5_000);
    assertThat(next).isNotEqualTo(number);
    assertThat(lease.holds(number, 11_000, 5_000)).isFalse();
    assertThat(lease.holds(next, 11_000, 5_000)).isTrue();
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
