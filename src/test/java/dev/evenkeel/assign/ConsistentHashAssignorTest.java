package dev.evenkeel.assign;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class ConsistentHashAssignorTest {
  private final Assignor assignor = new ConsistentHashAssignor();

  private static Snapshot group(int members, int shards) {
    List<Snapshot.Member> list = new ArrayList<>();
    times(members, i -> list.add(new Snapshot.Member("m" + i, Set.of(1))));
    List<Snapshot.Held> helds = new ArrayList<>();
    times(shards, i -> helds.add(new Snapshot.Held(new Shard(1, i), null, null, null)));
    return new Snapshot(list, helds);
  }

  @Test
  void theHashIsMurmur64a() {
    assertThat(Hash.of("")).isZero();
    assertThat(Hash.of("a")).isEqualTo(0x071717d2d36b6b11L);
    assertThat(Hash.of("hello, world")).isEqualTo(0x9659ad0699a8465fL);
  }

  @Property(tries = 500)
  void allIsOwnedWithinTheBoundWhoeverOwnedIt(@ForAll long seed) {
    GroupModel model = new GroupModel(new Random(seed), true, 8, 3, 12);
    Snapshot snapshot = model.snapshot();
    Map<Shard, String> targets = assignor.assign(snapshot);
    Verdicts.assertComplete(snapshot, targets);
    int bound = (int) Math.ceil(1.25 * snapshot.shards().size() / snapshot.members().size() - 1e-9);
    assertThat(Verdicts.loads(snapshot, targets).values()).allMatch(load -> load <= bound);
    model.carryOutInPart(new StickyAssignor().assign(snapshot));
    assertThat(assignor.assign(model.snapshot())).isEqualTo(targets);
  }

  @Property(tries = 500)
  void withMixedSubscriptionsAllIsOwnedBySubscribers(@ForAll long seed) {
    GroupModel model = new GroupModel(new Random(seed), false, 8, 4, 12);
    Snapshot snapshot = model.snapshot();
    Map<Shard, String> targets = assignor.assign(snapshot);
    Verdicts.assertComplete(snapshot, targets);
    assertThat(assignor.assign(GroupModel.shuffled(snapshot, new Random(seed)))).isEqualTo(targets);
  }

  @Test
  void mostShardsStayWhenAMemberComes() {
    Map<Shard, String> before = assignor.assign(group(10, 1000));
    Map<Shard, String> after = assignor.assign(group(11, 1000));
    long moved = before.keySet().stream().filter(s -> !before.get(s).equals(after.get(s))).count();
    // 91 would be the least. A modulo would move some 900.
    assertThat(moved).isBetween(60L, 350L);
    Map<String, Integer> loads = new HashMap<>();
    after.values().forEach(owner -> loads.merge(owner, 1, Integer::sum));
    assertThat(loads).hasSize(11);
  }
}
