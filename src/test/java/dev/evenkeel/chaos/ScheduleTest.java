package dev.evenkeel.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  private static final long MILLIS = 300_000;

  private static List<Schedule.Planned> plan(long seed) {
    return Schedule.of(seed, MILLIS, EnumSet.allOf(Fault.class));
  }

  @Test
  void aSeedDecidesEverything() {
    assertThat(plan(7)).isEqualTo(plan(7)).isNotEqualTo(plan(8));
  }

  @Test
  void onlyWhatIsPossibleIsPlanned() {
    Set<Fault> possible = EnumSet.of(Fault.KILL_NODE, Fault.BRIDGE);
    assertThat(Schedule.of(3, MILLIS, possible))
        .extracting(Schedule.Planned::fault)
        .isSubsetOf(possible);
  }

  @Test
  void eachKindComesSoonerOrLater() {
    Set<Fault> seen = new HashSet<>();
    for (long seed = 0; seed < 20; seed++) {
      plan(seed).forEach(each -> seen.add(each.fault()));
    }
    assertThat(seen).isEqualTo(EnumSet.allOf(Fault.class));
  }

  /** Two at a time at most, nobody has two, and a disk's data is only taken away alone. */
  @Test
  void faultsOverlapWithinBounds() {
    for (long seed = 0; seed < 200; seed++) {
      List<Schedule.Planned> plan = plan(seed);
      assertThat(plan).hasSizeGreaterThan(10);
      for (Schedule.Planned one : plan) {
        List<Schedule.Planned> others =
            plan.stream()
                .filter(other -> other != one)
                .filter(other -> other.beginMillis() <= one.beginMillis())
                .filter(other -> other.endMillis() > one.beginMillis())
                .toList();
        assertThat(others).as("beside %s of seed %d", one, seed).hasSizeLessThanOrEqualTo(1);
        for (Schedule.Planned other : others) {
          assertThat(other.hosts()).doesNotContainAnyElementsOf(one.hosts());
          assertThat(one.fault().destroysData() || other.fault().destroysData()).isFalse();
          assertThat(one.fault().isOfAllNodes() || other.fault().isOfAllNodes()).isFalse();
        }
      }
    }
  }
}
