package dev.evenkeel.assign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Random histories of joins, leaves, crashes and topic changes: {@value #TRIES} tries, each of
 * {@value #HISTORIES} histories, for each of two kinds of groups.
 */
class HistoriesTest {
  private static final int TRIES = 250;
  private static final int HISTORIES = 200;
  private static final int EVENTS = 4;

  private final Assignor sticky = new StickyAssignor();
  private final Assignor together = new StickyAssignor(0);

  @Property(tries = TRIES)
  void withOneSubscriptionPlansAreLevelMinimalAndStable(@ForAll long seed) {
    for (int i = 0; i < HISTORIES; i++) {
      Random random = new Random(seed + i);
      GroupModel model = new GroupModel(random, true, 8, 3, 8);
      for (int event = 0; event < EVENTS; event++) {
        model.event();
        if (model.hasMembers()) {
          Snapshot snapshot = model.snapshot();
          Map<Shard, String> targets = checked(sticky, snapshot);
          assertThat(Verdicts.moves(snapshot, targets))
              .as("%s", snapshot)
              .isEqualTo(Verdicts.uniformMinimum(snapshot));
          goOn(sticky, model, targets, random);
        }
      }
      assertOrderMakesNoDifference(sticky, model, random);
    }
  }

  @Property(tries = TRIES)
  void withManySubscriptionsPlansAreLevelAndStable(@ForAll long seed) {
    for (int i = 0; i < HISTORIES; i++) {
      Random random = new Random(seed + i);
      GroupModel model = new GroupModel(random, false, 8, 4, 6);
      Assignor assignor = random.nextBoolean() ? sticky : together;
      for (int event = 0; event < EVENTS; event++) {
        model.event();
        if (model.hasMembers()) {
          Snapshot snapshot = model.snapshot();
          Map<Shard, String> targets = checked(assignor, snapshot);
          if (Verdicts.hasCostReducingPath(snapshot, targets)) {
            throw new AssertionError("could be more level: " + snapshot + " by " + targets);
          }
          goOn(assignor, model, targets, random);
        }
      }
      assertOrderMakesNoDifference(assignor, model, random);
    }
  }

  private static Map<Shard, String> checked(Assignor assignor, Snapshot snapshot) {
    Map<Shard, String> targets = assignor.assign(snapshot);
    Verdicts.assertComplete(snapshot, targets);
    if (!Verdicts.isBalanced(snapshot, targets)) {
      throw new AssertionError("not balanced: " + snapshot + " by " + targets);
    }
    return targets;
  }

  /** Planning again changes nothing, be the plan carried out or under way. */
  private void goOn(
      Assignor assignor, GroupModel model, Map<Shard, String> targets, Random random) {
    int course = random.nextInt(4);
    if (course == 0) {
      model.carryOut(targets);
    } else {
      model.carryOutInPart(targets);
    }
    if (course == 1) {
      Snapshot underWay = model.snapshot();
      Map<Shard, String> again = assignor.assign(underWay);
      int saved = Verdicts.moves(underWay, targets) - Verdicts.moves(underWay, again);
      if (assignor == sticky) {
        assertThat(again).as("%s", underWay).isEqualTo(targets);
      } else {
        // Planned together, members move a few shards more than necessary: in one plan or another.
        assertThat(saved).as("%s", underWay).isGreaterThanOrEqualTo(-1);
      }
    }
  }

  private static void assertOrderMakesNoDifference(
      Assignor assignor, GroupModel model, Random random) {
    Snapshot snapshot = model.snapshot();
    assertThat(assignor.assign(GroupModel.shuffled(snapshot, random)))
        .as("%s", snapshot)
        .isEqualTo(assignor.assign(snapshot));
  }
}
