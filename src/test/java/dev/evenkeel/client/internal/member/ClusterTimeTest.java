package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClusterTimeTest {
  private final ClusterTime time = new ClusterTime();

  @Test
  void itIsUnknownUntilANodeHasAnswered() {
    assertThat(time.known()).isFalse();
    time.learn(5_000, 100);
    assertThat(time.known()).isTrue();
    assertThat(time.millis(100)).isEqualTo(5_000);
    assertThat(time.millis(150)).isEqualTo(5_050);
  }

  @Test
  void aSlowAnswerTeachesNothingAndAQuickOneIsBelieved() {
    time.learn(5_000, 100);
    time.learn(5_100, 700);
    assertThat(time.millis(700)).isEqualTo(5_600);
    time.learn(5_650, 700);
    assertThat(time.millis(700)).isEqualTo(5_650);
  }

  @Test
  void theClockOfTheClusterMayBeSetBack() {
    time.learn(1_000_000, 100);
    time.learn(940_100, 200);
    assertThat(time.millis(200)).isEqualTo(1_000_100);
    time.learn(940_099, 200);
    assertThat(time.millis(200)).isEqualTo(940_099);
  }

  @Test
  void clocksMayDriftApart() {
    time.learn(0, 0);
    long now = 0;
    long cluster = 0;
    for (int i = 0; i < 10_000; i++) {
      // This program's clock gains 50 ms in a thousand seconds.
      now += 10_000;
      cluster += 9_999 + i % 2;
      assertThat(time.millis(now)).isBetween(cluster - 20, cluster + 1);
      time.learn(cluster, now);
    }
  }
}
