package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class FairShareTest {
  private static final int MAX = 100;

  private final FairShare share = new FairShare("things", MAX);

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
  void aRefusalSaysWhoHasHowMuch() {
    all("a");
    Refused.with(Refusal.OVERLOADED, () -> share.of("a").take(1), "'a' has 50 of the 100 things");
  }

  @Property
  void thereIsAlwaysRoomForOneMoreUser(
      @ForAll @Size(max = 200) List<@IntRange(min = 0, max = 5) Integer> takes) {
    FairShare many = new FairShare("things", MAX);
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
