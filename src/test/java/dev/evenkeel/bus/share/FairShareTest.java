package dev.evenkeel.bus.share;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

class FairShareTest {
  private static final int MAX = 100;

  private final FairShare share = new FairShare("things", MAX, user -> 1, () -> {});

  /** How many of them one gets. */
  private int all(String user) {
    int got = 0;
    try {
      while (true) {
        share.of(user).take(1);
        got++;
      }
    } catch (RefusedException full) {
      return got;
    }
  }

  @Example
  void eachUserLeavesRoomForTheNext() {
    assertThat(all("a")).isEqualTo(50);
    assertThat(all("b")).isEqualTo(25);
    assertThat(all("c")).isEqualTo(13);
    share.of("a").give(50);
    assertThat(all("c")).isGreaterThan(10);
    assertThat(share.usage()).containsOnlyKeys("b", "c");
  }

  @Example
  void whereThereAreNoUsersEverybodyTogetherGetsAll() {
    assertThat(all(null)).isEqualTo(MAX);
    assertThat(share.usage()).isEqualTo(Map.of());
  }

  @Example
  void aUserWithALargerShareGetsMore() {
    AtomicInteger refused = new AtomicInteger();
    FairShare weighed =
        new FairShare("things", MAX, user -> user.equals("a") ? 3 : 1, refused::incrementAndGet);
    int got = 0;
    while (weighed.of("a").tryTake(1)) {
      got++;
    }
    assertThat(got).isEqualTo(75);
    assertThat(refused).hasValue(1);
    weighed.of("b").take(12);
    assertThat(weighed.of("b").tryTake(1)).isTrue();
    assertThat(weighed.of("b").tryTake(1)).isFalse();
    assertThat(weighed.held()).isEqualTo(88);
  }

  @Property
  void nobodyGetsMoreThanThereIs(
      @ForAll @LongRange(min = 0, max = 1_000) long own,
      @ForAll @LongRange(min = 0, max = 1_000) long others,
      @ForAll @LongRange(min = 0, max = 1_000) long more,
      @ForAll @DoubleRange(min = 0.1, max = 100) double weight) {
    if (FairShare.fits(own, own + others, more, 1_000, weight)) {
      assertThat(own + others + more).isLessThanOrEqualTo(1_000);
    }
  }

  @Example
  void aRefusalSaysWhoHasHowMuch() {
    all("a");
    Refused.with(Refusal.OVERLOADED, () -> share.of("a").take(1), "'a' has 50 of the 100 things");
  }

  @Property
  void thereIsAlwaysRoomForOneMoreUser(
      @ForAll @Size(max = 200) List<@IntRange(min = 0, max = 5) Integer> takes) {
    FairShare many = new FairShare("things", MAX, user -> 1, () -> {});
    for (int user : takes) {
      try {
        many.of("u" + user).take(1);
      } catch (RefusedException full) {
        assertThat(many.of("u" + user).held()).isGreaterThanOrEqualTo(MAX - many.held());
      }
    }
    assertThat(many.held()).isLessThan(MAX);
    many.of("another").take(1);
  }
}
