package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What a program makes of the times in the answers of nodes. */
class DueClockTest {
  private final AtomicLong own = new AtomicLong(1_000_000);
  private final AtomicLong steady = new AtomicLong(500);
  private final DueClock clock = new DueClock(own::get, steady::get);

  /** A node, whose clock is ahead of the steady one by {@code ahead}, is asked and answers. */
  private void answer(long ahead, long wayThere, long wayBack) {
    long asked = steady.get();
    long node = steady.addAndGet(wayThere) + ahead;
    steady.addAndGet(wayBack);
    clock.learn(node, asked);
  }

  @Test
  void ownClockCountsUntilANodeHasAnswered() {
    assertThat(clock.millis()).isEqualTo(1_000_000);
    answer(7_000_000, 2, 2);
    assertThat(clock.millis()).isBetween(steady.get() + 7_000_000, steady.get() + 7_000_004);
  }

  /** Whatever happens to the own clock, and however slow some answers are, no message is early. */
  @Test
  void isNeverBehindTheCluster() {
    answer(7_000_000, 1, 1);
    own.set(5);
    for (int i = 0; i < 1_000; i++) {
      answer(7_000_000, i * 7 % 90, i * 13 % 90);
      long cluster = steady.get() + 7_000_000;
      assertThat(clock.millis()).isBetween(cluster, cluster + 100);
      steady.addAndGet(1_000);
    }
  }

  @Test
  void followsAClusterWhoseClockIsSet() {
    answer(7_000_000, 1, 1);
    answer(6_000_000, 40, 40);
    assertThat(clock.millis()).isBetween(steady.get() + 6_000_000, steady.get() + 6_000_080);
    answer(8_000_000, 40, 40);
    assertThat(clock.millis()).isBetween(steady.get() + 8_000_000, steady.get() + 8_000_080);
  }
}
