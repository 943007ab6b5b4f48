package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A group in mode singleton through crashes, pauses, resignations, forced resets, changes of the
 * dispatcher and answers that are lost: at most one leader can do anything, the term never goes
 * back, and in the end somebody leads.
 */
class SingletonSimulationTest {
  private static final int SEEDS = 150;
  private static final int STEPS = 120;
  private static final int SHARDS = 3;

  private static final class Run {
    final String name;
    final String instance;
    final long born;
    boolean beats = true;
    long resigned;

    Run(String name, int number, long born) {
      this.name = name;
      this.instance = name + number;
      this.born = born;
    }
  }

  private final Map<Long, String> holders = new HashMap<>();
  private final Map<Integer, Long> terms = new HashMap<>();
  private long term;
  private int leaders;
  private int resignations;
  private int resets;

  @Test
  void atMostOneLeaderAtATimeAndInTheEndOne() {
    for (int seed = 0; seed < SEEDS; seed++) {
      holders.clear();
      terms.clear();
      term = 0;
      try {
        play(new Random(seed));
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
    assertThat(leaders).as("changes of the leader").isGreaterThan(2 * SEEDS);
    assertThat(resignations).isGreaterThan(SEEDS);
    assertThat(resets).isGreaterThan(SEEDS);
  }

  private void play(Random random) {
    Bench bench = Bench.withShards(SHARDS);
    List<Run> runs = new ArrayList<>();
    int born = 0;
    for (String name : List.of("a", "b", "c")) {
      runs.add(new Run(name, ++born, born));
    }
    for (int step = 0; step < STEPS; step++) {
      if (bench.dead() && random.nextBoolean()) {
        bench.activate(List.of());
      }
      Run run = runs.get(random.nextInt(runs.size()));
      switch (random.nextInt(16)) {
        case 0 -> run.beats = false;
        case 1, 2 -> run.beats = true;
        case 3 -> runs.set(runs.indexOf(run), new Run(run.name, ++born, born));
        case 4 -> {
          Assignment told = bench.told.get(run.instance);
          if (run.beats && told != null && told.lead() != null) {
            run.resigned = Math.max(run.resigned, told.lead().term());
            resignations++;
          }
        }
        case 5 -> bench.activate(List.of());
        case 6 -> bench.refuseNext = Refusal.UNAVAILABLE;
        case 7 -> bench.loseNextAnswer = true;
        case 14 -> {
          if (!bench.dead()) {
            bench.reset(true, 0, random.nextInt(4) == 0 ? new int[] {1} : new int[] {0, 1, 2});
            resets++;
          }
        }
        case 8, 9 -> {
          bench.diesAtWrite = random.nextInt(4);
          bench.lastWriteArrives = random.nextBoolean();
        }
        default -> runs.forEach(each -> release(bench, each, random.nextBoolean()));
      }
      pass(bench, runs, 500 + 250L * random.nextInt(8));
      check(bench);
    }
    leaders += (int) term;
    bench.refuseNext = null;
    bench.loseNextAnswer = false;
    bench.diesAtWrite = -1;
    if (bench.dead()) {
      bench.activate(List.of());
    }
    runs.forEach(run -> run.beats = true);
    for (int i = 0; i < 80; i++) {
      pass(bench, runs, 1_000);
      runs.forEach(run -> release(bench, run, true));
      check(bench);
    }
    GroupLease lease = bench.log.groupLeases.get(Bench.GROUP);
    assertThat(bench.owners()).isEqualTo(lease.holder().repeat(SHARDS));
    assertThat(runs).anyMatch(run -> run.instance.equals(lease.instance()));
    assertThat(bench.told.get(lease.instance()).lead())
        .isEqualTo(new Assignment.Lead(lease.term(), true, false));
  }

  private void pass(Bench bench, List<Run> runs, long millis) {
    for (long end = bench.now + millis; bench.now < end; ) {
      bench.now += 250;
      if (bench.now % 1_000 == 0) {
        for (Run run : runs) {
          if (run.beats) {
            bench.send(beat(bench, run));
            // After each input: within one tick two members may lead, one after the other.
            check(bench);
          }
        }
      }
      if (!bench.dead()) {
        bench.run(bench.core.tick(bench.now));
      }
      check(bench);
    }
  }

  private static Heartbeat beat(Bench bench, Run run) {
    Heartbeat beat =
        Heartbeats.with(
            bench.beat(run.name, run.instance, run.born), "policy", GroupPolicy.of("singleton"));
    return run.resigned == 0
        ? beat
        : beat.withWishes(Heartbeat.Wishes.NONE.resignedAt(run.resigned));
  }

  /** Releases what it was told to let go of; everything, or the first of it. */
  private void release(Bench bench, Run run, boolean all) {
    Assignment told = bench.told.get(run.instance);
    if (!run.beats || told == null) {
      return;
    }
    for (Assignment.Owned owned : told.shards()) {
      Lease lease = bench.lease(owned.shard().shard());
      if (owned.draining() && lease.ownedAt(owned.epoch())) {
        bench.release(owned.shard().shard());
        check(bench);
        if (!all) {
          return;
        }
      }
    }
  }

  private void check(Bench bench) {
    GroupLease group = bench.log.groupLeases.get(Bench.GROUP);
    if (group == null) {
      return;
    }
    assertThat(group.term()).as("the term").isGreaterThanOrEqualTo(term);
    term = group.term();
    String holder = holders.putIfAbsent(term, group.instance());
    assertThat(holder == null || holder.equals(group.instance())).as("one holder a term").isTrue();
    for (int shard = 0; shard < SHARDS; shard++) {
      Lease lease = bench.lease(shard);
      if (lease != null) {
        assertThat(lease.groupTerm()).isGreaterThanOrEqualTo(terms.getOrDefault(shard, 0L));
        terms.put(shard, lease.groupTerm());
        if (lease.owned()) {
          assertThat(lease.instance()).isEqualTo(holders.get(lease.groupTerm()));
        }
      }
    }
    for (Assignment told : bench.told.values()) {
      Assignment.Lead lead = told.lead();
      if (lead != null && letsGoOfAll(bench, told)) {
        // Or it would let go of each alone, and its career would end without a hand-over.
        assertThat(lead.ending()).as("%s hands over", told).isTrue();
      }
      if (lead != null && lead.whole()) {
        assertThat(holders.get(lead.term())).isEqualTo(told.instance());
        for (int shard = 0; shard < SHARDS; shard++) {
          // Whoever had it at an earlier term is fenced before the leader begins.
          assertThat(bench.lease(shard).groupTerm()).isGreaterThanOrEqualTo(lead.term());
        }
      }
    }
  }

  private static boolean letsGoOfAll(Bench bench, Assignment told) {
    boolean any = false;
    for (Assignment.Owned owned : told.shards()) {
      Lease lease = bench.lease(owned.shard().shard());
      if (!lease.ownedAt(owned.epoch())
          || lease.groupTerm() != told.lead().term()
          || !owned.draining()) {
        return false;
      }
      any = true;
    }
    return any;
  }
}
