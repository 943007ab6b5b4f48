package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In mode broadcast members are known, and nobody is given anything. */
class BroadcastGroupTest {
  private final Bench bench = Bench.withShards(4);

  private Heartbeat reader(String name) {
    return Bench.in(bench.beat(name), "broadcast", List.of("t"), null);
  }

  @Test
  void membersOwnNothingAndTheGroupIsWell() {
    Assignment a = (Assignment) bench.send(reader("a"));
    Assignment b = (Assignment) bench.send(reader("b"));
    bench.pass(20_000, reader("a"), reader("b"));
    assertThat(a.shards()).isEmpty();
    assertThat(b.shards()).isEmpty();
    assertThat(bench.owners()).isEqualTo("----");
    assertThat(bench.writes()).as("no lease, so nothing for retention to wait for").isEmpty();
    GroupState group = bench.core.find("g");
    assertThat(group.status(bench.core.topics())).isEqualTo(GroupStatus.OK);
    assertThat(group.members().live()).hasSize(2);
    bench.send(Bench.leaving(reader("a")));
    bench.pass(6_000);
    assertThat(group.members().live()).isEmpty();
  }

  @Test
  void allMustAgreeOnTheMode() {
    bench.send(reader("a"));
    DispatcherAction.Refuse refuse = (DispatcherAction.Refuse) bench.send(bench.beat("b"));
    assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(refuse.detail()).contains("runs in mode broadcast, not sharded");
    // Whoever is alone may change it; nothing is lost by that.
    bench.send(Bench.leaving(reader("a")));
    assertThat(bench.send(bench.beat("b"))).isInstanceOf(Assignment.class);
    assertThat(bench.owners()).isEqualTo("bbbb");
  }

  @Test
  void aGroupWithOffsetsInTheLogDoesNotBecomeOne() {
    bench.after(bench.beat("a")).owned("aaaa");
    bench.send(Bench.leaving(bench.beat("a")));
    DispatcherAction.Refuse refuse = (DispatcherAction.Refuse) bench.send(reader("b"));
    assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(refuse.detail()).contains("has offsets in the log").contains("use another name");
    assertThat(bench.log.groups.get("g").mode()).isEqualTo("sharded");
  }

  /** Nodes tell of leases that went with a topic before or after the topic itself. */
  @Test
  void aGroupWhoseTopicIsDeletedMayBecomeOne() {
    bench.send(bench.beat("a"), Bench.leaving(bench.beat("a")));
    List<Lease> gone = List.copyOf(bench.log.leases.remove("g").values());
    bench.run(bench.core.leaseChanged(LeaseChange.forgotten(gone.get(0)), bench.now));
    bench.log.topics.clear();
    bench.log.topic(2, "u", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.run(bench.core.leaseChanged(LeaseChange.forgotten(gone.get(1)), bench.now));
    Heartbeat reader = Bench.in(bench.beat("b"), "broadcast", List.of("u"), null);
    assertThat(bench.send(reader)).isInstanceOf(Assignment.class);
    assertThat(bench.log.groups.get("g").mode()).isEqualTo("broadcast");
  }

  private Lease lease() {
    return bench.log.lease(Bench.GROUP, new Shard(1, 0));
  }

  /** Nobody would take away a lease that comes later: it would keep messages for ever. */
  @Test
  void aGroupThatIsBeingGivenLeasesDoesNotBecomeOne() {
    Bench bench = Bench.withShards(1);
    bench.level = FeatureLevel.SUBSCRIPTIONS;
    bench.activate(List.of());
    bench.lateShard = 0;
    assertThat(bench.send(bench.beat("a"))).as("waits for its lease").isNull();
    bench.send(Bench.leaving(bench.beat("a")));
    assertThat(bench.refusal(reader("b"))).isEqualTo(Refusal.UNAVAILABLE);
    bench.answerLate();
    assertThat(bench.refusal(reader("b"))).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(bench.log.groups.get("g").mode()).isEqualTo("sharded");
  }

  /** The log gave them to it with new shards, while the dispatcher did not know these. */
  @Test
  void leasesThatCameWhileItBecameOneGo() {
    bench.level = FeatureLevel.SUBSCRIPTIONS;
    bench.activate(List.of());
    assertThat(bench.send(reader("a"))).isInstanceOf(Assignment.class);
    bench.log.apply(new DataCommand.OpenLease(Bench.GROUP, new Shard(1, 0), StartAt.EARLIEST));
    assertThat(lease()).isNotNull();
    bench.pass(60_000, reader("a"));
    assertThat(lease()).isNull();
    assertThat(bench.send(reader("a"))).isInstanceOf(Assignment.class);
    GroupInfo info = bench.core.find(Bench.GROUP).info();
    assertThat(info.mode()).isEqualTo("broadcast");
    assertThat(info.topics()).containsExactly("t");
  }

  @Test
  void aNewDispatcherFindsItAsItWas() {
    bench.send(reader("a"));
    bench.activate(List.of());
    bench.clear();
    assertThat(bench.send(reader("a"))).isInstanceOf(Assignment.class);
    bench.pass(20_000, reader("a"));
    assertThat(bench.writes()).isEmpty();
  }
}
