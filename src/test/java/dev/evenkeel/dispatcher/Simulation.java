package dev.evenkeel.dispatcher;

import dev.evenkeel.assign.AverageAssignor;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.dispatcher.core.Action;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.dispatcher.core.Ghost;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.GroupInfo;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.StartAt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * One run: members and one or two dispatchers exchange messages that may be lost, late or doubled
 * until {@link #FAULTS_END}; members crash, leave and return, dispatchers change, maps are cleared.
 * After that the cluster must settle.
 */
final class Simulation {
  private static final long START = 1_000_000;
  private static final long FAULTS_END = START + 60_000;
  private static final long QUIET_FROM = FAULTS_END + 25_000;
  private static final long SETTLED_BY = FAULTS_END + 30_000;
  private static final String GROUP = "g";
  private static final long LOCK_TIME_MILLIS = 4_000;

  private record Event(long at, long order, Runnable task) {}

  private final Random random;
  private final ModelLog log = new ModelLog();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.at() != b.at() ? Long.compare(a.at(), b.at()) : Long.compare(a.order(), b.order()));
  private final Map<String, Ghost> registry = new HashMap<>();
  private final Map<String, SimMember> members = new TreeMap<>();
  private final List<SimMember> runs = new ArrayList<>();
  private final Map<Shard, Long> lastEpoch = new HashMap<>();
  private final Set<String> clusterMembers = new HashSet<>();
  private final List<SimDispatcher> dispatchers = new ArrayList<>();
  private long now = START;
  private long order;
  private long nextTerm = 1;
  private long nextInstance = 1;
  private long handled;

  /** A lease, or what a member believes, may have changed since the last check. */
  private boolean touched;

  Simulation(long seed) {
    random = new Random(seed);
  }

  long run() {
    log.topic(1, "t", 1 + random.nextInt(12));
    if (random.nextBoolean()) {
      log.topic(2, "u", 1 + random.nextInt(5));
    }
    newDispatcher();
    int count = 1 + random.nextInt(5);
    for (int i = 0; i < count; i++) {
      String name = "m" + i;
      at(random.nextInt(10_000), () -> join(name));
    }
    at(1_000, this::mischief);
    boolean calmed = false;
    while (!events.isEmpty() && events.peek().at() <= SETTLED_BY) {
      Event event = events.poll();
      now = event.at();
      if (!calmed && now >= FAULTS_END) {
        calmed = true;
        calm();
      }
      event.task().run();
      handled++;
      if (touched) {
        touched = false;
        check();
      }
    }
    checkSettled();
    return handled;
  }

  private boolean faulty() {
    return now < FAULTS_END;
  }

  private void at(long inMillis, Runnable task) {
    events.add(new Event(now + inMillis, order++, task));
  }

  /** A message: lost, doubled or late while there are faults. */
  private void send(Runnable arrival) {
    if (faulty() && random.nextInt(100) < 8) {
      return;
    }
    at(latency(), arrival);
    if (faulty() && random.nextInt(100) < 5) {
      at(latency(), arrival);
    }
  }

  private long latency() {
    return faulty() && random.nextInt(100) < 5 ? random.nextInt(4_000) : 1 + random.nextInt(20);
  }

  private void mischief() {
    if (!faulty()) {
      return;
    }
    switch (random.nextInt(9)) {
      case 0 -> registry.clear();
      case 1, 2 -> newDispatcher();
      case 3 -> join("m" + random.nextInt(6));
      case 4, 5 -> pick().ifPresent(SimMember::crash);
      case 6 -> pick().ifPresent(SimMember::leave);
      case 7 -> pick().ifPresent(m -> m.silentUntil = now + random.nextInt(9_000));
      default -> {
        if (dispatchers.size() > 1) {
          dispatchers.remove(0).stopped = true;
        }
      }
    }
    at(200 + random.nextInt(5_000), this::mischief);
  }

  private java.util.Optional<SimMember> pick() {
    List<SimMember> alive = members.values().stream().filter(m -> m.alive).toList();
    return alive.isEmpty()
        ? java.util.Optional.empty()
        : java.util.Optional.of(alive.get(random.nextInt(alive.size())));
  }

  private void calm() {
    runs.stream().filter(run -> members.get(run.name) != run).forEach(SimMember::crash);
    while (dispatchers.size() > 1) {
      dispatchers.remove(0).stopped = true;
    }
    if (members.values().stream().noneMatch(m -> m.alive && !m.leaving)) {
      join("last");
    }
    members.values().forEach(m -> m.silentUntil = 0);
  }

  private void join(String name) {
    SimMember former = members.get(name);
    SimMember member = new SimMember(name);
    if (former != null && former.alive && random.nextBoolean()) {
      // The former run goes on beside the later one, until it is told.
      at(0, former::beat);
    } else if (former != null) {
      former.crash();
    }
    members.put(name, member);
    runs.add(member);
    clusterMembers.add(member.clusterMember);
    tellClusterMembers();
    at(0, member::beat);
  }

  private void tellClusterMembers() {
    for (SimDispatcher dispatcher : dispatchers) {
      at(
          random.nextInt(50),
          () ->
              dispatcher.run(
                  () -> dispatcher.core.clusterMembers(Set.copyOf(clusterMembers), now)));
    }
  }

  private void newDispatcher() {
    // An old one does not notice for a while.
    if (dispatchers.size() > 1) {
      dispatchers.remove(0).stopped = true;
    }
    if (!dispatchers.isEmpty() && random.nextInt(3) == 0) {
      dispatchers.remove(0).stopped = true;
    }
    dispatchers.add(new SimDispatcher());
  }

  // ---- Checks

  private void check() {
    for (Lease lease : log.leases.getOrDefault(GROUP, Map.of()).values()) {
      long last = lastEpoch.getOrDefault(lease.shard(), 0L);
      if (lease.epoch() < last) {
        throw new AssertionError("epoch of " + lease + " fell from " + last);
      }
      if (lease.epoch() > last && now >= QUIET_FROM) {
        throw new AssertionError("moves though nothing happens: " + lease + "\n" + picture());
      }
      lastEpoch.put(lease.shard(), lease.epoch());
    }
    for (SimMember run : runs) {
      run.owned.forEach((shard, epoch) -> checkBelief(run, shard, epoch));
    }
  }

  /** Whoever believes to own a shard at the epoch of now is its owner: all others are fenced. */
  private void checkBelief(SimMember run, Shard shard, long epoch) {
    Lease lease = log.lease(GROUP, shard);
    if (epoch > lease.epoch()) {
      throw new AssertionError(run.name + " was told an epoch that never was: " + lease);
    }
    if (lease.heldAt(epoch) && !run.instance.equals(lease.instance())) {
      throw new AssertionError(run.name + " could commit what belongs to another: " + lease);
    }
  }

  private void checkSettled() {
    Set<String> alive = new HashSet<>();
    Map<Integer, Map<String, Integer>> counts = new HashMap<>();
    members.values().stream().filter(m -> m.alive).forEach(m -> alive.add(m.name));
    for (ShardStatus status : log.statuses(GROUP)) {
      Lease lease = status.leases().isEmpty() ? null : status.leases().get(0);
      SimMember owner = lease == null || !lease.owned() ? null : members.get(lease.owner());
      if (owner == null || !owner.alive || !owner.instance.equals(lease.instance())) {
        throw new AssertionError(
            status.shard() + " has no live owner: " + lease + "\n" + picture());
      }
      if (lease.drain() != null) {
        throw new AssertionError("still drains: " + lease);
      }
      if (!Long.valueOf(lease.epoch()).equals(owner.owned.get(lease.shard()))) {
        throw new AssertionError("the owner does not know of " + lease + ": " + owner.owned);
      }
      counts
          .computeIfAbsent(status.shard().topicId(), id -> new HashMap<>())
          .merge(owner.name, 1, Integer::sum);
    }
    counts.forEach(
        (topic, byName) -> {
          int max = byName.values().stream().mapToInt(i -> i).max().orElse(0);
          int min = alive.stream().mapToInt(name -> byName.getOrDefault(name, 0)).min().orElse(0);
          if (max - min > 1) {
            throw new AssertionError(
                "uneven topic " + topic + ": " + byName + " of " + alive + "\n" + picture());
          }
        });
    for (SimMember member : members.values()) {
      if (member.alive) {
        member.owned.forEach(
            (shard, epoch) -> {
              Lease lease = log.lease(GROUP, shard);
              if (!member.instance.equals(lease.instance()) || lease.epoch() != epoch) {
                throw new AssertionError(member.name + " believes to own " + lease);
              }
            });
      }
    }
  }

  /** What the dispatcher and the members believe, for a failing run. */
  private String picture() {
    StringBuilder out = new StringBuilder();
    for (SimDispatcher dispatcher : dispatchers) {
      var group = dispatcher.core.find(GROUP);
      out.append("term ").append(dispatcher.core.term());
      out.append("\n live ").append(group.members().live());
      out.append("\n ghosts ").append(group.members().ghosts());
      out.append("\n book ").append(group.book().all());
    }
    members.forEach(
        (name, m) ->
            out.append("\n ")
                .append(name + " " + m.instance + (m.alive ? " alive " : " dead ") + m.owned));
    return out.toString();
  }

  // ---- A member

  private final class SimMember {
    final String name;
    final String instance = "i" + nextInstance++;
    final String clusterMember = "c" + instance;
    final long born = now;
    final Map<Shard, Long> owned = new TreeMap<>();
    final Set<Shard> releasing = new HashSet<>();
    boolean alive = true;
    boolean leaving;
    long term;
    long revision;
    long silentUntil;

    SimMember(String name) {
      this.name = name;
    }

    void beat() {
      if (!alive) {
        return;
      }
      if (now >= silentUntil) {
        Heartbeat beat = heartbeat(false);
        for (SimDispatcher dispatcher : List.copyOf(dispatchers)) {
          // With two dispatchers, it asks now one, now the other.
          if (dispatchers.size() == 1 || random.nextInt(3) > 0) {
            send(() -> dispatcher.heartbeat(this, beat));
            break;
          }
        }
        if (dispatchers.size() > 1) {
          SimDispatcher newest = dispatchers.get(dispatchers.size() - 1);
          send(() -> newest.heartbeat(this, beat));
        }
      }
      at(1_000, this::beat);
    }

    Heartbeat heartbeat(boolean goodbye) {
      List<String> names = new ArrayList<>();
      log.topics.forEach(topic -> names.add(topic.name()));
      return new Heartbeat(
          GROUP,
          name,
          instance,
          born,
          goodbye,
          leaving,
          "sharded",
          names,
          StartAt.EARLIEST,
          clusterMember,
          "host",
          0,
          5_000,
          LOCK_TIME_MILLIS);
    }

    void told(Assignment assignment) {
      if (!alive || !assignment.laterThan(term, revision)) {
        return;
      }
      term = assignment.term();
      revision = assignment.revision();
      touched = true;
      owned.clear();
      for (Assignment.Owned each : assignment.shards()) {
        owned.put(each.shard(), each.epoch());
        if (each.draining() && releasing.add(each.shard())) {
          // One in five never finishes its handlers: the cap must do.
          if (random.nextInt(5) > 0) {
            at(random.nextInt(3_000), () -> release(each.shard(), each.epoch()));
          } else {
            at(LOCK_TIME_MILLIS * 2, () -> releasing.remove(each.shard()));
          }
        }
      }
    }

    void release(Shard shard, long epoch) {
      releasing.remove(shard);
      if (alive) {
        send(() -> submit(new DataCommand.Release(GROUP, shard, epoch, 0, -1, null), reply -> {}));
      }
    }

    void leave() {
      if (leaving) {
        return;
      }
      leaving = true;
      Heartbeat closing = heartbeat(false);
      dispatchers.forEach(d -> send(() -> d.heartbeat(this, closing)));
      owned.forEach((shard, epoch) -> at(random.nextInt(2_500), () -> release(shard, epoch)));
      at(
          3_000,
          () -> {
            Heartbeat goodbye = heartbeat(true);
            dispatchers.forEach(d -> send(() -> d.heartbeat(this, goodbye)));
            crash();
          });
    }

    void refused(Refusal refusal) {
      if (refusal == Refusal.MEMBER_REPLACED) {
        if (alive && members.get(name) == this && !faulty()) {
          throw new AssertionError(name + " was replaced by nobody");
        }
        alive = false;
      } else if (refusal != Refusal.UNAVAILABLE && refusal != Refusal.OVERLOADED) {
        if (!leaving) {
          throw new AssertionError(name + " was refused: " + refusal);
        }
      }
    }

    void crash() {
      alive = false;
      if (clusterMembers.remove(clusterMember) && random.nextBoolean()) {
        tellClusterMembers();
      }
    }
  }

  /** A request to the log: its entry may be lost, late or doubled, and so may its answer. */
  private void submit(DataCommand command, java.util.function.Consumer<Reply> answer) {
    touched = true;
    Reply reply = log.apply(command);
    if (reply instanceof Reply.OfLease of) {
      LeaseChange change = LeaseChange.of(of.lease());
      for (SimDispatcher dispatcher : List.copyOf(dispatchers)) {
        send(() -> dispatcher.run(() -> dispatcher.core.leaseChanged(change, now)));
      }
    }
    answer.accept(reply);
  }

  // ---- A dispatcher

  private final class SimDispatcher {
    final DispatcherCore core;
    final Map<Long, SimMember> requests = new HashMap<>();

    /** Requests that told of a closing, and runs whose closing was answered: they get no more. */
    final Set<Long> closings = new HashSet<>();

    final Set<String> closingRuns = new HashSet<>();
    boolean stopped;
    long nextRequest;

    SimDispatcher() {
      core =
          new DispatcherCore(
              DispatcherSettings.DEFAULT,
              new AverageAssignor(),
              nextTerm++,
              0,
              Set.copyOf(clusterMembers));
      List<Ghost> ghosts = new ArrayList<>();
      registry
          .values()
          .forEach(
              g ->
                  ghosts.add(
                      new Ghost(
                          g.group(),
                          g.name(),
                          g.instance(),
                          g.bornMillis(),
                          g.topics(),
                          g.clusterMember(),
                          g.host(),
                          now + 5_000)));
      core.recall(List.copyOf(log.moves.values()));
      run(() -> core.recover(log.topics, log.groups(), log.statuses(null), ghosts, now));
      at(250, this::tick);
    }

    void tick() {
      if (!stopped) {
        run(() -> core.tick(now));
        at(250, this::tick);
      }
    }

    void heartbeat(SimMember from, Heartbeat beat) {
      if (!stopped) {
        long request = nextRequest++;
        requests.put(request, from);
        if (beat.closing()) {
          closings.add(request);
        }
        run(() -> core.heartbeat(request, beat, now));
      }
    }

    void run(java.util.function.Supplier<List<Action>> input) {
      if (stopped) {
        return;
      }
      input.get().forEach(this::act);
      core.pushes().forEach(this::act);
    }

    private void act(Action action) {
      if (action instanceof Action.Answer a) {
        SimMember to = requests.remove(a.request());
        if (closings.contains(a.request())) {
          closingRuns.add(to.instance);
        }
        send(() -> to.told(a.assignment()));
      } else if (action instanceof Action.Refuse a) {
        SimMember to = requests.remove(a.request());
        send(() -> to.refused(a.refusal()));
      } else if (action instanceof Action.Push a) {
        SimMember to = members.get(a.assignment().member());
        if (to != null && to.instance.equals(a.assignment().instance())) {
          send(() -> to.told(a.assignment()));
        }
      } else if (action instanceof Action.Write a) {
        if (a.command() instanceof DataCommand.Grant grant
            && closingRuns.contains(grant.instance())) {
          throw new AssertionError("granted to one that closes: " + grant + "\n" + picture());
        }
        write(a);
      } else if (action instanceof Action.WriteMeta a) {
        boolean lost = faulty() && random.nextInt(100) < 10;
        at(
            latency(),
            () -> {
              Reply reply =
                  lost
                      ? Reply.refused(Refusal.INDETERMINATE, "no answer")
                      : log.apply(a.command(), now);
              at(latency(), () -> run(() -> core.metaWritten(a.id(), reply, now)));
            });
      } else if (action instanceof Action.ReadLeases a) {
        boolean lost = faulty() && random.nextInt(100) < 10;
        at(
            latency(),
            () -> {
              List<ShardStatus> read = lost ? null : log.statuses(a.group());
              at(latency(), () -> run(() -> core.leasesRead(a.id(), read, now)));
            });
      } else if (action instanceof Action.ReadView a) {
        at(latency(), () -> run(() -> core.viewRead(a.id(), log.topics, now)));
      } else if (action instanceof Action.ReadGroups a) {
        at(
            latency(),
            () -> {
              List<GroupInfo> read = log.groups();
              at(latency(), () -> run(() -> core.groupsRead(a.id(), read, now)));
            });
      } else if (action instanceof Action.Register a) {
        registry.put(a.member().name(), ghost(a.member()));
      } else if (action instanceof Action.Unregister a) {
        registry.remove(a.member());
      } else if (action instanceof Action.ForgetLeases) {
        throw new AssertionError("a group with members is forgotten");
      }
    }

    private Ghost ghost(Member member) {
      Heartbeat beat = member.beat();
      return new Ghost(
          beat.group(),
          beat.member(),
          beat.instance(),
          beat.bornMillis(),
          beat.topics(),
          beat.clusterMember(),
          beat.host(),
          0);
    }

    private void write(Action.Write a) {
      int luck = faulty() ? random.nextInt(100) : 99;
      if (luck < 5) {
        // Never reaches the log, and nobody knows.
        Reply unknown = Reply.refused(Refusal.INDETERMINATE, "no answer");
        at(3_000, () -> run(() -> core.written(a.id(), unknown, now)));
      } else if (luck < 12) {
        // Reaches the log, perhaps after the dispatcher gave up, and the answer is lost.
        Reply unknown = Reply.refused(Refusal.INDETERMINATE, "no answer");
        at(random.nextInt(6_000), () -> submit(a.command(), reply -> {}));
        at(3_000, () -> run(() -> core.written(a.id(), unknown, now)));
      } else if (luck < 15) {
        Reply no = Reply.refused(Refusal.NOT_LEADER, "");
        at(latency(), () -> run(() -> core.written(a.id(), no, now)));
      } else {
        boolean doubled = luck < 20;
        at(
            latency(),
            () ->
                submit(
                    a.command(),
                    reply -> at(latency(), () -> run(() -> core.written(a.id(), reply, now)))));
        if (doubled) {
          at(
              latency(),
              () ->
                  submit(
                      a.command(),
                      reply -> at(latency(), () -> run(() -> core.written(a.id(), reply, now)))));
        }
      }
    }
  }
}
