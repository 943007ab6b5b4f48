package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** How long one plan takes: ten shards for each member, 50 topics. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class PlanningBenchmark {
  private static final int TOPICS = 50;
  private static final int SUBSCRIPTIONS = 20;

  @Param({"100", "1000", "10000", "100000"})
  public int shards;

  /**
   * One subscription of all members, 20 different ones of about a quarter of the topics, or one of
   * that size for each member.
   */
  @Param({"uniform", "mixed", "distinct"})
  public String subscriptions;

  private final Assignor sticky = new StickyAssignor();
  private Snapshot free;
  private Snapshot oneLeft;

  @Setup
  public void setUp() {
    List<Snapshot.Member> members = new ArrayList<>();
    int count = subscriptions.equals("distinct") ? shards / 10 : SUBSCRIPTIONS;
    List<Set<Integer>> sets = sets(count, !subscriptions.equals("uniform"));
    for (int i = 0; i < shards / 10; i++) {
      members.add(new Snapshot.Member("member-" + i, sets.get(i % count)));
    }
    List<Snapshot.Held> helds = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      Shard shard = new Shard(1 + i % TOPICS, i / TOPICS);
      if (members.stream().anyMatch(member -> member.topicIds().contains(shard.topicId()))) {
        helds.add(new Snapshot.Held(shard, null, null, null));
      }
    }
    free = new Snapshot(members, helds);
    List<Snapshot.Held> owned = new ArrayList<>();
    sticky
        .assign(free)
        .forEach((shard, owner) -> owned.add(new Snapshot.Held(shard, owner, null, 1000L)));
    members.remove(members.size() / 2);
    oneLeft = new Snapshot(members, owned);
  }

  private static List<Set<Integer>> sets(int count, boolean mixed) {
    Random random = new Random(1);
    List<Set<Integer>> sets = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Set<Integer> topics = new TreeSet<>();
      for (int topic = 1; topic <= TOPICS; topic++) {
        if (!mixed || topic % SUBSCRIPTIONS == i % SUBSCRIPTIONS || random.nextInt(5) == 0) {
          topics.add(topic);
        }
      }
      sets.add(topics);
    }
    return sets;
  }

  /** Nobody owns anything yet. */
  @Benchmark
  public Map<Shard, String> first() {
    return sticky.assign(free);
  }

  /** All is level, and one member leaves. */
  @Benchmark
  public Plan oneLeaves() {
    return Planner.plan(oneLeft, sticky);
  }
}
