package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ClockTicksTest {

  @Test
  void whoeverIsToldThatItCountsSeesItGrow() {
    int told = 0;
    while (told < 20) {
      boolean counts = ClockTicks.use();
      int seen = ClockTicks.count();
      if (counts) {
        told++;
        Awaitility.await().until(() -> ClockTicks.count() != seen);
      }
    }
  }

  @Test
  void itsThreadEndsWhenNobodyUsesItAndComesAgain() {
    for (int round = 0; round < 2; round++) {
      Awaitility.await().until(ClockTicks::use);
      assertThat(threads()).isLessThanOrEqualTo(1);
      Awaitility.await().until(() -> threads() == 0);
    }
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("evenkeel-clock-ticks"))
        .count();
  }
}
