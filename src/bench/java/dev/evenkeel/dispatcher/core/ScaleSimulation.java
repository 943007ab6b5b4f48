package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Assignors;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The dispatcher's core in virtual time, with ten shards for each member of one group: what it
 * costs when all members join, in a steady state, when members restart one after another, when the
 * sessions of a third of them end at once, and when another dispatcher takes over. The log is a
 * model in memory; its time is not counted.
 *
 * <p>System properties: {@code scale.shards}, sizes separated by commas.
 */
public final class ScaleSimulation {
  private static final int TOPICS = 50;
  private static final int SHARDS_A_MEMBER = 10;
  private static final int STEADY_SECONDS = 10;
  private static final int RESTARTS = 10;

  private final int shards;
  private final int members;
  private final ModelLog log = new ModelLog();
  private final List<String> topics = new ArrayList<>();
  private final ArrayDeque<DispatcherAction> todo = new ArrayDeque<>();
  private final Map<String, Assignment> told = new HashMap<>();

  /** Runs by the names of their members. */
  private final Map<String, Integer> runs = new HashMap<>();

  private DispatcherCore core = core(1);
  private long now = 1_000_000;
  private long request;
  private long cpuNanos;
  private long in;
  private long out;
  private long steps;

  private ScaleSimulation(int shards) {
    this.shards = shards;
    members = shards / SHARDS_A_MEMBER;
    for (int topic = 1; topic <= TOPICS; topic++) {
      log.topic(topic, "t" + topic, shards / TOPICS);
      topics.add("t" + topic);
    }
  }

  private static DispatcherCore core(long term) {
    Map<String, Assignor> assignors = Assignors.all();
    return new DispatcherCore(
        DispatcherOptions.DEFAULTS, assignors::get, assignors.keySet(), term, 0, Set.of());
  }

  /** Prints a table. */
  public static void main(String[] args) {
    String[] sizes = System.getProperty("scale.shards", "1000,10000,100000").split(",");
    System.out.println(
        "shards   members  phase                 cpu ms  longest ms   in       out      steps");
    for (String warmUp : new String[] {sizes[0], sizes[0]}) {
      new ScaleSimulation(Integer.parseInt(warmUp)).run(false);
    }
    for (String size : sizes) {
      new ScaleSimulation(Integer.parseInt(size)).run(true);
    }
  }

  // ---- The shell

  /** The longest time of one call, in nanoseconds. */
  private long longestNanos;

  private interface Call {
    List<DispatcherAction> make();
  }

  /** Only the core's time counts. */
  private List<DispatcherAction> timed(Call call) {
    long from = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    List<DispatcherAction> wanted = call.make();
    long took = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - from;
    cpuNanos += took;
    longestNanos = Math.max(longestNanos, took);
    return wanted;
  }

  private void run(Call call) {
    in++;
    todo.addAll(timed(call));
    while (!todo.isEmpty()) {
      act(todo.poll());
    }
  }

  private void act(DispatcherAction action) {
    out++;
    if (action instanceof DispatcherAction.Write a) {
      steps++;
      var reply = log.apply(a.command());
      todo.addAll(timed(() -> core.answered(a, reply, now)));
    } else if (action instanceof DispatcherAction.WriteMeta a) {
      var reply = log.apply(a.command(), now);
      todo.addAll(timed(() -> core.answered(a, reply, now)));
    } else if (action instanceof DispatcherAction.PlanShards a) {
      // On another thread of the node.
      var planned = a.plan();
      todo.addAll(timed(() -> core.answered(a, planned, now)));
    } else if (action instanceof DispatcherAction.ReadView a) {
      todo.addAll(timed(() -> core.answered(a, List.copyOf(log.topics), now)));
    } else if (action instanceof DispatcherAction.ReadLeases a) {
      var statuses = log.statuses(a.group());
      todo.addAll(timed(() -> core.answered(a, statuses, now)));
    } else if (action instanceof DispatcherAction.ReadGroups a) {
      var groups = log.groups();
      todo.addAll(timed(() -> core.answered(a, groups, now)));
    } else if (action instanceof DispatcherAction.Answer a) {
      if (!a.assignment().unchanged()) {
        told.put(a.assignment().instance(), a.assignment());
      }
    } else if (action instanceof DispatcherAction.Push a) {
      told.put(a.assignment().instance(), a.assignment());
    }
  }

  private void pushes() {
    while (core.pushesDue()) {
      List<DispatcherAction> pushed = timed(core::pushes);
      pushed.forEach(this::act);
    }
  }

  // ---- The members

  private String instance(String member) {
    return member + "-" + runs.getOrDefault(member, 0);
  }

  private Heartbeat beat(int number) {
    String member = "m" + number;
    Heartbeat beat =
        new Heartbeat(
            "g",
            member,
            instance(member),
            1_000 + runs.getOrDefault(member, 0),
            GroupPolicy.SHARDED,
            topics,
            StartAt.EARLIEST,
            "s-" + instance(member),
            "host",
            5_000,
            50_000);
    Assignment assignment = told.get(beat.instance());
    if (assignment == null) {
      return beat;
    }
    List<ShardProgress> marks = new ArrayList<>();
    for (Assignment.Owned owned : assignment.shards()) {
      marks.add(
          new ShardProgress(owned.shard(), owned.epoch(), 1L, null, null, null, 1L, 100L, 100L));
    }
    return Heartbeats.with(
        beat.withMarks(marks),
        "seen",
        new Heartbeat.Seen(assignment.term(), assignment.revision()));
  }

  private void second(Set<Integer> absent) {
    for (int member = 0; member < members; member++) {
      if (!absent.contains(member)) {
        Heartbeat beat = beat(member);
        run(() -> core.heartbeat(request++, beat, now));
      }
    }
    for (int tick = 0; tick < 4; tick++) {
      now += 250;
      run(() -> core.tick(now));
      run(() -> core.wake(now));
      pushes();
      releaseDraining();
    }
  }

  private void releaseDraining() {
    List<Lease> draining = new ArrayList<>();
    log.leases
        .getOrDefault("g", Map.of())
        .values()
        .forEach(
            lease -> {
              if (lease.drain() != null && lease.owned()) {
                draining.add(lease);
              }
            });
    for (Lease lease : draining) {
      var reply =
          log.apply(new DataCommand.Release("g", lease.shard(), lease.epoch(), 0, -1, null));
      if (reply instanceof Reply.OfLease of) {
        run(() -> core.leaseChanged(LeaseChange.of(of.lease()), now));
      }
    }
  }

  // ---- The phases

  private void phase(boolean prints, String name, Runnable what) {
    cpuNanos = 0;
    longestNanos = 0;
    in = 0;
    out = 0;
    steps = 0;
    what.run();
    if (prints) {
      System.out.printf(
          Locale.ROOT,
          "%-8d %-8d %-20s %8.0f %10.1f %8d %8d %8d%n",
          shards,
          members,
          name,
          cpuNanos / 1e6,
          longestNanos / 1e6,
          in,
          out,
          steps);
    }
  }

  private void run(boolean prints) {
    long before = usedMiB();
    run(() -> core.recover(log.topics, List.of(), log.statuses(null), List.of(), now));
    phase(
        prints,
        "all join",
        () -> {
          second(Set.of());
          settle(Set.of());
        });
    phase(
        prints,
        "steady, a second",
        () -> {
          for (int second = 0; second < STEADY_SECONDS; second++) {
            second(Set.of());
          }
          cpuNanos /= STEADY_SECONDS;
          in /= STEADY_SECONDS;
          out /= STEADY_SECONDS;
          steps /= STEADY_SECONDS;
        });
    phase(
        prints,
        "one restarts",
        () -> {
          for (int restart = 0; restart < RESTARTS; restart++) {
            restart(restart * (members / RESTARTS));
          }
          cpuNanos /= RESTARTS;
          in /= RESTARTS;
          out /= RESTARTS;
          steps /= RESTARTS;
        });
    Set<Integer> zone = new HashSet<>();
    for (int member = 0; member < members; member += 3) {
      zone.add(member);
    }
    phase(
        prints,
        "a third is lost",
        () -> {
          zone.forEach(
              member -> {
                String session = "s-" + instance("m" + member);
                run(() -> core.sessionEnded(session, now));
              });
          settle(zone);
        });
    phase(
        prints,
        "it comes back",
        () -> {
          zone.forEach(member -> runs.merge("m" + member, 1, Integer::sum));
          settle(Set.of());
        });
    phase(
        prints,
        "another dispatcher",
        () -> {
          core = core(2);
          var statuses = log.statuses(null);
          run(() -> core.recover(log.topics, log.groups(), statuses, List.of(), now));
          second(Set.of());
        });
    if (prints) {
      System.out.printf(
          Locale.ROOT,
          "%-8d %-8d heap of core, model and members: %d MiB%n",
          shards,
          members,
          usedMiB() - before);
    }
  }

  private void restart(int number) {
    String member = "m" + number;
    Heartbeat last = Bench.leaving(beat(number).asClosing());
    for (Lease lease : List.copyOf(log.leases.get("g").values())) {
      if (instance(member).equals(lease.instance())) {
        var reply =
            log.apply(new DataCommand.Release("g", lease.shard(), lease.epoch(), 0, -1, null));
        run(() -> core.leaseChanged(LeaseChange.of(((Reply.OfLease) reply).lease()), now));
      }
    }
    run(() -> core.heartbeat(request++, last, now));
    runs.merge(member, 1, Integer::sum);
    second(Set.of());
    settle(Set.of());
  }

  /** Until every shard has an owner, and none is handed over. */
  private void settle(Set<Integer> absent) {
    for (int second = 0; second < 120; second++) {
      second(absent);
      long owned =
          log.leases.get("g").values().stream()
              .filter(lease -> lease.owned() && lease.drain() == null)
              .count();
      if (owned == shards) {
        return;
      }
    }
    Set<String> open = new TreeSet<>();
    log.leases.get("g").values().stream()
        .filter(lease -> !lease.owned())
        .limit(5)
        .forEach(lease -> open.add(lease.toString()));
    throw new AssertionError("not settled: " + open);
  }

  private static long usedMiB() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return (runtime.totalMemory() - runtime.freeMemory()) >> 20;
  }
}
