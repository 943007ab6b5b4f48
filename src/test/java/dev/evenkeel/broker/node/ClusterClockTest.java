package dev.evenkeel.broker.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ClusterClockTest {
  private static final long HOUR = 3_600_000;
  private static final long START = 1_800_000_000_000L;

  private long steady = 500;
  private long skew;
  private final ClusterClock clock = new ClusterClock(() -> START + steady + skew, () -> steady);

  /** A question that takes a few milliseconds to a node whose clock is off by that. */
  private void hear(String node, long off) {
    long asked = steady;
    steady += 3;
    long itsMillis = START + steady + off;
    steady += 4;
    clock.heard(node, itsMillis, asked);
  }

  private long error() {
    return clock.millis() - START - steady;
  }

  @Test
  void aNodeAloneHasItsOwnClock() {
    skew = HOUR;
    assertThat(error()).isEqualTo(HOUR);
    assertThat(clock.settled()).isTrue();
    assertThat(clock.skewMillis()).isEmpty();
  }

  @Test
  void clocksThatAgreeChangeNothing() {
    hear("n2", 400);
    hear("n3", -900);
    assertThat(error()).isZero();
    assertThat(clock.correctionMillis()).isZero();
    assertThat(clock.skewMillis().get("n2")).isBetween(390L, 410L);
  }

  @Test
  void oneWrongClockOfThreeDoesNotMatter() {
    hear("n2", 0);
    hear("n3", 0);
    skew = HOUR;
    assertThat(error()).as("never early").isBetween(-10L, 0L);
    skew = -HOUR;
    assertThat(error()).isBetween(-10L, 0L);
    skew = 0;
    hear("n3", 1000 * HOUR);
    assertThat(error()).isZero();
    assertThat(clock.skewMillis().get("n3")).isBetween(1000 * HOUR - 10, 1000 * HOUR + 10);
  }

  @Test
  void aNodeThatIsGoneStillHasItsSay() {
    hear("n2", 0);
    hear("n3", 0);
    steady += 24 * HOUR;
    skew = HOUR;
    assertThat(error()).isBetween(-10L, 0L);
  }

  @Test
  void ofTwoClocksTheEarlierCounts() {
    hear("n2", -HOUR);
    assertThat(error()).isBetween(-HOUR - 10, -HOUR);
    hear("n2", HOUR);
    assertThat(error()).isZero();
  }

  @Test
  void itIsSettledWhenMostAreHeardOrAfterAWhile() {
    clock.ask(5);
    assertThat(clock.settled()).isFalse();
    hear("n2", 0);
    assertThat(clock.settled()).isFalse();
    hear("n3", 0);
    assertThat(clock.settled()).isTrue();
    clock.ask(9);
    steady += ClusterClock.PATIENCE_MILLIS;
    assertThat(clock.settled()).isTrue();
  }

  /** As long as most clocks are right, none can be moved far from them. */
  @Property(tries = 500)
  void aMinorityMovesNoClock(
      @ForAll @Size(max = 2) List<@LongRange(min = -1000 * HOUR, max = 1000 * HOUR) Long> wrong,
      @ForAll boolean ownIsWrong) {
    ClusterClockTest world = new ClusterClockTest();
    int nodes = 2 * wrong.size() + 1;
    int next = 2;
    for (int i = ownIsWrong && !wrong.isEmpty() ? 1 : 0; i < wrong.size(); i++) {
      world.hear("n" + next++, wrong.get(i));
    }
    if (ownIsWrong && !wrong.isEmpty()) {
      world.skew = wrong.get(0);
    }
    while (next <= nodes) {
      world.hear("n" + next++, 0);
    }
    assertThat(world.error()).isBetween(-1_010L, 1_010L);
  }
}
