package dev.evenkeel.broker.member;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.member.PlacementSteps.Step;
import dev.evenkeel.bus.MemberQuestions;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterNode.State;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.VoterId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Nodes come, go, crash and are cut off while those that lead meta carry out {@link PlacementSteps}
 * in virtual time: two at once, by what they saw a while ago, and with steps that are lost, come
 * late or twice. No log group has fewer copies than it had, none loses the copy of a voter, and in
 * the end everything is where it should be.
 *
 * <p>{@code -Devenkeel.sim.placements=10000} runs more seeds, {@code -Devenkeel.sim.placement=7}
 * one.
 */
class PlacementSimulationTest {
  private static final int SEEDS = Integer.getInteger("evenkeel.sim.placements", 200);
  private static final String CLUSTER = "c";
  private static final long TROUBLE_MILLIS = 120_000;
  private static final long CALM_MILLIS = 600_000;

  /** A decision may take effect this long after the state that it was based on. */
  private static final long STALE_MILLIS = 35_000;

  /** What is broken on purpose. */
  private enum Bug {
    NONE(0),
    /** A voter goes before the one that takes its place has come. */
    REMOVES_BEFORE_IT_ADDS(0),
    /** A copy is deleted without asking the leader whether it is that of a voter. */
    DROPS_WITHOUT_ASKING(1_100),
    /** A node that is to leave is forgotten at once. */
    FORGETS_A_VOTER(0),
    /** A voter is removed whatever the voters are now. */
    ANY_VOTERS_WILL_DO(2_100),
    /** Whoever believes to lead meta founds a log group, though another one has. */
    FOUNDS_TWICE(0),
    /** An added log group gets shards before it has a leader. */
    OPENS_TOO_EARLY(0);

    /** The first seed that finds it, or one before that. */
    final long from;

    Bug(long from) {
      this.from = from;
    }
  }

  private static final class Failure extends AssertionError {
    private static final long serialVersionUID = 1L;

    Failure(String message) {
      super(message);
    }
  }

  private record Event(long at, long number, Runnable run) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(at, other.at);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  /** A log group as it really is. */
  private static final class Log {
    final String name;
    final long bytes;
    final Set<String> voters = new TreeSet<>();

    /** Those that follow it without a vote; of meta only. */
    final Set<String> listeners = new TreeSet<>();

    /** Nodes with a whole copy. */
    final Set<String> copies = new TreeSet<>();

    /** Which founding each node's copy descends from. */
    final Map<String, Integer> lineage = new HashMap<>();

    /** Voters that have not heard yet that the log group was added. */
    final Set<String> unaware = new TreeSet<>();

    /** The node that is being brought up to date before it gets its vote, or null. */
    String coming;

    Log(String name, long bytes) {
      this.name = name;
      this.bytes = bytes;
    }
  }

  private static final class World {
    final Random random;
    final Bug bug;
    final PriorityQueue<Event> events = new PriorityQueue<>();
    final Map<String, ClusterNode> nodes = new TreeMap<>();
    final Map<String, List<String>> placement = new TreeMap<>();
    final Map<String, Log> logs = new TreeMap<>();
    final List<AddedLogGroup> added = new ArrayList<>();
    final int formedGroups;
    final Set<String> alive = new TreeSet<>();
    final Set<String> formed = new TreeSet<>();

    /** Nodes that were taken out of the cluster. */
    final Set<String> gone = new TreeSet<>();

    /** How many nodes kept data, by time. */
    final TreeMap<Long, Integer> members = new TreeMap<>();

    long now;
    long number;
    int names;
    int leading;
    boolean calm;

    World(long seed, Bug bug) {
      random = new Random(seed);
      this.bug = bug;
      int first = 1 + random.nextInt(4);
      for (int i = 0; i < first; i++) {
        String id = name();
        nodes.put(id, node(id, State.MEMBER));
        alive.add(id);
        formed.add(id);
      }
      logs.put(LogNode.META, new Log(LogNode.META, 1));
      formedGroups = 1 + random.nextInt(6);
      for (int i = 0; i < formedGroups; i++) {
        logs.put("d" + i, new Log("d" + i, random.nextInt(2_000) * 1_000_000L));
      }
      for (Log log : logs.values()) {
        log.voters.addAll(nodes.keySet());
        log.copies.addAll(nodes.keySet());
      }
    }

    private String name() {
      return "n" + ++names;
    }

    private ClusterNode node(String id, State state) {
      return new ClusterNode(id, "host", 5_701, "z" + id.hashCode() % 3, state);
    }

    void after(long millis, Runnable run) {
      events.add(new Event(now + millis, number++, run));
    }

    void runUntil(long end) {
      while (!events.isEmpty() && events.peek().at() <= end) {
        Event event = events.poll();
        now = event.at();
        event.run().run();
        fewestMembersLately();
        check();
      }
      now = end;
    }

    // ---- What must hold

    private void check() {
      for (Log log : logs.values()) {
        for (String voter : log.voters) {
          if (!log.copies.contains(voter)) {
            throw new Failure(log.name + " has a voter without a copy: " + voter);
          }
        }
        if (log.voters.stream().map(log.lineage::get).distinct().count() > 1) {
          throw new Failure(log.name + " was founded twice: " + log.lineage);
        }
      }
    }

    /**
     * What was decided a while ago was decided for the nodes of then. So many copies there are, at
     * least.
     */
    private int fewestMembersLately() {
      int count = (int) nodes.values().stream().filter(n -> n.state() == State.MEMBER).count();
      members.merge(now, count, Math::min);
      members.headMap(now - STALE_MILLIS).clear();
      return Math.max(1, members.values().stream().mapToInt(each -> each).min().getAsInt());
    }

    /** What still is not as it should be; null: all is well. */
    String open() {
      for (ClusterNode node : nodes.values()) {
        if (node.state() == State.LEAVING) {
          return node + " has not left";
        }
      }
      long members = nodes.values().stream().filter(n -> n.state() == State.MEMBER).count();
      if (logs.size() - 1 < members || !added.stream().allMatch(AddedLogGroup::open)) {
        return members + " nodes have " + (logs.size() - 1) + " log groups, added: " + added;
      }
      for (Log log : logs.values()) {
        boolean meta = log.name.equals(LogNode.META);
        Set<String> copies = new TreeSet<>(log.copies);
        copies.removeAll(gone);
        Set<String> those = new TreeSet<>(log.voters);
        those.addAll(log.listeners);
        long wanted = Math.min(meta && nodes.size() >= 5 ? 5 : PlacementSteps.VOTERS_MAX, members);
        boolean enough = meta ? log.voters.size() >= wanted : log.voters.size() == wanted;
        if (!enough || !copies.equals(those) || meta && !those.equals(nodes.keySet())) {
          return log.name + " has voters " + log.voters + ", copies " + log.copies;
        }
        for (String voter : log.voters) {
          if (!meta && nodes.get(voter).state() != State.MEMBER) {
            return log.name + " has a voter that gives its copies away: " + voter;
          }
        }
      }
      return null;
    }

    // ---- Those that lead meta

    private boolean leads(Log log) {
      return log.voters.stream().filter(voter -> serves(log, voter)).count() * 2
          > log.voters.size();
    }

    private boolean serves(Log log, String voter) {
      return alive.contains(voter) && !log.unaware.contains(voter);
    }

    /** Nodes that are to have a copy take the leadership from others. */
    private String leader(Log log) {
      List<String> placed = placement.getOrDefault(log.name, List.of());
      return leads(log)
          ? log.voters.stream()
              .filter(voter -> serves(log, voter))
              .min(
                  Comparator.comparing(
                      id ->
                          !nodes.containsKey(id)
                              || nodes.get(id).state() != State.MEMBER
                              || !placed.contains(id)))
              .get()
          : null;
    }

    private PlacementSteps.Sight sight() {
      List<PlacementSteps.Group> groups = new ArrayList<>();
      for (Log log : logs.values()) {
        Set<String> voters = new TreeSet<>();
        log.voters.forEach(voter -> voters.add(VoterId.of(voter, "i")));
        boolean early = bug == Bug.OPENS_TOO_EARLY && !log.unaware.isEmpty();
        groups.add(
            new PlacementSteps.Group(
                log.name,
                voters,
                log.listeners.stream().map(id -> VoterId.of(id, "i")).collect(Collectors.toSet()),
                early ? log.voters.iterator().next() : leader(log),
                log.bytes));
      }
      Map<String, Peer> cards = new TreeMap<>();
      for (String id : alive) {
        if (nodes.containsKey(id)) {
          cards.put(id, card(id));
        }
      }
      return new PlacementSteps.Sight(
          List.copyOf(nodes.values()),
          new TreeMap<>(placement),
          groups,
          cards,
          CLUSTER,
          formedGroups,
          List.copyOf(added));
    }

    private Peer card(String id) {
      boolean in = formed.contains(id);
      NodeInfo info =
          new NodeInfo(
              id,
              "i",
              in ? NodeInfo.Stage.FORMED : NodeInfo.Stage.WAITING,
              in ? CLUSTER : null,
              List.of(),
              List.of(),
              logs.size() - 1);
      Set<String> holds = new HashSet<>();
      logs.values().stream()
          .filter(log -> log.copies.contains(id) && !log.unaware.contains(id))
          .forEach(log -> holds.add(log.name));
      Map<String, Long> copying = new TreeMap<>();
      logs.values().stream()
          .filter(log -> id.equals(log.coming))
          .forEach(log -> copying.put(log.name, 1L));
      ClusterNode node = nodes.get(id);
      return new Peer(
          info,
          true,
          true,
          Set.of(),
          new MemberQuestions.Place(node.host(), node.port(), node.zone()),
          1,
          copying,
          holds,
          Map.of());
    }

    /** One that leads meta looks, decides by what it sees, and its steps arrive later. */
    void drive(int driver, long pauseMillis) {
      PlacementSteps.Sight seen = sight();
      after(
          calm ? 1 : random.nextInt(4_000),
          () -> PlacementSteps.next(seen).steps().forEach(step -> send(driver, step)));
      after(pauseMillis, () -> drive(driver, pauseMillis));
    }

    private void send(int driver, Step step) {
      int times = calm ? 1 : random.nextInt(10) == 0 ? 0 : random.nextInt(10) == 0 ? 2 : 1;
      times(times, i -> after(calm ? 1 : random.nextInt(6_000), () -> take(driver, step)));
    }

    private static boolean isOfMeta(Step step) {
      return step instanceof Step.Put
          || step instanceof Step.Place
          || step instanceof Step.Forget
          || step instanceof Step.AddLogGroup
          || step instanceof Step.OpenLogGroup;
    }

    private void take(int driver, Step step) {
      // Only the present leader of meta writes into it; leaders of other log groups do not know it.
      boolean usurps = bug == Bug.FOUNDS_TWICE && step instanceof Step.AddLogGroup;
      if (!leads(logs.get(LogNode.META)) || isOfMeta(step) && driver != leading && !usurps) {
        return;
      }
      if (step instanceof Step.Put put) {
        if (nodes.containsKey(put.node().id())) {
          // The meta log keeps what a node is to be.
          nodes.put(put.node().id(), put.node().with(nodes.get(put.node().id()).state()));
        }
      } else if (step instanceof Step.Invite invite) {
        if (alive.contains(invite.node())) {
          formed.add(invite.node());
        }
      } else if (step instanceof Step.Place place) {
        placement.put(place.group(), place.nodes());
      } else if (step instanceof Step.AddVoter add) {
        addVoter(logs.get(add.group()), VoterId.node(add.voter()));
      } else if (step instanceof Step.AddListener add) {
        addListener(logs.get(LogNode.META), VoterId.node(add.listener()));
      } else if (step instanceof Step.RemoveVoter remove) {
        removeVoter(logs.get(remove.group()), remove.node(), remove.seen());
      } else if (step instanceof Step.DropCopy drop) {
        Log log = logs.get(drop.group());
        boolean vote = log.voters.contains(drop.node()) || drop.node().equals(log.coming);
        if (bug == Bug.DROPS_WITHOUT_ASKING || leads(log) && !vote && has(log, drop.seen())) {
          log.copies.remove(drop.node());
        }
      } else if (step instanceof Step.AddLogGroup add) {
        addGroup(add);
      } else if (step instanceof Step.OpenLogGroup open) {
        openGroup(open.index());
      } else if (step instanceof Step.Forget forget) {
        boolean confirmed =
            logs.values().stream()
                .allMatch(
                    log ->
                        !forget.seen().containsKey(log.name)
                            ? !log.unaware.contains(forget.node())
                            : leads(log)
                                && log.coming == null
                                && has(log, forget.seen().get(log.name)));
        if (confirmed) {
          forget(forget.node());
        }
      }
    }

    /** As meta decides about it: one that is there stays as it is. */
    private void addGroup(Step.AddLogGroup add) {
      int next = formedGroups + added.size();
      if (add.index() == next) {
        added.add(new AddedLogGroup(next, add.founders(), false));
        placement.put(
            ShardGroups.name(next), add.founders().stream().map(VoterId::node).sorted().toList());
        logs.put("d" + next, new Log("d" + next, random.nextInt(500) * 1_000_000L));
      } else if (bug != Bug.FOUNDS_TWICE || add.index() > next) {
        return;
      }
      Log log = logs.get("d" + add.index());
      int founding = log.lineage.values().stream().mapToInt(each -> each + 1).max().orElse(0);
      for (String founder : add.founders()) {
        String id = VoterId.node(founder);
        if (log.voters.add(id)) {
          log.copies.add(id);
          log.lineage.put(id, founding);
          log.unaware.add(id);
          after(1 + random.nextInt(calm ? 100 : 10_000), () -> hearsOf(log, id));
        }
      }
    }

    /** A node opens an added log group once it serves. */
    private void hearsOf(Log log, String id) {
      if (alive.contains(id)) {
        log.unaware.remove(id);
      } else if (!gone.contains(id)) {
        after(1_000, () -> hearsOf(log, id));
      }
    }

    private void openGroup(int index) {
      AddedLogGroup group = added.get(index - formedGroups);
      Log log = logs.get("d" + index);
      if (!group.open() && log.unaware.size() * 2 > log.voters.size()) {
        throw new Failure(log.name + " gets shards, and cannot have a leader yet");
      }
      added.set(index - formedGroups, group.opened());
    }

    private void addListener(Log log, String node) {
      boolean may =
          leads(log)
              && log.coming == null
              && nodes.containsKey(node)
              && nodes.get(node).state() != State.LEAVING
              && formed.contains(node);
      if (may && !log.voters.contains(node)) {
        log.listeners.add(node);
        log.copies.add(node);
      }
    }

    private void addVoter(Log log, String node) {
      if (bug == Bug.REMOVES_BEFORE_IT_ADDS && log.voters.size() == PlacementSteps.VOTERS_MAX) {
        remove(log, log.voters.iterator().next());
      }
      boolean may =
          leads(log)
              && log.coming == null
              && nodes.containsKey(node)
              && nodes.get(node).state() != State.LEAVING
              && formed.contains(node)
              && alive.contains(node);
      if (may && !log.voters.contains(node)) {
        log.coming = node;
        after(1 + random.nextInt(calm ? 100 : 20_000), () -> caughtUp(log, node));
      }
    }

    /** The engine gives up a change if its leader or the new voter goes meanwhile. */
    private void caughtUp(Log log, String node) {
      log.coming = null;
      if (leads(log) && alive.contains(node) && nodes.containsKey(node)) {
        log.copies.add(node);
        log.lineage.put(node, log.lineage.get(log.voters.iterator().next()));
        log.voters.add(node);
        log.listeners.remove(node);
      }
    }

    /** Its process ends. Should it have got a vote just now, that is taken from it later. */
    private void forget(String id) {
      nodes.remove(id);
      alive.remove(id);
      gone.add(id);
      logs.values().forEach(log -> log.listeners.remove(id));
    }

    private boolean has(Log log, Set<String> seen) {
      Set<String> names = new TreeSet<>();
      seen.forEach(voter -> names.add(VoterId.node(voter)));
      return bug == Bug.ANY_VOTERS_WILL_DO || log.voters.equals(names);
    }

    private void removeVoter(Log log, String node, Set<String> seen) {
      if (log.voters.contains(node) && leads(log) && log.coming == null && has(log, seen)) {
        if (node.equals(leader(log)) && log.voters.size() > 1) {
          return;
        }
        remove(log, node);
      }
    }

    private void remove(Log log, String node) {
      log.voters.remove(node);
      int least = log.name.equals(LogNode.META) ? 1 : fewestMembersLately();
      if (log.voters.size() < Math.min(PlacementSteps.VOTERS_MAX, least)) {
        throw new Failure(log.name + " has too few copies without " + node + ": " + log.voters);
      }
    }

    private void leadAnother() {
      leading = 1 - leading;
      after(random.nextInt(30_000), this::leadAnother);
    }

    // ---- Operators and faults

    void mischief() {
      if (calm) {
        return;
      }
      List<String> ids = List.copyOf(nodes.keySet());
      String id = ids.get(random.nextInt(ids.size()));
      switch (random.nextInt(7)) {
        case 0 -> {
          if (nodes.size() < 8) {
            String fresh = name();
            nodes.put(fresh, node(fresh, State.MEMBER));
            alive.add(fresh);
          }
        }
        case 1 -> order(id, State.DRAINING);
        case 2 -> order(id, State.LEAVING);
        case 3 -> order(id, State.MEMBER);
        case 4 -> {
          if (alive.size() > 1) {
            alive.remove(id);
            after(random.nextInt(20_000), () -> start(id));
          }
        }
        default -> {
          // A quiet time.
        }
      }
      after(random.nextInt(8_000), this::mischief);
    }

    private void start(String id) {
      if (!gone.contains(id)) {
        alive.add(id);
      }
    }

    private void order(String id, State state) {
      ClusterNode node = nodes.get(id);
      boolean others =
          nodes.values().stream()
              .anyMatch(each -> each.state() == State.MEMBER && !each.id().equals(id));
      if (node.state() == State.LEAVING || state != State.MEMBER && !others) {
        return;
      }
      nodes.put(id, node.with(state));
      if (bug == Bug.FORGETS_A_VOTER && state == State.LEAVING) {
        forget(id);
      }
    }

    void run() {
      // Two that lead meta in turn; who does not lead any more does not always know it.
      after(0, () -> drive(0, 1_000));
      after(500, () -> drive(1, 1_700));
      after(10_000, this::leadAnother);
      after(1_000, this::mischief);
      runUntil(TROUBLE_MILLIS);
      calm = true;
      runUntil(TROUBLE_MILLIS + 30_000);
      long end = now + CALM_MILLIS;
      while (open() != null) {
        if (now >= end) {
          throw new Failure("not settled: " + open() + "; next: " + PlacementSteps.next(sight()));
        }
        runUntil(now + 5_000);
      }
    }
  }

  private static void run(long seed, Bug bug) {
    try {
      new World(seed, bug).run();
    } catch (Failure | RuntimeException e) {
      throw new AssertionError("-Devenkeel.sim.placement=" + seed + ": " + e, e);
    }
  }

  @Test
  void nothingIsLostAndEverythingFindsItsPlace() {
    Long one = Long.getLong("evenkeel.sim.placement");
    if (one != null) {
      run(one, Bug.NONE);
      return;
    }
    for (long seed = 0; seed < SEEDS; seed++) {
      run(seed, Bug.NONE);
    }
  }

  @Test
  void plantedBugsAreFound() {
    Map<Bug, String> found = new HashMap<>();
    for (Bug bug : Bug.values()) {
      for (long seed = bug.from;
          bug != Bug.NONE && seed < bug.from + 1_000 && !found.containsKey(bug);
          seed++) {
        try {
          run(seed, bug);
        } catch (AssertionError e) {
          found.put(bug, e.getMessage());
        }
      }
    }
    found.forEach((bug, message) -> System.err.println(bug + " is found by " + message));
    assertThat(found.keySet())
        .containsExactlyInAnyOrder(
            Bug.REMOVES_BEFORE_IT_ADDS,
            Bug.DROPS_WITHOUT_ASKING,
            Bug.FORGETS_A_VOTER,
            Bug.ANY_VOTERS_WILL_DO,
            Bug.FOUNDS_TWICE,
            Bug.OPENS_TOO_EARLY);
  }
}
