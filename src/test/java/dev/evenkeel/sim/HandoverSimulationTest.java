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
    long count = only != null ? 1 : Long.getLong("evenkeel.sim.seeds", 1_500);
    long events = Seeds.run(first, count, Setup.PRODUCT);
    assertThat(events).isPositive();
    System.out.println("simulated " + count + " seeds, " + events + " events");
  }
}
