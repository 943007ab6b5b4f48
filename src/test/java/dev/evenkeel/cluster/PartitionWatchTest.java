package dev.evenkeel.cluster;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PartitionWatchTest {
  private final PartitionWatch watch = new PartitionWatch();
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
  void aLookThatNeverReturnsCountsAsOneThatFindsAPartWithoutAnOwner() {
    assertThat(stuckAfterASecond(true)).isFalse();
    now += 1_000;
    assertThat(watch.mayLook(now)).isTrue();
    long begun = now;
    while (!stuckAfterASecond(true)) {
      assertThat(now - begun).as("milliseconds").isLessThan(60_000);
      assertThat(watch.mayLook(now)).as("a second look beside the first").isFalse();
    }
    assertThat(now - begun)
        .isEqualTo(PartitionWatch.LOOK_MILLIS_MAX + PartitionWatch.OLDEST_MILLIS_MAX);
  }

  @Test
  void aSlowLookIsAwaitedAndTheNextOneBegins() {
    assertThat(stuckAfterASecond(true)).isFalse();
    assertThat(watch.mayLook(now)).isTrue();
    now += PartitionWatch.LOOK_MILLIS_MAX - 1;
    assertThat(watch.mayLook(now)).isFalse();
    assertThat(watch.stuck(true, now)).isFalse();
    now += 60_000;
    watch.looked(true);
    assertThat(watch.stuck(true, now)).isFalse();
    assertThat(stuckAfterASecond(false)).isFalse();
    now += PartitionWatch.OLDEST_MILLIS_MAX;
    assertThat(stuckAfterASecond(false)).isTrue();
  }

  @Test
  void whatCouldNotBeSeenChangesNothing() {
    assertThat(stuckAfterASecond(true)).isFalse();
    times(100, i -> assertThat(stuckAfterASecond(null)).isFalse());
  }

  /** A look that ends at once. */
  private static boolean stuck(PartitionWatch of, boolean complete, boolean oldest, long at) {
    assertThat(of.mayLook(at)).isTrue();
    of.looked(complete);
    return of.stuck(oldest, at);
  }

  @Test
  void whatWasNeverCompleteIsOnlyYoung() {
    assertThat(stuck(watch, false, true, 0)).isFalse();
    assertThat(stuck(watch, false, true, 1_000_000)).isFalse();
  }

  @Test
  void theOldestGivesWayBeforeTheOthers() {
    stuck(watch, true, true, 0);
    assertThat(stuck(watch, false, true, 1_000)).isFalse();
    assertThat(stuck(watch, false, true, 12_999)).isFalse();
    assertThat(stuck(watch, false, true, 13_000)).isTrue();

    PartitionWatch other = new PartitionWatch();
    stuck(other, true, false, 0);
    assertThat(stuck(other, false, false, 1_000)).isFalse();
    assertThat(stuck(other, false, false, 45_999)).isFalse();
    assertThat(stuck(other, false, false, 46_000)).isTrue();
  }

  @Test
  void whoBecomesTheOldestHasTheOldestsTimeFromThenOn() {
    stuck(watch, true, false, 0);
    stuck(watch, false, false, 1_000);
    assertThat(stuck(watch, false, false, 14_000)).isFalse();
    assertThat(stuck(watch, false, true, 15_000)).isFalse();
    assertThat(stuck(watch, false, true, 26_999)).isFalse();
    assertThat(stuck(watch, false, true, 27_000)).isTrue();
  }

  @Test
  void itBeginsAnewWheneverAllHaveOwners() {
    stuck(watch, true, true, 0);
    stuck(watch, false, true, 1_000);
    stuck(watch, true, true, 12_000);
    assertThat(stuck(watch, false, true, 14_000)).isFalse();
    assertThat(stuck(watch, false, true, 25_999)).isFalse();
    assertThat(stuck(watch, false, true, 26_000)).isTrue();
  }
}
