package dev.evenkeel.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.demo.DemoScript.Event;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class DemoScriptTest {

  @Property(tries = 200)
  void thereAreAlwaysFromTwoToSixAndSomebodyIsKilledNowAndThen(
      @ForAll long seed, @ForAll @IntRange(min = 10, max = 200) int events) {
    DemoScript script = new DemoScript(new SplittableRandom(seed));
    int consumers = DemoScript.CONSUMERS_AT_START;
    int sinceKill = 0;
    for (int i = 0; i < events; i++) {
      Event event = script.next(consumers);
      consumers += event == Event.JOIN ? 1 : -1;
      assertThat(consumers).isBetween(DemoScript.CONSUMERS_MIN, DemoScript.CONSUMERS_MAX);
      sinceKill = event == Event.KILL ? 0 : sinceKill + 1;
      // One more: with two consumers nobody may be killed.
      assertThat(sinceKill).isLessThanOrEqualTo(6);
    }
  }

  @Test
  void aShortVisitSeesEachKind() {
    DemoScript script = new DemoScript(new SplittableRandom(1));
    Set<Event> seen = EnumSet.noneOf(Event.class);
    int consumers = DemoScript.CONSUMERS_AT_START;
    for (int i = 0; i < 4; i++) {
      Event event = script.next(consumers);
      consumers += event == Event.JOIN ? 1 : -1;
      seen.add(event);
    }
    assertThat(seen).containsExactlyInAnyOrder(Event.values());
  }

  @Test
  void whoeverElseJoinsOrIsKilledTheScriptGoesBackToItsBounds() {
    DemoScript script = new DemoScript(new SplittableRandom(1));
    assertThat(script.next(0)).isEqualTo(Event.JOIN);
    assertThat(script.next(20)).isNotEqualTo(Event.JOIN);
  }
}
