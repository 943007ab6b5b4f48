package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The rules of {@link Breaker} for whatever happens. */
class BreakerPropertiesTest {
  private static final long BEGIN = 1_000_000;

  /**
   * @param afterMillis since the one before
   */
  private record End(boolean ok, int attempt, long afterMillis) {}

  @Provide
  Arbitrary<List<End>> ends() {
    Arbitrary<Boolean> ok =
        Arbitraries.integers().between(0, 9).map(die -> die == 0).injectDuplicates(0.5);
    Arbitrary<Integer> attempt = Arbitraries.integers().between(1, 3);
    Arbitrary<Long> after = Arbitraries.of(0L, 1L, 1_000L, 20_000L, 60_000L, 300_000L);
    return Combinators.combine(ok, attempt, after).as(End::new).list().ofMaxSize(200);
  }

  /** The rules again, from all that has happened since it was closed last. */
  @Property(tries = 300)
  void itIsOpenWhenTheRulesSaySo(@ForAll("ends") List<End> ends) {
    Breaker breaker = new Breaker(true);
    long now = BEGIN;
    List<Boolean> firsts = new ArrayList<>();
    List<Long> barren = new ArrayList<>();
    boolean open = false;
    long opened = 0;
    for (End end : ends) {
      now += end.afterMillis();
      boolean over = open && (end.ok() || now - opened >= Breaker.OPEN_MILLIS_MAX);
      if (over) {
        open = false;
        firsts.clear();
        barren.clear();
      }
      if (end.ok()) {
        barren.clear();
      }
      if (!open && end.attempt() == 1 && !(over && end.ok())) {
        firsts.add(end.ok());
        if (!end.ok()) {
          barren.add(now);
        }
      }
      if (!open && !end.ok()) {
        int size = firsts.size();
        boolean many =
            end.attempt() == 1
                && size >= 20
                && firsts.subList(size - 20, size).stream().filter(ok -> !ok).count() >= 16;
        boolean few = barren.size() >= 3 && now - barren.get(0) >= 60_000;
        open = many || few;
        opened = now;
      }
      if (end.ok()) {
        breaker.succeeded(end.attempt() == 1);
      } else {
        breaker.failed(end.attempt() == 1, 0, now);
      }
      assertThat(breaker.open()).isEqualTo(open);
    }
  }

  @Property(tries = 300)
  void whateverWasBeforeAFailureCountsWithinTenMinutesAndAPause(@ForAll("ends") List<End> ends) {
    Breaker breaker = new Breaker(true);
    long now = BEGIN;
    for (End end : ends) {
      now += end.afterMillis();
      if (end.ok()) {
        breaker.succeeded(end.attempt() == 1);
      } else {
        breaker.failed(end.attempt() == 1, 0, now);
      }
    }
    long until = now + Breaker.OPEN_MILLIS_MAX + 10_000;
    while (breaker.open()) {
      now += breaker.waitMillis(now);
      assertThat(now).isLessThanOrEqualTo(until);
      assertThat(breaker.mayStart(0, now)).isTrue();
      breaker.failed(false, 0, now);
    }
  }

  private record Attempt(int message, int number, long millis, boolean last) {}

  /** Messages that use up their attempts in an outage, before it opens. */
  private static int burned(List<Integer> arrivals, long pauseMillis, int pauses) {
    List<Attempt> attempts = new ArrayList<>();
    Breaker breaker = new Breaker(true);
    long arrived = BEGIN;
    for (int message = 0; message < arrivals.size(); message++) {
      arrived += arrivals.get(message);
      for (int i = 0; i <= pauses; i++) {
        attempts.add(new Attempt(message, i + 1, arrived + i * pauseMillis, i == pauses));
      }
    }
    attempts.sort(Comparator.comparingLong(Attempt::millis));
    int burned = 0;
    for (Attempt attempt : attempts) {
      breaker.failed(attempt.number() == 1, 0, attempt.millis());
      if (breaker.open()) {
        return burned;
      }
      burned += attempt.last() ? 1 : 0;
    }
    return burned;
  }

  @Property(tries = 300)
  void anOutageBurnsNoMoreThanTwoMessagesWhoseAttemptsTakeAMinute(
      @ForAll @Size(max = 60) List<@IntRange(max = 100_000) Integer> arrivals,
      @ForAll @IntRange(min = 1, max = 5) int pauses) {
    assertThat(burned(arrivals, 60_000 / pauses + 1, pauses)).isLessThan(Breaker.ALL_FAILED_MIN);
  }

  @Property(tries = 300)
  void anOutageBurnsFewerThanTwentyMessagesWhateverTheirPauses(
      @ForAll @Size(max = 60) List<@IntRange(max = 100_000) Integer> arrivals,
      @ForAll @IntRange(max = 5) int pauses,
      @ForAll @IntRange(max = 20_000) int pauseMillis) {
    assertThat(burned(arrivals, pauseMillis, pauses)).isLessThan(Breaker.LOOKED_AT);
  }
}
