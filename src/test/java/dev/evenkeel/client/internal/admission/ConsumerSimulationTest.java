package dev.evenkeel.client.internal.admission;

import dev.evenkeel.client.ConsumerOptions;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Consumers against a small cluster, in virtual time; the seed decides everything. */
class ConsumerSimulationTest {

  @Property(tries = 60)
  void commitsNothingUnfinishedKeepsOrderAndStopsItself(
      @ForAll long seed, @ForAll ConsumerOptions.Order order, @ForAll boolean keepsState) {
    new Simulation(seed, order, keepsState, false).run();
  }

  @Property(tries = 60)
  void theSameWithAHandlerOfBatches(
      @ForAll long seed, @ForAll boolean inOrder, @ForAll boolean keepsState) {
    ConsumerOptions.Order order =
        inOrder ? ConsumerOptions.Order.SHARD : ConsumerOptions.Order.NONE;
    new Simulation(seed, order, keepsState, false, false, true).run();
  }
}
