package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BlockedLoopTest {
  private final BlockedLoop loop = new BlockedLoop(1_000, 0);
  private int heartbeats;
  private int warnings;

  /** Looks at the loop until {@code end}, if it was at work for the last time at {@code worked}. */
  private void look(long from, long end, long worked) {
    for (long now = from; now <= end; now += BlockedLoop.LOOK_MILLIS) {
      BlockedLoop.Verdict verdict = loop.look(now, worked);
      heartbeats += verdict.heartbeat() ? 1 : 0;
      warnings += verdict.warn() ? 1 : 0;
    }
  }

  @Test
  void aLoopAtWorkNeedsNothing() {
    for (long now = 0; now <= 60_000; now += BlockedLoop.LOOK_MILLIS) {
      look(now, now, now - 100);
    }
    assertThat(heartbeats).isZero();
    assertThat(warnings).isZero();
  }

  @Test
  void aBlockedLoopGetsAHeartbeatASecondAndOneWarning() {
    look(0, 10_000, 0);
    assertThat(heartbeats).isEqualTo(10);
    assertThat(warnings).isOne();
    look(10_500, 20_000, 10_500);
    assertThat(heartbeats).isEqualTo(19);
    assertThat(warnings).as("once only").isOne();
  }

  @Test
  void afterFiveMinutesNobodyKeepsTheMember() {
    look(0, BlockedLoop.KEPT_MILLIS_MAX, 0);
    int kept = heartbeats;
    assertThat(kept).isEqualTo((int) (BlockedLoop.KEPT_MILLIS_MAX / 1_000));
    look(BlockedLoop.KEPT_MILLIS_MAX + 500, BlockedLoop.KEPT_MILLIS_MAX + 60_000, 0);
    assertThat(heartbeats).isEqualTo(kept);
  }

  @Test
  void aProgramThatStoodStillIsNotBlocked() {
    look(0, 1_000, 1_000);
    look(31_000, 31_000, 1_000);
    look(31_500, 31_500, 31_400);
    assertThat(heartbeats).isZero();
    assertThat(warnings).isZero();
  }
}
