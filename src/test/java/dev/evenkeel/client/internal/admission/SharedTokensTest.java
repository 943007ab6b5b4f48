package dev.evenkeel.client.internal.admission;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.evenkeel.broker.quota.RateReservations;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Members that share a rate, in virtual time, in steps of a millisecond. */
class SharedTokensTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private long now = 7 * SECOND;
  private RateReservations coordinator = new RateReservations(now);
  private Quota quota;
  private final List<Member> members = new ArrayList<>();
  private final List<Long> starts = new ArrayList<>();

  /** It has messages all the time, or as often as it says. */
  private final class Member {
    final SharedTokens tokens;

    /** Chance that a message is ready in a millisecond that finds none. */
    double ready = 1;

    int startsOfMillis = 50;
    boolean owns = true;
    private final Random random = new Random(members.size());
    private boolean waiting;
    private ReserveRequest request;
    private Reservation answer;
    private long answerAt;
    long started;

    Member(Rate rate) {
      tokens = new SharedTokens("g", rate);
      members.add(this);
    }

    void step() {
      if (request != null && now >= answerAt) {
        request = null;
        if (answer == null) {
          tokens.failed(now, Refusal.INDETERMINATE);
        } else {
          tokens.answered(now, answer);
        }
      }
      for (int i = 0; i < startsOfMillis && owns; i++) {
        waiting |= random.nextDouble() < ready;
        if (!waiting || !tokens.available(now)) {
          break;
        }
        tokens.take();
        waiting = false;
        started++;
        starts.add(now);
      }
      ReserveRequest next = tokens.ask(now);
      if (next != null) {
        request = next;
        answer = reserve(next);
        answerAt = now + (answer == null ? 500 * MILLI : (1 + random.nextInt(3)) * MILLI);
      }
    }
  }

  private Reservation reserve(ReserveRequest request) {
    if (coordinator == null) {
      return null;
    }
    if (request.stated() != null) {
      quota = request.stated();
    }
    return quota == null
        ? Reservation.free(request.key())
        : coordinator.reserve(
            now, quota, 0, request.messages(), Math.min(request.waitMillisMax(), 3600_000) * MILLI);
  }

  private void run(double seconds) {
    long until = now + (long) (seconds * SECOND);
    for (; now < until; now += MILLI) {
      members.forEach(Member::step);
    }
  }

  private double perSecond(double seconds) {
    starts.clear();
    run(seconds);
    return starts.size() / seconds;
  }

  @Property(tries = 25)
  void allMembersTogetherKeepToTheRate(
      @ForAll @IntRange(min = 1, max = 12) int count,
      @ForAll @IntRange(min = 20, max = 3_000) int rate,
      @ForAll long seed) {
    members.clear();
    coordinator = new RateReservations(now);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      Member member = new Member(new Rate(rate, 1_000));
      member.startsOfMillis = 1 + random.nextInt(200);
    }
    run(2);
    assertThat(perSecond(30)).isCloseTo(rate, within(rate * 0.03));
  }

  @Example
  void theRateHoldsThroughHandoversAndDeaths() {
    times(3, i -> new Member(Rate.parse("100/s")));
    run(2);
    starts.clear();
    run(10);
    members.get(0).owns = false;
    run(0.3);
    members.get(1).owns = false;
    run(2);
    members.get(0).owns = true;
    run(7);
    members.remove(2);
    run(10.7);
    assertThat(starts.size() / 30.0).isBetween(95.0, 105.0);
  }

  @Example
  void theRateHoldsThroughAChangeOfCoordinators() {
    times(4, i -> new Member(Rate.parse("200/s")));
    run(5);
    starts.clear();
    run(10);
    coordinator = null;
    run(3);
    coordinator = new RateReservations(now);
    run(17);
    assertThat(starts.size() / 30.0).isBetween(190.0, 210.0);
  }

  @Example
  void aMemberWithFewMessagesTakesLittleFromOthers() {
    for (int i = 0; i < 4; i++) {
      Member seldom = new Member(Rate.parse("1000/s"));
      seldom.ready = 0.01;
      seldom.startsOfMillis = 1;
    }
    Member busy = new Member(Rate.parse("1000/s"));
    run(5);
    long before = busy.started;
    run(10);
    assertThat((busy.started - before) / 10.0).as("40 belong to the others").isGreaterThan(850);
  }

  @Example
  void slowRatesHoldToo() {
    times(5, i -> new Member(Rate.parse("30/m")));
    run(5);
    assertThat(perSecond(120)).isCloseTo(0.5, within(0.03));
    for (int i = 1; i < starts.size(); i++) {
      assertThat(starts.get(i) - starts.get(i - 1)).isGreaterThan(SECOND);
    }
  }

  @Example
  void theNewestStatementCountsAndTheRateCanBeChangedAndCleared() {
    Member first = new Member(Rate.parse("100/s"));
    run(2);
    Member second = new Member(Rate.parse("50/s"));
    run(2);
    assertThat(perSecond(10)).isCloseTo(50, within(2.0));
    quota = new Quota(QuotaKind.GROUP_RATE, "g", 0, 300, 1_000);
    run(1);
    assertThat(perSecond(10)).isCloseTo(300, within(10.0));
    quota = null;
    run(2);
    assertThat(perSecond(1)).as("no rate").isGreaterThan(10_000);
    quota = new Quota(QuotaKind.GROUP_RATE, "g", 0, 300, 1_000);
    first.tokens.limited(true);
    second.tokens.limited(true);
    run(1);
    assertThat(perSecond(10)).isCloseTo(300, within(10.0));
  }

  @Example
  void aMemberThatDoesNotStateARateKeepsToTheGroups() {
    quota = new Quota(QuotaKind.GROUP_RATE, "g", 0, 40, 1_000);
    Member silent = new Member(null);
    run(0.1);
    assertThat(silent.started).as("nobody has told it").isGreaterThan(1_000);
    silent.tokens.limited(true);
    run(1);
    assertThat(perSecond(10)).isCloseTo(40, within(2.0));
  }
}
