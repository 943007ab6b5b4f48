package dev.evenkeel.broker.member;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ViewWatchTest {
  private final ViewWatch watch = new ViewWatch();

  @Test
  void whoSeesFewerThanHalfOfTheNodesForAWhileIsOutside() {
    assertThat(watch.outside(1, 3, 0)).isFalse();
    assertThat(watch.outside(1, 3, ViewWatch.OUTSIDE_MILLIS - 1)).isFalse();
    assertThat(watch.outside(1, 3, ViewWatch.OUTSIDE_MILLIS)).isTrue();
    assertThat(watch.outside(0, 3, ViewWatch.OUTSIDE_MILLIS + 1)).isTrue();
    assertThat(watch.outside(2, 3, ViewWatch.OUTSIDE_MILLIS + 2)).isFalse();
  }

  @Test
  void aMomentIsNotEnough() {
    for (long now = 0; now < 100_000; now += 1_000) {
      int inSight = now / 1_000 % 3 == 2 ? 3 : 1;
      assertThat(watch.outside(inSight, 3, now)).isFalse();
    }
  }

  @Test
  void halfOfTheNodesIsEnoughForNeitherSideKnowsThatItIsTheOther() {
    assertThat(watch.outside(1, 2, 0)).isFalse();
    assertThat(watch.outside(1, 2, 60_000)).isFalse();
    assertThat(watch.outside(2, 4, 120_000)).isFalse();
    assertThat(watch.outside(1, 1, 180_000)).isFalse();
  }
}
