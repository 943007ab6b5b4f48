package dev.evenkeel.client.internal.admission;

import dev.evenkeel.client.ConsumerOptions;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** As {@link ConsumerSimulationTest}, with deduplication over a map that is lost at times. */
class DedupSimulationTest {

  @Property(tries = 20)
  void nothingIsLostNoKeyStaysAndOfOneKeyOneIsAtWork(
      @ForAll long seed, @ForAll ConsumerOptions.Order order) {
    new Simulation(seed, order, false, true).run();
  }

  @Property(tries = 20)
  void soItIsWithRatesWhichAreKept(@ForAll long seed, @ForAll ConsumerOptions.Order order) {
    new Simulation(seed, order, false, true, true, false).run();
  }
}
