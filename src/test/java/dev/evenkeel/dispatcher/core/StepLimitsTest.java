package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.StepReport;
import dev.evenkeel.dispatcher.core.StepWorld.Bug;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StepLimitsTest {
  private static final long TROUBLE_MILLIS = 90_000;

  @Property(tries = 300)
  void noTrackIsFurtherAheadThanTheRangeAndNobodyWaitsForEver(@ForAll long seed) {
    StepWorld world = new StepWorld(seed, Bug.NONE);
    assertThat(world.trouble(TROUBLE_MILLIS)).isNull();
    assertThat(world.calm()).isNull();
  }

  @ParameterizedTest
  @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void findsABugThatIsThere(Bug bug) {
    long found = 0;
    for (long seed = 0; seed < 500 && found == 0; seed++) {
      found += new StepWorld(seed, bug).trouble(TROUBLE_MILLIS) == null ? 0 : 1;
    }
    assertThat(found).isPositive();
  }

  @Test
  void aFastTrackAloneIsNeverHeldBack() {
    StepLimits limits = new StepLimits(1, Long.MIN_VALUE);
    limits.heard("a", "i", StepReport.FIRST, false, 10, 5_000, 0);
    assertThat(limits.place("i").limit()).isEqualTo(10);
  }

  /** The former dispatcher may have given it a place, of which it hears late. */
  @Test
  void aTrackGetsNoPlaceBeforeItHasHeardOfThisDispatcher() {
    StepLimits limits = new StepLimits(2, 10_000);
    limits.heard("a", "i", StepReport.FIRST, false, 10, 5_000, 9_000);
    limits.tick(10_000);
    assertThat(limits.place("i").from()).isEqualTo(-1);
    limits.heard("a", "i", StepReport.FIRST, true, 10, 5_000, 10_001);
    assertThat(limits.place("i").from()).isZero();
  }

  /** It had its place in a cluster that has begun anew since. */
  @Test
  void aListThatThereNeverWasIsNoListThatATrackKnows() {
    StepLimits limits = new StepLimits(1, Long.MIN_VALUE);
    limits.heard("a", "i", StepReport.FIRST, true, 10, 5_000, 0);
    long former = limits.place("i").roster() + 50;
    limits.heard("a", "i", new StepReport(0, 4, false, false, former, 7), true, 10, 5_000, 1);
    limits.heard("b", "j", StepReport.FIRST, true, 10, 5_000, 2);
    assertThat(limits.place("j").from()).as("a has not heard of b").isEqualTo(-1);
    long roster = limits.place("i").roster();
    assertThat(roster).isGreaterThan(former);
    limits.heard("a", "i", new StepReport(0, 4, false, false, roster, 2), true, 10, 5_000, 3);
    assertThat(limits.place("j").from()).isEqualTo(4);
  }
}
