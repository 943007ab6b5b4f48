package dev.evenkeel.client.internal.level;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The member against a dealer and a channel that do what they like, within the protocol. */
class LevelWorkPropertyTest {
  @Property(tries = 400)
  void everyMessageEndsAndIsToldOnce(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 8) int parallel,
      @ForAll @IntRange(min = 1, max = 200) int range,
      @ForAll @IntRange(min = 0, max = 30) int mischiefs) {
    DealerWorld world = new DealerWorld(seed, 150, parallel, range);
    for (int i = 0; i < mischiefs; i++) {
      world.runFor(Math.floorMod(seed * (i + 7), 300));
      world.mischief();
    }
    world.goesWell();
  }
}
