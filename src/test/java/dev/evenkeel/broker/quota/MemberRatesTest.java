package dev.evenkeel.broker.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import org.junit.jupiter.api.Test;

class MemberRatesTest {
  private static final Quota SLOW = new Quota(QuotaKind.GROUP_RATE, "g", 0, 10, 1_000);
  private static final Quota FAST = new Quota(QuotaKind.GROUP_RATE, "g", 0, 99, 1_000);

  private final MemberRates rates = new MemberRates();

  @Test
  void aRateThatAMemberNamesGoesAMinuteAfterTheLastMember() {
    rates.named(null, SLOW, 0);
    assertThat(rates.groups()).containsExactly("g");
    assertThat(rates.isOver("g", SLOW, true, MemberRates.KEPT_NANOS)).isFalse();
    assertThat(rates.isOver("g", SLOW, false, 2 * MemberRates.KEPT_NANOS - 1)).isFalse();
    assertThat(rates.isOver("g", SLOW, false, 2 * MemberRates.KEPT_NANOS)).isTrue();
    assertThat(rates.groups()).isEmpty();
    assertThat(rates.isOver("g", SLOW, false, Long.MAX_VALUE)).isFalse();
  }

  @Test
  void aRateOfAGroupThatNobodyJoinsGoes() {
    rates.named(null, SLOW, 5);
    assertThat(rates.isOver("g", SLOW, false, 5 + MemberRates.KEPT_NANOS)).isTrue();
  }

  @Test
  void anotherRateOfMembersGoesToo() {
    rates.named(null, SLOW, 0);
    rates.named(SLOW, FAST, 1);
    assertThat(rates.isOver("g", FAST, false, 1 + MemberRates.KEPT_NANOS)).isTrue();
  }

  @Test
  void whatAnAdministratorHasSetStays() {
    rates.named(SLOW, FAST, 0);
    assertThat(rates.groups()).isEmpty();
    rates.named(null, SLOW, 0);
    assertThat(rates.isOver("g", FAST, false, MemberRates.KEPT_NANOS)).as("changed").isFalse();
    assertThat(rates.isOver("g", SLOW, false, 9 * MemberRates.KEPT_NANOS)).isFalse();
    rates.named(null, SLOW, 0);
    assertThat(rates.isOver("g", null, false, MemberRates.KEPT_NANOS)).as("cleared").isFalse();
    assertThat(rates.groups()).isEmpty();
  }
}
