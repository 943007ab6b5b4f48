package dev.evenkeel.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The production classes of dispatcher, consumer and brokers together, in virtual time, under
 * everything that may go wrong. See "How handovers are simulated" in the documentation.
 */
class HandoverSimulationTest {

  @Test
  @Timeout(1_200)
  void whatEverHappensShardsHaveOneOwnerAndNothingIsLost() throws InterruptedException {
    Long only = Long.getLong(Seeds.SEED);
    long first = only != null ? only : 1;
    long count = only != null ? 1 : Long.getLong("evenkeel.sim.seeds", 5_000);
    String focus = System.getProperty(Seeds.FOCUS);
    Setup setup = Setup.PRODUCT.with(focus == null ? null : Focus.valueOf(focus));
    long events = Seeds.run(first, count, setup);
    assertThat(events).isPositive();
    System.out.println("simulated " + count + " seeds, " + events + " events");
  }
}
