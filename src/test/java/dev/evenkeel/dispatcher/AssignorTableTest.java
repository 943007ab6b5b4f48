package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Assignors;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Whatever a user's own assignor does, each shard gets an owner who reads it. */
class AssignorTableTest {
  private static final Shard T0 = new Shard(1, 0);
  private static final Shard U0 = new Shard(2, 0);
  private static final Snapshot SNAPSHOT =
      new Snapshot(
          List.of(new Snapshot.Member("a", Set.of(1)), new Snapshot.Member("b", Set.of(1, 2))),
          List.of(
              new Snapshot.Held(T0, null, null, null), new Snapshot.Held(U0, null, null, null)));

  private final AtomicInteger plans = new AtomicInteger();

  private Map<Shard, String> plan(Function<Snapshot, Map<Shard, String>> own) {
    Assignor assignor =
        new Assignor() {
          @Override
          public String name() {
            return "own";
          }

          @Override
          public Map<Shard, String> assign(Snapshot snapshot) {
            return own.apply(snapshot);
          }
        };
    Map<String, Assignor> known = new HashMap<>(Assignors.all());
    known.put("own", assignor);
    AssignorTable table = new AssignorTable(known, plans::incrementAndGet);
    return table.named("own").assign(SNAPSHOT);
  }

  @Test
  void aGoodPlanIsTaken() {
    Map<Shard, String> good = Map.of(T0, "b", U0, "b");
    assertThat(plan(snapshot -> good)).isEqualTo(good);
    assertThat(plans).hasValue(1);
  }

  @Test
  void aBadOneIsReplacedByTheDefaultsPlan() {
    Map<Shard, String> even = Map.of(T0, "a", U0, "b");
    assertThat(plan(snapshot -> null)).isEqualTo(even);
    assertThat(plan(snapshot -> Map.of(T0, "b"))).isEqualTo(even);
    assertThat(plan(snapshot -> Map.of(T0, "a", U0, "a"))).isEqualTo(even);
    assertThat(plan(snapshot -> Map.of(T0, "nobody", U0, "b"))).isEqualTo(even);
    assertThat(plan(snapshot -> Map.of(T0, "a", U0, "b", new Shard(9, 9), "b"))).isEqualTo(even);
    Map<Shard, String> withNull = new HashMap<>(even);
    withNull.put(T0, null);
    assertThat(plan(snapshot -> withNull)).isEqualTo(even);
    assertThat(
            plan(
                snapshot -> {
                  throw new IllegalStateException("broken");
                }))
        .isEqualTo(even);
  }

  @Test
  void theDefaultIsThereAndUnknownOnesAreNot() {
    AssignorTable table = new AssignorTable(Assignors.all(), plans::incrementAndGet);
    assertThat(table.names()).contains(GroupInfo.ASSIGNOR_DEFAULT, "average", "consistent-hash");
    assertThat(table.named(GroupInfo.ASSIGNOR_DEFAULT)).isNotNull();
    assertThat(table.named("none")).isNull();
  }
}
