package dev.evenkeel.client.internal.session;

import static dev.evenkeel.client.internal.session.KeepAlive.Verdict.GONE;
import static dev.evenkeel.client.internal.session.KeepAlive.Verdict.GOOD;
import static dev.evenkeel.client.internal.session.KeepAlive.Verdict.PING;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KeepAliveTest {
  private static final long STEP = 100;
  private static final long KEEP_ALIVE = 5_000;

  private long now = 7_000;
  private final KeepAlive keepAlive = new KeepAlive(KEEP_ALIVE, now);

  @Test
  void aConnectionThatSendsNothingIsPingedAtLeastOnceInAKeepAliveTime() {
    int pings = 0;
    for (long passed = 0; passed < 10 * KEEP_ALIVE; passed += STEP) {
      pings += tick(false, true, 0) == PING ? 1 : 0;
    }
    assertThat(pings).isEqualTo(10);
  }

  @Test
  void aConnectionThatSendsNeedsNoPing() {
    for (long passed = 0; passed < 10 * KEEP_ALIVE; passed += STEP) {
      assertThat(tick(true, true, 0)).isEqualTo(GOOD);
    }
  }

  @Test
  void aPeerThatIsSilentForThreeKeepAliveTimesIsGone() {
    for (long passed = STEP; passed < 3 * KEEP_ALIVE; passed += STEP) {
      assertThat(tick(true, false, 0)).isEqualTo(GOOD);
    }
    assertThat(tick(true, false, 0)).isEqualTo(GONE);
  }

  @Test
  void threeRequestsWithoutAnswerProbeThePeerWhichThenHasASecond() {
    assertThat(tick(true, false, 2)).isEqualTo(GOOD);
    assertThat(tick(true, false, 1)).isEqualTo(PING);
    for (long passed = STEP; passed < KeepAlive.PROBE_MILLIS_MAX; passed += STEP) {
      assertThat(tick(true, false, 0)).as("asked once").isEqualTo(GOOD);
    }
    assertThat(tick(true, false, 0)).isEqualTo(GONE);
  }

  @Test
  void anythingThatComesEndsTheProbeAndTheCount() {
    tick(true, false, 3);
    assertThat(tick(false, true, 0)).isEqualTo(GOOD);
    assertThat(tick(true, false, 2)).isEqualTo(GOOD);
    assertThat(tick(true, true, 1)).isEqualTo(GOOD);
    assertThat(tick(true, false, 2)).isEqualTo(GOOD);
    assertThat(tick(true, false, 1)).isEqualTo(PING);
  }

  @Test
  void timeInWhichThisProgramStoodStillIsNotThePeersSilence() {
    tick(true, false, 3);
    now += 20 * KEEP_ALIVE;
    assertThat(keepAlive.stoodStill(now)).isTrue();
    assertThat(keepAlive.tick(now, true, false, 0)).isEqualTo(GOOD);
    assertThat(keepAlive.stoodStill(now + STEP)).isFalse();
    for (long passed = STEP; passed < KeepAlive.PROBE_MILLIS_MAX; passed += STEP) {
      assertThat(tick(true, false, 0)).isEqualTo(GOOD);
    }
    assertThat(tick(true, false, 0)).isEqualTo(GONE);
  }

  private KeepAlive.Verdict tick(boolean sent, boolean received, int timedOut) {
    now += STEP;
    return keepAlive.tick(now, sent, received, timedOut);
  }
}
