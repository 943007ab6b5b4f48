package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PartsWatchTest {
  private final PartsWatch watch = new PartsWatch(new OwnerlessParts());
  private long now = 1_000;

  /** A second passes; {@code answer} comes at once if a look is begun. */
  private boolean stuckAfterASecond(Boolean answer) {
    now += 1_000;
    if (watch.mayLook(now)) {
      watch.looked(answer);
    }
    return watch.stuck(true, now);
  }

  @Test
  void a_look_that_never_returns_counts_as_one_that_finds_a_part_without_an_owner() {
    assertThat(stuckAfterASecond(true)).isFalse();
    now += 1_000;
    assertThat(watch.mayLook(now)).isTrue();
    long begun = now;
    while (!stuckAfterASecond(true)) {
      assertThat(now - begun).as("milliseconds").isLessThan(60_000);
      assertThat(watch.mayLook(now)).as("a second look beside the first").isFalse();
    }
    assertThat(now - begun)
        .isEqualTo(PartsWatch.LOOK_MILLIS_MAX + OwnerlessParts.OLDEST_MILLIS_MAX);
  }

  @Test
  void a_slow_look_is_awaited_and_the_next_one_begins() {
    assertThat(stuckAfterASecond(true)).isFalse();
    assertThat(watch.mayLook(now)).isTrue();
    now += PartsWatch.LOOK_MILLIS_MAX - 1;
    assertThat(watch.mayLook(now)).isFalse();
    assertThat(watch.stuck(true, now)).isFalse();
    now += 60_000;
    watch.looked(true);
    assertThat(watch.stuck(true, now)).isFalse();
    assertThat(stuckAfterASecond(false)).isFalse();
    now += OwnerlessParts.OLDEST_MILLIS_MAX;
    assertThat(stuckAfterASecond(false)).isTrue();
  }

  @Test
  void what_could_not_be_seen_changes_nothing() {
    assertThat(stuckAfterASecond(true)).isFalse();
    for (int i = 0; i < 100; i++) {
      assertThat(stuckAfterASecond(null)).isFalse();
    }
  }
}
