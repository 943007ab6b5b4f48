package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A member that has begun to close hands over what it has, and gets nothing more. */
class ClosingMemberTest {
  private final Bench bench = Bench.withShards(4);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private void twoEach() {
    bench.send(a, b).release(2, 3).owned("aabb");
    bench.clear();
  }

  @Test
  void itsShardsGoToTheOthersWithoutBeingAskedFor() {
    twoEach();
    Assignment answer = (Assignment) bench.send(b.asClosing());
    assertThat(bench.writes()).isEmpty();
    assertThat(answer.shards()).hasSize(2);

    bench.now += 300;
    bench.release(2).owned("aaab");
    MoveRecord move = bench.core.moves().recent("g", 1).get(0);
    assertThat(move.from()).isEqualTo("b");
    assertThat(move.reason()).isEqualTo(Cause.LEAVE.word());
    assertThat(move.releaseMillis()).isEqualTo(300);
    bench.release(3).owned("aaaa");
    assertThat(bench.lease(0).epoch()).isEqualTo(1);
  }

  @Test
  void whatItKeepsForLongIsAskedFor() {
    twoEach();
    Heartbeat closing = b.asClosing();
    bench.send(closing);
    bench.pass(1_000, a, closing);
    assertThat(bench.lease(2).drain().to()).isEqualTo("a");
    assertThat(bench.lease(3).drain().to()).isEqualTo("a");
    bench.clear();
    bench.now += 500;
    bench.release(2);
    assertThat(bench.core.moves().recent("g", 1).get(0).releaseMillis()).isEqualTo(1_500);
    bench.pass(70_000, a, closing).owned("aaaa");
  }

  @Test
  void itGetsNothingOfAMemberThatDies() {
    twoEach();
    Heartbeat c = bench.beat("c");
    bench.send(c);
    Heartbeat closing = b.asClosing();
    bench.send(closing);
    bench.pass(8_000, closing, c).owned("ccbb");
    bench.release(2, 3).owned("cccc");
  }

  @Test
  void theLastOneIsNotGivenBackWhatItLetGo() {
    bench.send(a, a.asClosing());
    assertThat(bench.lease(0).drain()).isNull();
    times(4, shard -> bench.release(shard));
    bench.pass(10_000, a.asClosing()).owned("----");
    assertThat(bench.lease(3).epoch()).isEqualTo(1);
    bench.after(b).owned("bbbb");
  }

  /** Only an owner that was not asked for its shard counts as one that died. */
  @Test
  void whoLeavesBeforeItHearsOfItsShardsIsAskedForThem() {
    bench.send(a, Bench.leaving(a));
    bench.clear();
    bench.after(b).owned("bbbb");
    assertThat(bench.lease(0).epoch()).isEqualTo(2);
    assertThat(bench.writes()).contains("SetDrain 0", "SetDrain 3");
  }

  @Test
  void neitherIsOneThatOnlyLetsGo() {
    bench.send(a);
    bench.clear();
    bench.release(0, 1, 2, 3).owned("----");
    assertThat(bench.writes()).isEmpty();
  }

  @Test
  void aHandOverToItIsRedirected() {
    bench.send(a, b);
    Heartbeat c = bench.beat("c");
    bench.send(c);
    assertThat(bench.lease(3).drain().to()).isEqualTo("c");
    bench.send(c.asClosing());
    assertThat(bench.lease(3).drain().to()).isEqualTo("b");
    bench.release(3).owned("aaab");
  }

  @Test
  void aLateHeartbeatFromBeforeDoesNotTakeItBack() {
    twoEach();
    bench.send(b.asClosing(), b).release(2, 3).owned("aaaa");
    bench.pass(10_000, a, b).owned("aaaa");
  }

  @Test
  void theNextRunOfTheSameNameIsNotClosing() {
    twoEach();
    bench.send(b.asClosing());
    bench.after(bench.beat("b", "b2", 200)).owned("aabb");
    assertThat(bench.lease(3).instance()).isEqualTo("b2");
  }

  @Test
  void itIsNoIdleConsumer() {
    bench.send(a, a.asClosing());
    times(4, shard -> bench.release(shard));
    assertThat(bench.core.find("g").status(bench.core.topics()))
        .isEqualTo(GroupStatus.UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS);
  }

  private static Heartbeat dying(Heartbeat beat) {
    return Heartbeats.with(
        Bench.leaving(beat), "diedOf", List.of(new MessageId(new Shard(1, 3), 17, 0)));
  }

  /** So that the log counts a death. */
  @Test
  void whatItDidNotReleaseIsTakenFromItIfItDiedOfAMessage() {
    twoEach();
    bench.send(b.asClosing());
    bench.release(2);
    bench.clear();
    bench.send(dying(b.asClosing()));
    assertThat(bench.writes()).containsExactly("Grant 3");
    assertThat(bench.owners()).isEqualTo("aaaa");
    assertThat(bench.core.moves().recent("g", 1).get(0).reason()).isEqualTo("session expired");
    assertThat(bench.refusal(b)).as("it does not come back").isEqualTo(Refusal.INVALID);
  }

  /** An owner that is asked for a shard, and dies then, does not count: so it is not asked. */
  @Test
  void aHandOverFromOneThatDiedOfAMessageIsCalledOffBefore() {
    bench.send(a, b);
    assertThat(bench.lease(3).drain().to()).isEqualTo("b");
    bench.clear();
    bench.send(dying(a));
    List<DataCommand> ofThree =
        bench.actions.stream()
            .filter(each -> each instanceof DispatcherAction.Write w && w.shard().shard() == 3)
            .map(each -> ((DispatcherAction.Write) each).command())
            .toList();
    assertThat(ofThree.get(0)).isEqualTo(new DataCommand.SetDrain("g", new Shard(1, 3), 1, null));
    assertThat(ofThree.get(1)).isInstanceOf(DataCommand.Grant.class);
    assertThat(bench.owners()).isEqualTo("bbbb");
  }

  @Test
  void aHandOverFromOneThatLeavesIsNotCalledOff() {
    bench.send(a, b);
    bench.clear();
    bench.send(Bench.leaving(a));
    assertThat(bench.writes())
        .as("what it was not asked for, it is asked for now")
        .containsExactly("Grant 0", "Grant 1", "Grant 2", "Grant 3", "SetDrain 0", "SetDrain 1");
  }

  @Test
  void aHeartbeatOvertakenByItsGoodbyeBringsNobodyBack() {
    bench.send(a);
    bench.log.topic(2, "u", 1);
    long held = 100;
    var wanted = bench.core.heartbeat(held, Bench.in(b, "sharded", List.of("u"), null), bench.now);
    bench.send(Bench.leaving(b));
    bench.run(wanted);
    assertThat(((DispatcherAction.Refuse) bench.answers.get(held)).refusal())
        .isEqualTo(Refusal.INVALID);
    assertThat(bench.core.find("g").members().live("b")).isNull();
  }
}
