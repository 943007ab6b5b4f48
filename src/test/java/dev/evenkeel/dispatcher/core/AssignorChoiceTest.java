package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.AverageAssignor;
import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The members of a group choose, and agree on, who decides about its shards. */
class AssignorChoiceTest {
  private final Bench bench = Bench.withShards(4);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  /** Gives everything to the member whose name comes last. */
  private static final class LastTakesAll implements Assignor {
    @Override
    public String name() {
      return "last";
    }

    @Override
    public Map<Shard, String> assign(Snapshot snapshot) {
      String last =
          snapshot.members().stream().map(Snapshot.Member::name).max(String::compareTo).orElse("");
      Map<Shard, String> owners = new HashMap<>();
      snapshot.shards().forEach(held -> owners.put(held.shard(), last));
      return owners;
    }
  }

  private static Heartbeat asking(Heartbeat beat, String assignor) {
    return beat.withWishes(new Heartbeat.Wishes(assignor, null, 0, null, null, null, null));
  }

  private void knowLast() {
    bench.assignors.put("last", new LastTakesAll());
    bench.activate(List.of());
  }

  private String recorded() {
    return bench.log.groups.get("g").assignor();
  }

  @Test
  void newGroupHasTheDefaultOrWhatItsFirstMemberAsksFor() {
    bench.send(a);
    assertThat(recorded()).isEqualTo("sticky");
    Bench other = Bench.withShards(4);
    other.send(asking(a, "average"));
    assertThat(other.log.groups.get("g").assignor()).isEqualTo("average");
  }

  @Test
  void itDecidesWhoGetsWhat() {
    knowLast();
    bench.send(asking(a, "last"), b);
    assertThat(status()).isEqualTo(GroupStatus.HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED);
    bench.release(0, 1, 2, 3).owned("bbbb");
    assertThat(status()).as("as it decided, however uneven").isEqualTo(GroupStatus.OK);
  }

  private GroupStatus status() {
    return bench.core.find("g").status(bench.core.topics());
  }

  @Test
  void whoAsksForAnotherIsRefusedWhileOthersLive() {
    bench.send(asking(a, "average"));
    DispatcherAction.Refuse refuse = (DispatcherAction.Refuse) bench.send(asking(b, "sticky"));
    assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(refuse.detail())
        .isEqualTo(
            "group g uses assignor average, not sticky: name the same or none while it has other"
                + " members");
    assertThat(recorded()).isEqualTo("average");
    assertThat(bench.send(asking(b, "average"))).isInstanceOf(Assignment.class);
    assertThat(bench.send(bench.beat("c"))).isInstanceOf(Assignment.class);
  }

  @Test
  void whoIsAloneChangesIt() {
    knowLast();
    bench.send(asking(a, "average"), Bench.leaving(a));
    assertThat(bench.send(asking(b, "last"))).isInstanceOf(Assignment.class);
    assertThat(recorded()).isEqualTo("last");
    bench.after(a.withWishes(Heartbeat.Wishes.NONE)).owned("bbbb");
  }

  @Test
  void aLaterRunOfTheOnlyMemberChangesItToo() {
    bench.send(asking(bench.beat("a", "x", 100), "average"));
    assertThat(bench.send(asking(bench.beat("a", "y", 200), "sticky")))
        .isInstanceOf(Assignment.class);
    assertThat(recorded()).isEqualTo("sticky");
    assertThat(bench.owners()).isEqualTo("aaaa");
  }

  @Test
  void unknownNameIsRefusedWithTheKnownOnes() {
    DispatcherAction.Refuse refuse = (DispatcherAction.Refuse) bench.send(asking(a, "stickey"));
    assertThat(refuse.refusal()).isEqualTo(Refusal.INVALID);
    assertThat(refuse.detail()).isEqualTo("unknown assignor 'stickey': use average or sticky");
    assertThat(bench.log.groups).isEmpty();
  }

  @Test
  void aDispatcherThatLacksTheGroupsOwnGoesOnWithTheDefault() {
    knowLast();
    bench.send(asking(a, "last"));
    bench.assignors.remove("last");
    bench.activate(List.of());
    assertThat(bench.send(asking(a, "last"))).isInstanceOf(Assignment.class);
    bench.send(b);
    bench.release(2, 3).owned("aabb");
    assertThat(recorded()).isEqualTo("last");
  }

  @Test
  void aChangeIsPlannedForWithItsCause() {
    knowLast();
    bench.send(a, b).release(2, 3);
    // Another dispatcher has taken the change in; this one reads of it.
    bench.log.apply(
        new dev.evenkeel.protocol.MetaCommand.DeclareGroup(
            "g",
            GroupPolicy.SHARDED,
            List.of("t"),
            dev.evenkeel.protocol.StartAt.EARLIEST,
            true,
            "last",
            List.of()),
        bench.now);
    bench.pass(6_000, a, b).release(0).owned("babb").by(Cause.ASSIGNOR);
  }

  @Test
  void figuresOfSnapshotsTellOfLag() {
    Map<Shard, Long> lags = new HashMap<>();
    bench.assignors.put(
        "sticky",
        new Assignor() {
          private final Assignor average = new AverageAssignor();

          @Override
          public String name() {
            return "sticky";
          }

          @Override
          public Map<Shard, String> assign(Snapshot snapshot) {
            snapshot.shards().forEach(held -> lags.put(held.shard(), held.lag()));
            return average.assign(snapshot);
          }
        });
    bench.log.ends.put(new Shard(1, 0), 70L);
    bench.activate(List.of());
    bench.send(a);
    assertThat(lags.get(new Shard(1, 0))).isNull();
    bench.pass(6_000, a);
    assertThat(lags.get(new Shard(1, 0))).isEqualTo(70);
    assertThat(lags.get(new Shard(1, 1))).isEqualTo(0);
  }
}
