package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SteadyTimeTest {
  private static final long START = 1_000_000;

  private final SteadyTime time = new SteadyTime();

  private long at(long jumpMillis, long nowMillis) {
    return time.millis(START + jumpMillis + nowMillis, nowMillis) - START;
  }

  @Test
  void smallDifferencesAreFollowedAtOnce() {
    assertThat(at(0, 0)).isZero();
    assertThat(at(9_000, 1_000)).isEqualTo(10_000);
    assertThat(at(-600, 2_000)).isEqualTo(1_400);
  }

  /** Hazelcast corrects it with a heartbeat or the member list of the oldest member. */
  @ParameterizedTest
  @ValueSource(longs = {3_600_000, -3_600_000})
  void theOwnClockIsSetAndThatIsCorrected(long jump) {
    at(0, 0);
    assertThat(at(jump, 1_000)).isEqualTo(1_000);
    assertThat(at(jump, 61_000)).isEqualTo(61_000);
    assertThat(at(20, 62_000)).isEqualTo(62_020);
    // The time of the first jump does not count for another one.
    assertThat(at(jump, 91_100)).isEqualTo(91_120);
  }

  @ParameterizedTest
  @ValueSource(longs = {3_600_000, -3_600_000})
  void aJumpThatLastsIsThatOfTheOldestMember(long jump) {
    at(0, 0);
    assertThat(at(jump, 1_000)).isEqualTo(1_000);
    assertThat(at(jump, 90_999)).isEqualTo(90_999);
    assertThat(at(jump, 91_000)).isEqualTo(jump + 91_000);
    assertThat(at(jump, 91_100)).isEqualTo(jump + 91_100);
  }
}
