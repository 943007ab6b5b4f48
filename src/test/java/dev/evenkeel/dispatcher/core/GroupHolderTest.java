package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In mode level the dispatcher's own run holds all shards, and members none. */
class GroupHolderTest {
  private final Bench bench = Bench.withShards(3);
  private final Heartbeat a = level(bench.beat("a"));
  private final Heartbeat b = level(bench.beat("b"));
  private final Heartbeat first = level(bench.beat("dispatcher@n1", "d1", 100));
  private final Heartbeat second = level(bench.beat("dispatcher@n2", "d2", 100));

  private static Heartbeat level(Heartbeat beat) {
    return Heartbeats.with(beat, "policy", GroupPolicy.of("level"));
  }

  private void held() {
    bench.send(a, b);
    bench.run(bench.core.appoint("g", "d1", bench.now));
    bench.send(first);
  }

  @Test
  void membersOwnNothingAndTheHolderAll() {
    bench.send(a, b).owned("---");
    bench.run(bench.core.appoint("g", "d1", bench.now));
    assertThat(bench.owners()).as("not heard yet").isEqualTo("---");
    bench.send(first);
    assertThat(bench.owners()).isEqualTo("dispatcher@n1".repeat(3));
    assertThat(bench.log.groupLeases.get("g").heldBy("d1", 1)).isTrue();
    assertThat(bench.lease(0).groupTerm()).isEqualTo(1);
    assertThat(((Assignment) bench.send(a)).shards()).isEmpty();
    assertThat(((Assignment) bench.send(first)).shards()).hasSize(3);
    assertThat(bench.actions).contains(new DispatcherAction.Holds("g", "d1", 1));
    assertThat(bench.core.find("g").status(bench.core.topics())).isEqualTo(GroupStatus.OK);
    assertThat(bench.core.find("g").members().live()).hasSize(2);
  }

  @Test
  void onlyTheAppointedRunIsTaken() {
    held();
    assertThat(bench.refusal(second)).isEqualTo(Refusal.MEMBER_REPLACED);
    assertThat(bench.refusal(level(bench.beat("dispatcher@n1", "d0", 900))))
        .isEqualTo(Refusal.MEMBER_REPLACED);
    assertThat(bench.refusal(level(bench.beat("x@y")))).isEqualTo(Refusal.INVALID);
  }

  @Test
  void theNextDispatcherTakesAllAtOnceWithAHigherTerm() {
    held();
    bench.now += 100;
    bench.activate(List.of());
    bench.run(bench.core.appoint("g", "d2", bench.now));
    bench.send(second);
    assertThat(bench.owners()).isEqualTo("dispatcher@n2".repeat(3));
    assertThat(bench.lease(0).groupTerm()).isEqualTo(2);
    MoveRecord move = bench.core.moves().recent("g", 1).get(0);
    assertThat(move.from()).isEqualTo("dispatcher@n1");
    assertThat(move.reason()).isEqualTo(Cause.DISPATCHER.word());
    Reply late =
        bench.log.apply(Commands.grant("g", new Shard(1, 0), "dispatcher@n1", "d1", 2, null, 1));
    assertThat(late).isInstanceOf(Reply.Refused.class);
  }

  @Test
  void aTermThatWasNotKnownIsReadAndTakenAgain() {
    bench.send(a);
    bench.log.apply(new MetaCommand.GrantGroupLease("g", "dispatcher@n9", "d9", 0, 0), bench.now);
    bench.run(bench.core.appoint("g", "d1", bench.now));
    bench.send(first);
    bench.pass(2_000, a, first);
    assertThat(bench.owners()).isEqualTo("dispatcher@n1".repeat(3));
    assertThat(bench.lease(0).groupTerm()).isEqualTo(2);
  }

  @Test
  void aGroupThatIsShardedAgainTakesTheShardsBack() {
    held();
    bench.send(Bench.leaving(a), Bench.leaving(b));
    Heartbeat sharded = bench.beat("c");
    bench.send(sharded);
    bench.run(bench.core.appoint("g", null, bench.now));
    bench.pass(1_000, sharded).owned("ccc");
  }

  /** Another dispatcher has had shard 0 at that term, and let go. */
  private void hadByAnother(long term, boolean inMeta) {
    Shard shard = new Shard(1, 0);
    if (inMeta) {
      bench.log.apply(
          new MetaCommand.GrantGroupLease("g", "dispatcher@n9", "d9", term - 1, 0), bench.now);
    }
    long epoch = bench.lease(0).epoch();
    bench.log.apply(Commands.grant("g", shard, "dispatcher@n9", "d9", epoch, null, term));
    bench.log.apply(new DataCommand.Release("g", shard, epoch + 1, 0, -1, null));
    bench.clear();
    bench.run(bench.core.leaseChanged(LeaseChange.of(bench.lease(0)), bench.now));
  }

  @Test
  void whoDoesNotKnowTheTermLearnsItFromTheMetaLogBeforeItGrants() {
    Heartbeat sharded = bench.beat("c");
    bench.send(sharded);
    assertThat(bench.lease(0).groupTerm()).isZero();
    hadByAnother(1, true);
    bench.pass(1_000, sharded).owned("ccc");
    assertThat(bench.lease(0).groupTerm()).isEqualTo(1);
    var kinds = bench.actions.stream().map(each -> each.getClass().getSimpleName()).toList();
    assertThat(kinds.indexOf("ReadGroupLeases")).isNotNegative();
    assertThat(kinds.indexOf("ReadGroupLeases")).isLessThan(kinds.indexOf("Write"));
  }

  @Test
  void whatIsLeftOfAHigherTermIsOutgrown() {
    Heartbeat sharded = bench.beat("c");
    bench.send(sharded);
    hadByAnother(3, false);
    bench.pass(5_000, sharded).owned("ccc");
    assertThat(bench.log.groupLeases.get("g").term()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void aFormerHolderGrantsNothingAtATermThatIsNotItsOwn() {
    held();
    hadByAnother(2, true);
    bench.pass(3_000, a, b, first);
    assertThat(bench.owners()).isEqualTo("-" + "dispatcher@n1".repeat(2));
    assertThat(bench.writes()).isEmpty();
  }
}
