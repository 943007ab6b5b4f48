package dev.evenkeel.bus.share;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TurnsTest {
  private static final int WAITING_MAX = 20_000;
  private static final long BYTES_MAX = 64 << 20;

  private final Turns<String> turns =
      new Turns<>(WAITING_MAX, BYTES_MAX, user -> user.equals("heavy") ? 3 : 1);

  private String next(long nanos) {
    Turns.Turn<String> next = turns.next();
    if (next == null) {
      return null;
    }
    turns.spent(next, nanos);
    return next.task();
  }

  @Test
  void anotherUserWaitsForOneHeartbeat() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(turns.add("many", "many", 1_000)).isTrue();
    }
    assertThat(next(50)).isEqualTo("many");
    assertThat(turns.add("one", "one", 10)).isTrue();
    List<String> taken = List.of(next(50), next(1), next(50));
    assertThat(taken.subList(0, 2)).contains("one");
  }

  @Test
  void whoSendsDearHeartbeatsGetsNoMoreTimeThanWhoSendsCheapOnes() {
    for (int i = 0; i < 2_000; i++) {
      turns.add("dear", "dear", 1);
      turns.add("cheap", "cheap", 1);
    }
    long dear = 0;
    long cheap = 0;
    while (cheap < 2_000) {
      if (next(0).equals("dear")) {
        turns.add("dear", "dear", 1);
        dear++;
      } else {
        cheap++;
      }
      assertThat(dear).isLessThanOrEqualTo(cheap + 1);
    }
  }

  @Test
  void timeIsWhatCounts() {
    for (int i = 0; i < 1_000; i++) {
      turns.add("dear", "dear", 1);
      turns.add("cheap", "cheap", 1);
    }
    int cheap = 0;
    for (int dear = 0; dear < 9; ) {
      Turns.Turn<String> next = turns.next();
      boolean isDear = next.task().equals("dear");
      turns.spent(next, isDear ? 100 : 1);
      if (isDear) {
        dear++;
      } else {
        cheap++;
      }
    }
    assertThat(cheap).isBetween(800, 900);
  }

  @Test
  void whoHasALargerShareGetsMoreTime() {
    for (int i = 0; i < 1_000; i++) {
      turns.add("heavy", "heavy", 1);
      turns.add("light", "light", 1);
    }
    int heavy = 0;
    for (int i = 0; i < 400; i++) {
      heavy += next(1_000).equals("heavy") ? 1 : 0;
    }
    assertThat(heavy).isBetween(298, 302);
  }

  @Test
  void oneTaskOfAUserIsUnderWay() {
    turns.add("a", "a1", 1);
    turns.add("a", "a2", 1);
    turns.add("b", "b1", 1);
    Turns.Turn<String> first = turns.next();
    Turns.Turn<String> second = turns.next();
    assertThat(List.of(first.task(), second.task())).containsExactly("a1", "b1");
    assertThat(turns.next()).isNull();
    turns.add("b", "b2", 1);
    assertThat(turns.next()).isNull();
    turns.spent(first, 1_000);
    assertThat(next(1)).isEqualTo("a2");
    turns.spent(second, 1);
    assertThat(next(1)).isEqualTo("b2");
    assertThat(turns.waiting()).isZero();
  }

  @Test
  void whoWasAwaySavesNothing() {
    turns.add("new", "new", 1);
    assertThat(next(1)).isEqualTo("new");
    for (int i = 0; i < 100; i++) {
      turns.add("old", "old", 1);
      turns.add("other", "other", 1);
    }
    for (int i = 0; i < 100; i++) {
      next(1_000);
    }
    for (int i = 0; i < 100; i++) {
      turns.add("new", "new", 1);
    }
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      taken.add(next(1_000));
    }
    assertThat(taken.stream().filter("new"::equals)).hasSizeBetween(9, 12);
  }

  @Test
  void aUserHasHalfOfTheRoom() {
    int half = WAITING_MAX / 2;
    for (int i = 0; i < half; i++) {
      assertThat(turns.add("many", "many", 1)).isTrue();
    }
    assertThat(turns.add("many", "many", 1)).isFalse();
    assertThat(turns.add("one", "one", BYTES_MAX / 4)).isTrue();
    assertThat(turns.add("one", "one", BYTES_MAX / 2)).as("bytes").isFalse();
    next(1);
    next(1);
    assertThat(turns.all()).hasSize(half - 1);
    assertThat(turns.next()).isNull();
    for (int i = 0; i < WAITING_MAX; i++) {
      assertThat(turns.add(null, "any", 1)).as("there are no users").isTrue();
    }
    assertThat(turns.add(null, "any", 1)).isFalse();
  }

  /** Against a model that has no turns: nothing is lost, doubled or out of order. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void heartbeatsOfAUserKeepTheirOrder(long seed) {
    Random random = new Random(seed);
    int[] sent = new int[5];
    int[] got = new int[5];
    for (int i = 0; i < 20_000; i++) {
      int user = random.nextInt(5);
      if (random.nextInt(5) < 3) {
        assertThat(turns.add("u" + user, user + " " + sent[user]++, random.nextInt(100))).isTrue();
      } else {
        take(got, random.nextInt(1_000));
      }
    }
    while (take(got, 1)) {}
    assertThat(got).isEqualTo(sent);
  }

  private boolean take(int[] got, long nanos) {
    String next = next(nanos);
    if (next == null) {
      return false;
    }
    String[] parts = next.split(" ");
    assertThat(Integer.parseInt(parts[1])).isEqualTo(got[Integer.parseInt(parts[0])]++);
    return true;
  }
}
