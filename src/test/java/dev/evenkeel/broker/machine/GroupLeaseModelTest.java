package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/** What must hold of a group's lease whatever comes: the term is what user code fences with. */
class GroupLeaseModelTest {
  private static final int RUNS = 3;
  private static final int TERMS = 5;

  private static MetaCommand command(int number) {
    Random dice = new Random(number);
    String run = "i" + dice.nextInt(RUNS);
    long term = dice.nextInt(TERMS);
    return command(dice, run, term);
  }

  private static MetaCommand command(Random dice, String run, long term) {
    return switch (dice.nextInt(8)) {
      case 0, 1, 2, 3 -> new MetaCommand.GrantGroupLease("g", "holder-" + run, run, term, 0);
      case 4, 5, 6 -> new MetaCommand.ReleaseGroupLease("g", run, term);
      default -> declare();
    };
  }

  private static MetaCommand declare() {
    return Commands.declareGroup(
        "g", GroupPolicy.of("level"), List.of("t"), StartAt.EARLIEST, true);
  }

  @Property(tries = 500)
  void oneHolderATermAndTermsOnlyGrow(@ForAll @Size(max = 60) List<Integer> numbers)
      throws Exception {
    Rig rig = new Rig();
    rig.run(declare());
    Map<Long, String> holders = new HashMap<>();
    for (int number : numbers) {
      MetaCommand command = command(number);
      GroupLease before = rig.meta.tables().groupLease("g");
      Reply reply = rig.run(command);
      GroupLease after = rig.meta.tables().groupLease("g");
      if (reply instanceof Reply.OfGroupLease of) {
        assertThat(of.lease()).as("the answer is the lease").isEqualTo(after);
        if (command instanceof MetaCommand.GrantGroupLease grant) {
          assertThat(after.heldBy(grant.instance(), after.term())).isTrue();
          assertThat(grant.expectedTerm()).isIn(0L, after.term() - 1);
          String other = holders.putIfAbsent(after.term(), grant.instance());
          assertThat(other).as("at term " + after.term()).isIn(null, grant.instance());
        }
      } else {
        assertThat(after).as("nothing else changes it").isEqualTo(before);
      }
      checkStep(command, before, after);
    }
    GroupLease last = rig.meta.tables().groupLease("g");
    rig.meta.close();
    rig.meta.open();
    assertThat(rig.meta.tables().groupLease("g")).isEqualTo(last);
  }

  /** Who fences by the term never sees it twice, also if the group is forgotten in between. */
  @Property(tries = 500)
  void noTermIsGrantedTwice(@ForAll @Size(max = 60) List<Integer> numbers) throws Exception {
    Rig rig = new Rig();
    long highest = 0;
    String holder = null;
    for (int number : numbers) {
      Random dice = new Random(number);
      rig.run(declare());
      String run = "i" + dice.nextInt(RUNS);
      long term = rig.meta.tables().groupLease("g").term();
      if (dice.nextInt(6) == 0) {
        rig.run(new MetaCommand.ForgetGroup("g"));
        rig.meta.close();
        rig.meta.open();
      } else if (rig.run(command(dice, run, term)) instanceof Reply.OfGroupLease of
          && of.lease().held()) {
        assertThat(of.lease().term()).isGreaterThanOrEqualTo(highest);
        if (of.lease().term() == highest) {
          assertThat(of.lease().instance()).isEqualTo(holder);
        }
        highest = of.lease().term();
        holder = of.lease().instance();
      }
    }
  }

  private static void checkStep(MetaCommand command, GroupLease before, GroupLease after) {
    assertThat(after.term()).isBetween(before.term(), before.term() + 1);
    assertThat(after.held()).isEqualTo(after.holder() != null);
    if (after.term() > before.term()) {
      assertThat(((MetaCommand.GrantGroupLease) command).expectedTerm()).isEqualTo(before.term());
      assertThat(after.held()).isTrue();
    } else if (!after.equals(before)) {
      MetaCommand.ReleaseGroupLease release = (MetaCommand.ReleaseGroupLease) command;
      assertThat(before.heldBy(release.instance(), release.term())).isTrue();
      assertThat(after).isEqualTo(before.released());
    }
  }
}
