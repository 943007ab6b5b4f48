package dev.evenkeel.assign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Against all possible assignments of small groups. */
class StickyMinimumTest {
  /** Members of a subscription planned together, as in large groups. */
  private final Assignor together = new StickyAssignor(0);

  private final Assignor sticky = new StickyAssignor();

  private static Snapshot small(long seed, boolean uniform) {
    Random random = new Random(seed);
    while (true) {
      GroupModel model = new GroupModel(random, uniform, 4, 3, 3);
      model.event();
      if (model.hasMembers()) {
        return model.snapshot();
      }
    }
  }

  @Property(tries = 2000)
  void withOneSubscriptionNoAssignmentIsMoreEvenOrMovesLess(@ForAll long seed) {
    assertBest(sticky, small(seed, true));
  }

  @Property(tries = 2000)
  void withManySubscriptionsNoAssignmentIsMoreEvenOrMovesLess(@ForAll long seed) {
    assertBest(sticky, small(seed, false));
  }

  private static void assertBest(Assignor assignor, Snapshot snapshot) {
    Map<Shard, String> targets = assignor.assign(snapshot);
    long[] best = Verdicts.best(snapshot);
    Verdicts.assertComplete(snapshot, targets);
    assertThat(Verdicts.squares(snapshot, targets)).as("%s", snapshot).isEqualTo(best[0]);
    assertThat(Verdicts.moves(snapshot, targets))
        .as("%s to %s", snapshot, targets)
        .isEqualTo((int) best[1]);
  }

  @Test
  void plannedTogetherItIsAsEvenAndMovesHardlyMore() {
    int minimum = 0;
    int moves = 0;
    int cases = 2000;
    int exact = 0;
    for (int seed = 0; seed < cases; seed++) {
      Snapshot snapshot = small(seed, false);
      Map<Shard, String> targets = together.assign(snapshot);
      long[] best = Verdicts.best(snapshot);
      assertThat(Verdicts.squares(snapshot, targets)).as("%s", snapshot).isEqualTo(best[0]);
      int moved = Verdicts.moves(snapshot, targets);
      minimum += (int) best[1];
      moves += moved;
      exact += moved == best[1] ? 1 : 0;
    }
    System.out.printf(
        "planned together: %d of %d cases with the fewest moves, %d moves for %d%n",
        exact, cases, moves, minimum);
    assertThat(exact).isGreaterThanOrEqualTo(cases * 97 / 100);
    assertThat(moves).isLessThanOrEqualTo(minimum * 103 / 100);
  }
}
