package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.assign.Assignors;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

/** What is planned for a change that is only supposed is what happens when it is made. */
class WhatIfTest {
  private static final WhatIf NOTHING = new WhatIf(0, Set.of(), null, null, Map.of());

  /** A group in a cluster of two cluster members, where handovers take no time. */
  private static final class World {
    final Random random;
    final ModelLog log = new ModelLog();
    final Bench bench = new Bench(log);
    final String mode;
    final Map<String, Heartbeat> beats = new TreeMap<>();
    WhatIf change;

    World(long seed) {
      random = new Random(seed);
      bench.assignors.clear();
      bench.assignors.putAll(Assignors.all());
      bench.settings = DispatcherOptions.DEFAULTS;
      IntStream.rangeClosed(1, 1 + random.nextInt(3))
          .forEach(id -> log.topic(id, "t" + id, 1 + random.nextInt(12)));
      mode = random.nextInt(6) == 0 ? GroupPolicy.MODE_SINGLETON : GroupPolicy.MODE_SHARDED;
      bench.activate(List.of());
      int members = 1 + random.nextInt(6);
      for (int i = 0; i < members; i++) {
        join("m" + i, i == 0 ? allTopics() : someTopics());
        if (random.nextInt(3) == 0) {
          settle();
        }
      }
      settle();
    }

    List<String> allTopics() {
      return log.topics.stream().map(TopicInfo::name).toList();
    }

    private List<String> someTopics() {
      boolean all = mode.equals(GroupPolicy.MODE_SINGLETON) || random.nextInt(3) > 0;
      List<String> some = new ArrayList<>(allTopics());
      while (!all && some.size() > 1) {
        some.remove(random.nextInt(some.size()));
      }
      return some;
    }

    void join(String name, List<String> topics) {
      join(name, topics, random.nextBoolean() ? "c1" : "c2");
    }

    void join(String name, List<String> topics, String place) {
      Heartbeat beat = Bench.in(bench.beat(name, name + "1", bench.now), mode, topics, place);
      beats.put(name, beat);
      bench.send(beat);
    }

    void leave(String name) {
      bench.send(Bench.leaving(beats.remove(name)));
    }

    void clusterMemberEnds(String id) {
      beats.values().removeIf(beat -> id.equals(beat.clusterMember()));
      Set<String> others = new TreeSet<>(Set.of("c1", "c2"));
      others.remove(id);
      bench.run(bench.core.clusterMembers(others, bench.now));
    }

    void useAssignor(String name) {
      GroupInfo info = log.groups.get(Bench.GROUP);
      log.groups.put(
          Bench.GROUP,
          new GroupInfo(
              info.name(),
              info.policy(),
              info.subscriptions(),
              info.start(),
              info.createdMillis(),
              info.seenMillis(),
              name,
              Collections.emptySortedMap()));
    }

    /** The former shards are consumed at once. */
    void reshard(Map<String, Integer> shards) {
      log.topics.replaceAll(
          topic -> {
            Integer count = shards.get(topic.name());
            if (count == null || count == topic.shards()) {
              return topic;
            }
            topic.all().forEach(this::consume);
            return topic.opening(count, List.of()).opened(2_000);
          });
      bench.run(bench.core.topicsChanged(bench.now));
    }

    private void consume(Shard shard) {
      log.leases
          .getOrDefault(Bench.GROUP, new TreeMap<>())
          .computeIfPresent(
              shard, (same, lease) -> lease.released(0, -1, null).at(Lease.Stage.FINISHED));
    }

    /** Until nothing moves for longer than the dispatcher takes to look at everything. */
    void settle() {
      Map<Shard, String> last = null;
      for (Map<Shard, String> now = owners(); !now.equals(last); now = owners()) {
        last = now;
        for (int i = 0; i < 12; i++) {
          bench.pass(1_000, beats.values().toArray(Heartbeat[]::new));
          drained().forEach(this::release);
        }
      }
    }

    private List<Lease> drained() {
      return log.leases.getOrDefault(Bench.GROUP, Map.of()).values().stream()
          .filter(lease -> lease.owned() && lease.drain() != null)
          .filter(lease -> beats.containsKey(lease.owner()))
          .toList();
    }

    private void release(Lease lease) {
      Reply reply =
          log.apply(
              new DataCommand.Release(Bench.GROUP, lease.shard(), lease.epoch(), 0, -1, null));
      bench.run(
          bench.core.leaseChanged(LeaseChange.of(((Reply.OfLease) reply).lease()), bench.now));
    }

    /** Those that live: a shard that nobody can take keeps the lease of the last. */
    Map<Shard, String> owners() {
      Map<Shard, String> owners = new TreeMap<>();
      log.leases
          .getOrDefault(Bench.GROUP, Map.of())
          .forEach(
              (shard, lease) -> {
                if (lease.owned() && beats.containsKey(lease.owner())) {
                  owners.put(shard, lease.owner());
                }
              });
      return owners;
    }

    WhatIf.Outcome plan(WhatIf change) {
      this.change = change;
      WhatIf.Question question = bench.core.whatIf(Bench.GROUP, change);
      return question.outcome(question.plan());
    }
  }

  private static Map<Shard, String> byShard(WhatIf.Outcome outcome) {
    Map<Shard, String> owners = new TreeMap<>();
    outcome.owners().forEach((name, shards) -> shards.forEach(each -> owners.put(each, name)));
    return owners;
  }

  @Property(tries = 200, shrinking = ShrinkingMode.OFF)
  void thePlanIsWhatHappens(@ForAll long seed) {
    World world = new World(seed);
    Map<Shard, String> before = world.owners();
    WhatIf.Outcome planned = plannedAndDone(world);
    world.settle();
    assertThat(byShard(planned)).as("%s", world.change).isEqualTo(world.owners());
    assertThat(planned.owners().keySet()).isEqualTo(world.beats.keySet());
    Map<Shard, String> moved = new HashMap<>(world.owners());
    moved.entrySet().removeIf(each -> each.getValue().equals(before.get(each.getKey())));
    Map<Shard, String> moves = new HashMap<>();
    for (WhatIf.Move move : planned.moves()) {
      assertThat(move.from()).isEqualTo(before.get(move.shard()));
      if (move.to() != null) {
        moves.put(move.shard(), move.to());
      }
    }
    assertThat(moves).isEqualTo(moved);
  }

  /** Supposes a change, then makes it. */
  private static WhatIf.Outcome plannedAndDone(World world) {
    Random random = world.random;
    switch (random.nextInt(5)) {
      case 0 -> {
        if (!world.mode.equals(GroupPolicy.MODE_SHARDED)) {
          return world.plan(NOTHING);
        }
        List<String> names = List.copyOf(world.bench.assignors.keySet());
        String assignor = names.get(random.nextInt(names.size()));
        WhatIf.Outcome planned = world.plan(new WhatIf(0, Set.of(), null, assignor, Map.of()));
        world.useAssignor(assignor);
        return planned;
      }
      case 1 -> {
        Map<String, Integer> shards = new TreeMap<>();
        world.allTopics().forEach(topic -> shards.put(topic, 1 + random.nextInt(12)));
        shards.keySet().removeIf(topic -> random.nextInt(3) == 0);
        WhatIf.Outcome planned = world.plan(new WhatIf(0, Set.of(), null, null, shards));
        world.reshard(shards);
        return planned;
      }
      default -> {
        String leaver =
            random.nextBoolean()
                ? List.copyOf(world.beats.keySet()).get(random.nextInt(world.beats.size()))
                : null;
        String gone = leaver == null && random.nextBoolean() ? "c2" : null;
        int add = random.nextInt(4);
        Set<String> remove = leaver == null ? Set.of() : Set.of(leaver);
        WhatIf.Outcome planned = world.plan(new WhatIf(add, remove, gone, null, Map.of()));
        List<String> topics = world.allTopics();
        planned.owners().keySet().stream()
            .filter(name -> !world.beats.containsKey(name))
            .forEach(name -> world.join(name, topics, "c1"));
        if (leaver != null) {
          world.leave(leaver);
        }
        if (gone != null) {
          world.clusterMemberEnds(gone);
        }
        return planned;
      }
    }
  }

  @Test
  void nothingIsChanged() {
    World world = new World(7);
    Map<Shard, String> before = world.owners();
    world.bench.clear();
    world.plan(new WhatIf(3, Set.of("m0"), "c2", "average", Map.of("t1", 40)));
    assertThat(world.bench.core.find(Bench.GROUP).members().live()).hasSize(world.beats.size());
    assertThat(world.plan(NOTHING).moves()).isEmpty();
    world.settle();
    assertThat(world.owners()).isEqualTo(before);
    assertThat(world.bench.writes()).isEmpty();
  }

  @Test
  void namesThatAreTakenAreNotGivenToNewMembers() {
    World world = new World(7);
    world.join("new-1", world.allTopics());
    world.settle();
    assertThat(world.plan(new WhatIf(2, Set.of(), null, null, Map.of())).owners().keySet())
        .contains("new-1", "new-2", "new-3");
  }

  @Test
  void whatCannotBeIsRefused() {
    World world = new World(7);
    assertRefused(
        () -> world.plan(new WhatIf(0, Set.of("nobody"), null, null, Map.of())),
        "group 'g' has no member 'nobody': its members are m0");
    assertRefused(
        () -> world.plan(new WhatIf(0, Set.of(), null, "best", Map.of())),
        "there is no assignor 'best': use one of average, consistent-hash, load, sticky");
    assertRefused(
        () -> world.plan(new WhatIf(0, Set.of(), null, null, Map.of("other", 3))),
        "group 'g' does not read topic 'other'");
    assertRefused(
        () -> new WhatIf(1_001, Set.of(), null, null, Map.of()), "add 1001 members: use 0 to 1000");
    assertRefused(
        () -> new WhatIf(0, Set.of(), null, null, Map.of("t1", 0)),
        "0 shards of topic 't1': use 1 to 10000");
  }

  private static void assertRefused(Runnable call, String words) {
    assertThatThrownBy(call::run)
        .isInstanceOf(RefusedException.class)
        .hasMessageStartingWith(words);
  }
}
