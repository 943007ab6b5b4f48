package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class HeartbeatPlanTest {

  @Example
  void oneAnIntervalAndAtOnceWhenSomethingChanged() {
    HeartbeatPlan plan = new HeartbeatPlan(1000, 0);
    assertThat(plan.due(0)).isTrue();
    plan.sent(0);
    assertThat(plan.due(5000)).isFalse();
    plan.answered(10);
    assertThat(plan.due(999)).isFalse();
    assertThat(plan.due(1000)).isTrue();
    plan.hurry(300);
    assertThat(plan.due(300)).isTrue();
    plan.sent(300);
    plan.hurry(310);
    assertThat(plan.due(310)).isFalse();
    plan.answered(320);
    assertThat(plan.due(320)).isTrue();
    plan.sent(320);
    plan.failed(330, 150);
    assertThat(plan.due(479)).isFalse();
    assertThat(plan.due(480)).isTrue();
  }

  @Property(tries = 200)
  void neverTwoInFlight(@ForAll long seed) {
    Random random = new Random(seed);
    HeartbeatPlan plan = new HeartbeatPlan(1000, 0);
    boolean inFlight = false;
    for (long now = 0; now < 20_000; now += random.nextInt(100)) {
      if (random.nextInt(5) == 0) {
        plan.hurry(now);
      }
      if (plan.due(now)) {
        assertThat(inFlight).isFalse();
        plan.sent(now);
        inFlight = true;
      } else if (inFlight && random.nextBoolean()) {
        if (random.nextBoolean()) {
          plan.answered(now);
        } else {
          plan.failed(now, 100);
        }
        inFlight = false;
      }
    }
  }
}
