package dev.evenkeel.level;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The book, and the book against a world whose true counts it never sees. */
class LevelCountsTest {

  private static LevelCounts book(int range, String... members) {
    LevelCounts book = new LevelCounts(Range.of(range));
    each(members, each -> book.join(each, 0));
    return book;
  }

  @Example
  void countsOnlyWhatIsHeardOf() {
    LevelCounts book = book(10, "a", "b");
    assertThat(book.mayHandOut("a")).isEqualTo(10);
    book.handedOut("a", 10, 0);
    book.finished("a", 10, 1);
    assertThat(book.mayHandOut("a")).isZero();
    book.handedOut("b", 4, 1);
    assertThat(book.mayHandOut("a")).isZero();
    book.finished("b", 3, 2);
    assertThat(book.mayHandOut("a")).isEqualTo(3);
    assertThat(book.gap()).isEqualTo(7);
    assertThat(book.finishedOf("b")).isEqualTo(3);
    assertThat(book.checkpoint("b").inHand()).isEqualTo(1);
    book.givenBack("b", 1);
    assertThat(book.checkpoint("b").inHand()).isZero();
    assertThatThrownBy(() -> book.handedOut("a", 4, 2)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> book.finished("b", 1, 2)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> book.join("b", 2)).isInstanceOf(IllegalStateException.class);
  }

  @Example
  void saysWhoHoldsTheRoundAndForHowLong() {
    LevelCounts book = book(2, "a", "b");
    assertThat(book.holder(0)).isEmpty();
    book.handedOut("b", 1, 100);
    book.handedOut("a", 2, 200);
    book.finished("a", 2, 300);
    assertThat(book.holder(900)).contains(new LevelCounts.Holder("b", 1, 800));
    book.leave("b");
    assertThat(book.holder(900)).isEmpty();
    assertThat(book.mayHandOut("a")).isEqualTo(2);
    assertThat(book.round()).isEqualTo(1);
    book.join("b", 1000);
    assertThat(book.positionOf("b")).isEqualTo(2);
    assertThat(book.gap()).isZero();
    assertThat(book.members()).containsExactly("a", "b");
    assertThat(book.members().contains("c")).isFalse();
  }

  @Example
  void aNewKeeperGoesOnFromTheCounts() {
    LevelCounts book = book(5, "a", "b");
    book.handedOut("a", 5, 0);
    book.finished("a", 4, 0);
    LevelCounts next =
        LevelCounts.restore(
            Range.of(5), List.of(book.checkpoint("b"), book.checkpoint("a").with(5, 0)), 1, 0);
    assertThat(next.mayHandOut("a")).isZero();
    assertThat(next.mayHandOut("b")).isEqualTo(5);
    assertThat(next.finishedOf("a")).isEqualTo(5);
    Checkpoint stranger = new Checkpoint("c", 9, 0, 0, 0, false, List.of());
    assertThatThrownBy(
            () -> LevelCounts.restore(Range.of(5), List.of(stranger, book.checkpoint("a")), 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("c does not know of a");
  }

  @Property(tries = 3000)
  void trueCountsStayWithinTheRangeAndDealingGoesOn(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 12) int range,
      @ForAll @IntRange(min = 1, max = 400) int steps) {
    LevelWorld world = new LevelWorld(seed, Range.of(range));
    times(steps, i -> world.step());
    world.goesOn();
  }

  @Example
  void whoWaitForOneAnotherAfterAKeeperTookOverGoOn() {
    LevelWorld world = new LevelWorld(-1_335_635, Range.of(1));
    times(235, i -> world.step());
    world.goesOn();
  }

  @Example
  void nobodyHoldsTheRoundWhileSomebodyMayBeHandedSomething() {
    LevelCounts book = book(1, "a", "b");
    book.handedOut("a", 1, 0);
    book.finished("a", 1, 0);
    assertThat(book.mayHandOut("a")).isZero();
    assertThat(book.holder(9)).isEmpty();
  }

  @Example
  void aThousandMembersAreLevelToo() {
    LevelWorld world = new LevelWorld(7, Range.of(20));
    times(1000, i -> world.join());
    world.rounds(4);
    assertThat(world.finishedInAll()).isGreaterThan(10_000);
  }
}
