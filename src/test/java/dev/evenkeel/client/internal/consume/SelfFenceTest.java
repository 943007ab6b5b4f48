package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class SelfFenceTest {

  @Example
  void nothingStartsBeforeTheFirstAnswer() {
    SelfFence fence = new SelfFence(5000);
    assertThat(fence.mayStart(0)).isFalse();
    assertThat(fence.mayStart(Long.MAX_VALUE)).isFalse();
    fence.answered(-7_000);
    assertThat(fence.mayStart(-3_000)).isTrue();
    assertThat(fence.mayStart(-2_999)).isFalse();
  }

  @Property(tries = 300)
  void theSendingOfTheLastAnsweredHeartbeatCounts(
      @ForAll long seed, @ForAll @LongRange(min = 1001, max = 60_000) long timeoutMillis) {
    Random random = new Random(seed);
    SelfFence fence = new SelfFence(timeoutMillis);
    // A monotonic clock may begin anywhere.
    long now = random.nextLong() / 4;
    long lastSent = Long.MIN_VALUE;
    boolean up = true;
    for (int i = 0; i < 500; i++) {
      now += random.nextInt(2000);
      switch (random.nextInt(4)) {
        case 0 -> {
          // Late and out of order.
          long sent = now - random.nextInt((int) timeoutMillis);
          fence.answered(sent);
          lastSent = Math.max(lastSent, sent);
        }
        case 1 -> {
          up = random.nextInt(3) > 0;
          fence.link(up);
        }
        default -> {
          // Time goes by.
        }
      }
      boolean fresh = lastSent != Long.MIN_VALUE && now - lastSent <= timeoutMillis - 1000;
      assertThat(fence.mayStart(now)).isEqualTo(up && fresh);
    }
  }
}
