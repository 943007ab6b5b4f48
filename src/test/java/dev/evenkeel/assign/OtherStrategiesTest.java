package dev.evenkeel.assign;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The same joins and leaves of balanced groups, planned by others. */
class OtherStrategiesTest {
  private static final int HISTORIES = 500;
  private static final int EVENTS = 5;

  private final Assignor sticky = new StickyAssignor();
  private final Assignor average = new AverageAssignor();

  private int rounds;
  private int missedByArticle;
  private int missedByRanges;
  private int missedBySticky;
  private final List<Double> movesOfRanges = new ArrayList<>();

  @Test
  void oneRoundOfTheArticleAndRangesMissWhatStickyReaches() {
    times(HISTORIES, seed -> history(new Random(seed)));
    Collections.sort(movesOfRanges);
    double median = movesOfRanges.get(movesOfRanges.size() / 2);
    System.out.printf(
        "not balanced after %d joins and leaves: article %d %%, ranges %d %%, sticky %d %%;"
            + " ranges move %.1f times the minimum in the median%n",
        rounds,
        100 * missedByArticle / rounds,
        100 * missedByRanges / rounds,
        100 * missedBySticky / rounds,
        median);
    assertThat(missedBySticky).isZero();
    assertThat(missedByArticle).isGreaterThan(rounds * 3 / 10);
    assertThat(missedByRanges).isGreaterThan(rounds / 10);
    assertThat(median).isGreaterThan(1.5);
  }

  private void history(Random random) {
    GroupModel model = new GroupModel(random, true, 16, 2, 64);
    model.carryOut(sticky.assign(model.snapshot()));
    // The ranges are measured in a history of their own, in which the ranges are carried out.
    for (int event = 0; event < EVENTS; event++) {
      model.joinOrLeave();
      Snapshot snapshot = model.snapshot();
      Map<Shard, String> targets = sticky.assign(snapshot);
      rounds++;
      missedByArticle += isMiss(snapshot, ArticleBalancer.round(snapshot));
      missedByRanges += isMiss(snapshot, average.assign(snapshot));
      missedBySticky += isMiss(snapshot, targets);
      model.carryOut(targets);
    }
    model.carryOut(average.assign(model.snapshot()));
    for (int event = 0; event < EVENTS; event++) {
      model.joinOrLeave();
      Snapshot snapshot = model.snapshot();
      Map<Shard, String> targets = average.assign(snapshot);
      // What a crash leaves without an owner counts on neither side.
      int minimum = Verdicts.moves(snapshot, sticky.assign(snapshot));
      if (minimum > 0) {
        movesOfRanges.add((double) Verdicts.moves(snapshot, targets) / minimum);
      }
      model.carryOut(targets);
    }
  }

  private static int isMiss(Snapshot snapshot, Map<Shard, String> targets) {
    return Verdicts.isBalanced(snapshot, targets) ? 0 : 1;
  }
}
