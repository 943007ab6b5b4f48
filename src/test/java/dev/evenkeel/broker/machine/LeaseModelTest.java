package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/** What must hold of leases whatever comes: the safety of every hand-over rests on it. */
class LeaseModelTest {
  private static final List<String> GROUPS = List.of("g", "h");

  private static List<Lease> leases(Rig rig) {
    List<Lease> leases = new ArrayList<>();
    for (String group : GROUPS) {
      for (Shard shard : List.of(Rig.SHARD, Rig.OTHER)) {
        leases.add(rig.data.leaseWithState(group, shard));
      }
    }
    return leases;
  }

  @Property(tries = 300)
  void epochsGrowAndPositionsDoNotGoBack(@ForAll @Size(max = 60) List<Integer> numbers) {
    Rig rig = Rig.opened();
    rig.fill(Rig.SHARD, 20);
    rig.fill(Rig.OTHER, 9);
    for (int number : numbers) {
      DataCommand command = new Dice(number).leaseCommand();
      List<Lease> before = leases(rig);
      Reply reply = rig.run(command);
      List<Lease> after = leases(rig);
      if (reply instanceof Reply.Refused) {
        assertThat(after)
            .as("a refusal changes nothing")
            .usingRecursiveComparison()
            .isEqualTo(before);
      }
      for (int i = 0; i < before.size(); i++) {
        if (before.get(i) != null) {
          checkStep(command, before.get(i), after.get(i));
        }
      }
    }
  }

  /** Whatever is forgotten or deleted in between: who fences by the epoch never sees it twice. */
  @Property(tries = 300)
  void noEpochIsGrantedTwice(@ForAll @Size(max = 60) List<Integer> numbers) throws Exception {
    Rig rig = new Rig();
    Map<String, Long> highest = new HashMap<>();
    int topic = 0;
    for (int number : numbers) {
      Dice dice = new Dice(number);
      if (topic == 0 || dice.upTo(10) == 0) {
        rig.run(new DataCommand.DropShards(topic++));
        rig.run(Commands.openShards(topic, "t", List.of(0, 1), TopicConfig.DEFAULT));
      }
      if (dice.upTo(8) == 0) {
        rig.data.close();
        rig.data.open();
      }
      String group = GROUPS.get(dice.upTo(2));
      Shard shard = new Shard(topic, dice.upTo(2));
      Lease lease = rig.tables().lease(group, shard);
      long expected = lease == null ? 0 : lease.epoch();
      Reply reply =
          switch (dice.upTo(8)) {
            case 0 -> rig.run(Commands.forgetLeases(group));
            case 1 -> rig.run(new DataCommand.ResetLease(group, shard, expected, StartAt.LATEST));
            default -> rig.run(Commands.grant(group, shard, "a", "a-1", expected, StartAt.LATEST));
          };
      if (reply instanceof Reply.OfLease of) {
        Long before = highest.put(group + shard.shard(), of.lease().epoch());
        assertThat(of.lease().epoch()).isGreaterThan(before == null ? 0 : before);
      }
    }
  }

  /** Many positions at once do what each of them alone would do. */
  @Property(tries = 300)
  void manyPositionsAreCommittedLikeOneAfterAnother(
      @ForAll @Size(max = 20) List<Integer> first, @ForAll @Size(max = 20) List<Integer> numbers) {
    Rig together = filled(first);
    Rig apart = filled(first);
    Map<String, CommitMany.Position> positions = new LinkedHashMap<>();
    for (int number : numbers) {
      Dice dice = new Dice(number);
      CommitMany.Position position =
          new CommitMany.Position(
              GROUPS.get(dice.upTo(2)),
              dice.shard(),
              dice.upTo(6),
              dice.upTo(30) - 1,
              dice.upTo(12) - 2);
      positions.put(position.group() + position.shard(), position);
    }
    Reply reply = together.run(new CommitMany(List.copyOf(positions.values())));
    Map<Integer, Reply> refused = new HashMap<>();
    ((Reply.OfCommits) reply)
        .refused()
        .forEach(each -> refused.put(each.index(), Reply.refused(each.refusal(), each.detail())));
    int index = 0;
    for (CommitMany.Position position : positions.values()) {
      assertThat(refused.getOrDefault(index++, Reply.DONE))
          .isEqualTo(apart.run(position.command()));
    }
    assertThat(leases(together)).usingRecursiveComparison().isEqualTo(leases(apart));
  }

  /** Many steps at once do what each of them alone would do. */
  @Property(tries = 300)
  void manyStepsAreTakenLikeOneAfterAnother(
      @ForAll @Size(max = 20) List<Integer> first, @ForAll @Size(max = 20) List<Integer> numbers) {
    Rig together = filled(first);
    Rig apart = filled(first);
    Map<String, DataCommand.Step> steps = new LinkedHashMap<>();
    for (int number : numbers) {
      DataCommand.Step step = new Dice(number).step();
      steps.put(step.group() + step.shard(), step);
    }
    if (steps.isEmpty()) {
      return;
    }
    Reply reply = together.run(new DataCommand.TakeSteps(List.copyOf(steps.values())));
    List<Reply> alone = steps.values().stream().map(each -> apart.run(each.command())).toList();
    assertThat(((Reply.OfSteps) reply).replies()).usingRecursiveComparison().isEqualTo(alone);
    assertThat(leases(together)).usingRecursiveComparison().isEqualTo(leases(apart));
  }

  private static Rig filled(List<Integer> numbers) {
    Rig rig = Rig.opened();
    rig.fill(Rig.SHARD, 20);
    rig.fill(Rig.OTHER, 9);
    numbers.forEach(number -> rig.run(new Dice(number).leaseCommand()));
    return rig;
  }

  private static void checkStep(DataCommand command, Lease before, Lease after) {
    assertThat(after.epoch()).isBetween(before.epoch(), before.epoch() + 1);
    assertThat(after.groupTerm()).isGreaterThanOrEqualTo(before.groupTerm());
    assertThat(after.committed()).isGreaterThanOrEqualTo(before.committed());
    assertThat(after.committed()).isLessThanOrEqualTo(20);
    assertThat(after.stateOffset() == -1).isEqualTo(after.state() == null);
    if (command instanceof DataCommand.Release && after.epoch() > before.epoch()) {
      assertThat(before.groupTerm()).isZero();
      assertThat(after.groupTerm()).isZero();
      assertThat(after.owner()).isEqualTo(before.drain().to());
      assertThat(after.instance()).isEqualTo(before.drain().heir().instance());
      assertThat(after.ownerTimeoutMillis()).isEqualTo(before.drain().heir().timeoutMillis());
      assertThat(after.drain()).isNull();
    } else if (after.epoch() > before.epoch()) {
      DataCommand.Grant grant = (DataCommand.Grant) command;
      assertThat(grant.groupTerm())
          .as("a lower term grants nothing")
          .isGreaterThanOrEqualTo(before.groupTerm())
          .isEqualTo(after.groupTerm());
      assertThat(after.owned()).isTrue();
    } else {
      assertThat(after.groupTerm()).isEqualTo(before.groupTerm());
    }
    if (after.epoch() == before.epoch() && after.owned() != before.owned()) {
      assertThat(command).isInstanceOf(DataCommand.Release.class);
    }
    if (after.committed() != before.committed()) {
      long epoch =
          command instanceof DataCommand.Commit commit
              ? commit.epoch()
              : ((DataCommand.Release) command).epoch();
      assertThat(before.ownedAt(epoch)).as("only the owner moves the position").isTrue();
    }
    if (after.stateOffset() != before.stateOffset()
        || !Arrays.equals(after.state(), before.state())) {
      if (command instanceof DataCommand.Commit commit) {
        assertThat(before.state()).as("a commit notes the empty state once").isNull();
        assertThat(after.state()).isEmpty();
        assertThat(after.stateOffset()).isEqualTo(commit.stateOffset());
      } else {
        // The dice write states as long as their offset.
        assertThat((long) after.state().length).isEqualTo(after.stateOffset());
      }
    }
  }
}
