package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StallGuardTest {
  private final StallGuard guard = new StallGuard();

  @Test
  void judgesWhileItsTicksComeRegularly() {
    for (long now = 0; now < 5_000; now += 1_000) {
      assertThat(guard.mayJudge(now)).isTrue();
    }
  }

  @Test
  void firstReadsWhatHasWaitedWhileItStoodStill() {
    guard.mayJudge(1_000);
    long back = 1_000 + StallGuard.STALL_MILLIS;
    assertThat(guard.mayJudge(back)).isFalse();
    assertThat(guard.mayJudge(back + StallGuard.GRACE_MILLIS - 1)).isFalse();
    assertThat(guard.mayJudge(back + StallGuard.GRACE_MILLIS)).isTrue();
  }
}
