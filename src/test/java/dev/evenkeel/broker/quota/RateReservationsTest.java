package dev.evenkeel.broker.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class RateReservationsTest {
  private static final long SECOND = 1_000_000_000;
  private static final long BURST = RateReservations.BURST_NANOS;

  private record Grant(long startNanos, long messages, long bytes) {}

  private static Quota of(long bytes, long messages) {
    return Quota.perSecond(QuotaKind.TOPIC, "t", bytes, messages);
  }

  /** In no window is more granted than the rate, the burst and one grant allow. */
  @Property(tries = 300)
  void theSumOfAllHoldersIsWithinTheRate(
      @ForAll @IntRange(min = 1, max = 20_000) int rate,
      @ForAll @IntRange(min = 1, max = 500) int most,
      @ForAll long seed) {
    Random random = new Random(seed);
    RateReservations reservations = new RateReservations(0);
    List<Grant> grants = new ArrayList<>();
    long now = 0;
    for (int i = 0; i < 300; i++) {
      now += random.nextInt(4) == 0 ? random.nextLong(SECOND) : random.nextLong(20_000_000);
      int messages = 1 + random.nextInt(most);
      Reservation given = reservations.reserve(now, of(0, rate), 0, messages, SECOND);
      if (given.granted()) {
        grants.add(new Grant(now + given.delayNanos(), messages, 0));
      } else {
        assertThat(given.delayNanos()).isGreaterThan(SECOND);
      }
    }
    for (int from = 0; from < grants.size(); from++) {
      long sum = 0;
      for (int to = from; to < grants.size(); to++) {
        sum += grants.get(to).messages();
        double nanos = grants.get(to).startNanos() - grants.get(from).startNanos();
        assertThat(grants.get(to).startNanos())
            .as("grants start in the order in which they were asked for")
            .isGreaterThanOrEqualTo(grants.get(Math.max(from, to - 1)).startNanos());
        assertThat((double) sum)
            .isLessThanOrEqualTo(
                rate * (nanos + BURST) / SECOND + grants.get(to).messages() + 1e-6 * sum + 1e-6);
      }
    }
  }

  /** Whoever asks all the time gets the whole rate. */
  @Property(tries = 100)
  void nothingOfTheRateIsLost(
      @ForAll @LongRange(min = 10, max = 1_000_000_000_000L) long rate,
      @ForAll @IntRange(min = 1, max = 5) int holders) {
    RateReservations reservations = new RateReservations(0);
    long slice = Math.max(1, rate / 20);
    long[] next = new long[holders];
    long sum = 0;
    long end = 30 * SECOND;
    for (long now = 0; now < end; now += 1_000_000) {
      for (int i = 0; i < holders; i++) {
        if (now >= next[i]) {
          Reservation given = reservations.reserve(now, of(rate, 0), slice, 0, SECOND);
          if (given.granted()) {
            next[i] = now + given.delayNanos();
            sum += next[i] < end ? slice : 0;
          } else {
            next[i] = now + given.delayNanos() - SECOND;
          }
        }
      }
    }
    assertThat(sum / 30.0).isCloseTo(rate, within(rate * 0.03 + 1));
  }

  @Test
  void theLaterLimitCounts() {
    RateReservations reservations = new RateReservations(0);
    reservations.reserve(0, of(1_000, 10), 100, 5, SECOND);
    Reservation next = reservations.reserve(0, of(1_000, 10), 900, 1, SECOND);
    assertThat(next.delayNanos()).as("5 messages").isEqualTo(SECOND / 2);
    assertThat(next.paidNanos()).as("1,000 bytes").isEqualTo(SECOND);
  }

  @Test
  void aNewCoordinatorHasNoBurst() {
    RateReservations reservations = new RateReservations(10 * SECOND);
    Quota quota = of(0, 100);
    assertThat(reservations.reserve(10 * SECOND, quota, 0, 10, SECOND).delayNanos()).isZero();
    assertThat(reservations.reserve(10 * SECOND, quota, 0, 10, SECOND).delayNanos())
        .isEqualTo(SECOND / 10);
  }

  @Test
  void aQuietTimeIsABurst() {
    RateReservations reservations = new RateReservations(0);
    Quota quota = of(0, 100);
    for (int i = 0; i < 25; i++) {
      assertThat(reservations.reserve(60 * SECOND, quota, 0, 1, SECOND).delayNanos()).isZero();
    }
    assertThat(reservations.reserve(60 * SECOND, quota, 0, 1, SECOND).delayNanos()).isZero();
    assertThat(reservations.reserve(60 * SECOND, quota, 0, 1, SECOND).delayNanos()).isPositive();
  }

  @Test
  void aRefusalCostsNothing() {
    RateReservations reservations = new RateReservations(0);
    reservations.reserve(0, of(100, 0), 300, 0, SECOND);
    for (int i = 0; i < 10; i++) {
      Reservation no = reservations.reserve(0, of(100, 0), 50, 0, SECOND);
      assertThat(no.granted()).isFalse();
      assertThat(no.delayNanos()).isEqualTo(3 * SECOND);
    }
    assertThat(reservations.reserve(2 * SECOND, of(100, 0), 50, 0, SECOND).delayNanos())
        .isEqualTo(SECOND);
  }

  @Test
  void whatIsOwedIsPaidAtANewRateThatIsHigher() {
    RateReservations reservations = new RateReservations(0);
    reservations.reserve(0, of(100, 0), 1_000, 0, SECOND);
    assertThat(reservations.reserve(0, of(1_000, 0), 0, 0, SECOND).delayNanos()).isEqualTo(SECOND);
    assertThat(reservations.reserve(0, of(500, 0), 0, 0, 9 * SECOND).delayNanos())
        .as("it was spent at the former rate")
        .isEqualTo(SECOND);
    assertThat(reservations.reserve(0, of(0, 7), 0, 0, SECOND).delayNanos())
        .as("another limit begins anew")
        .isZero();
  }

  @Test
  void usageFollowsWhatIsGranted() {
    RateReservations reservations = new RateReservations(0);
    long now = 0;
    for (; now < 30 * SECOND; now += SECOND / 10) {
      reservations.reserve(now, of(1_000, 0), 50, 5, SECOND);
    }
    Quota.Key key = of(1, 1).key();
    assertThat(reservations.bytesPerSecond(key, now)).isCloseTo(500, within(15.0));
    assertThat(reservations.messagesPerSecond(key, now)).isCloseTo(50, within(2.0));
    assertThat(reservations.messagesPerSecond(key, now + 60 * SECOND)).isLessThan(0.01);
  }
}
