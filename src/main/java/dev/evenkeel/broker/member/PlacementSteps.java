package dev.evenkeel.broker.member;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterNode.State;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.VoterId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Decides what the leader of meta does next so that the log groups are where they should be. A pure
 * function of what is recorded and of what the nodes say; each step may be repeated, so whoever
 * leads meta next goes on from there.
 *
 * <pre>
 * a recorded node waits, empty          → invite it: it opens its logs without a vote
 * a log group lacks a recorded voter    → add it: its leader brings it up to date first
 * it has all, and others besides        → remove one that does not lead it
 * a node has no vote in meta            → have it follow meta without one
 * a node has a copy and no vote         → delete the copy
 * nothing to add or remove              → plan, and record a plan that differs
 * fewer data log groups than nodes      → add one, whose first voters are planned like the others
 * an added log group has a leader       → it may get shards
 * a leaving node has no vote left       → take it out of the cluster
 * </pre>
 *
 * <p>A log group changes one voter at a time, and gets the new voter before it loses the old one,
 * so that it never has fewer copies than before. A node gets one copy at a time.
 */
final class PlacementSteps {
  /** Voters of a data log group: one may fail. */
  static final int VOTERS_MAX = 3;

  /** Voters of meta in a small cluster, and from {@link #LARGE} nodes on. */
  private static final int META_VOTERS = 3;

  private static final int META_VOTERS_LARGE = 5;
  private static final int LARGE = 5;

  /** Most copies that are made at a time. */
  static final int COPIES_MAX = 2;

  /** What to do. */
  sealed interface Step {
    /** Record a node. */
    record Put(ClusterNode node) implements Step {}

    /** Invite an empty node. */
    record Invite(String node, String incarnation) implements Step {}

    /** Record where a log group is to be. */
    record Place(String group, List<String> nodes) implements Step {}

    record AddVoter(String group, String voter) implements Step {}

    /** Have a node follow meta without a vote. */
    record AddListener(String listener) implements Step {}

    /**
     * @param seen the voters for which this was decided: with others it must not be done, because
     *     whoever decided it may have led meta before another node
     */
    record RemoveVoter(String group, String node, Set<String> seen) implements Step {}

    /**
     * Delete the copy of a node that has no vote.
     *
     * @param seen as in {@link RemoveVoter}
     */
    record DropCopy(String group, String node, Set<String> seen) implements Step {}

    /** Record another data log group. */
    record AddLogGroup(int index, List<String> founders) implements Step {}

    /** Record that an added data log group works. */
    record OpenLogGroup(int index) implements Step {}

    /**
     * Take a node out of the cluster.
     *
     * @param seen the voters of each log group, as in {@link RemoveVoter}: the node is not among
     *     them, and must not be about to be
     */
    record Forget(String node, Map<String, Set<String>> seen) implements Step {}
  }

  /**
   * A log group now.
   *
   * @param voters names of its voters
   * @param listeners names of those who follow it without a vote
   * @param leader node id, or null
   * @param bytes of one copy
   */
  record Group(String name, Set<String> voters, Set<String> listeners, String leader, long bytes) {
    Group ledBy(String now) {
      return new Group(name, voters, listeners, now, bytes);
    }

    /** The nodes that vote. */
    Set<String> nodes() {
      return nodes(voters);
    }

    private static Set<String> nodes(Set<String> names) {
      Set<String> nodes = new TreeSet<>();
      names.forEach(name -> nodes.add(VoterId.node(name)));
      return nodes;
    }
  }

  /**
   * What is to be done.
   *
   * @param waits what keeps a step from being taken, by log group or node, for people
   */
  record Next(List<Step> steps, Map<String, String> waits) {}

  /**
   * What is known.
   *
   * @param nodes as recorded
   * @param placement as recorded, by log group
   * @param cards of the nodes that answer
   * @param formedGroups how many data log groups the cluster was formed with
   * @param added the others, in their order
   */
  record Sight(
      Collection<ClusterNode> nodes,
      Map<String, List<String>> placement,
      List<Group> groups,
      Map<String, Peer> cards,
      String clusterId,
      int formedGroups,
      Collection<AddedLogGroup> added) {}

  private final Sight seen;
  private final List<Group> groups;
  private final Map<String, Peer> cards;

  /** Those that have joined. */
  private final Map<String, ClusterNode> nodes = new TreeMap<>();

  private final List<Step> steps = new ArrayList<>();
  private final Map<String, String> waits = new LinkedHashMap<>();

  private PlacementSteps(Sight seen) {
    this.seen = seen;
    groups = seen.groups();
    cards = seen.cards();
    seen.nodes().stream().filter(ClusterNode::joined).forEach(node -> nodes.put(node.id(), node));
  }

  static Next next(Sight seen) {
    PlacementSteps steps = new PlacementSteps(seen);
    steps.decide();
    return new Next(steps.steps, steps.waits);
  }

  private void decide() {
    nodes.values().forEach(this::lookAtNode);
    seen.added().stream().filter(group -> !group.open()).forEach(this::lookAtAdded);
    Map<String, Set<String>> planned = planned(groups.stream());
    boolean settled = waits.isEmpty() && steps.isEmpty();
    Set<String> copying = new HashSet<>();
    Map<String, Set<String>> others = new TreeMap<>();
    for (Group group : groups) {
      Set<String> plan = planned.get(group.name());
      boolean differs = plan != null && !plan.equals(targets(group));
      if (differs && broken(group)) {
        // What is recorded holds no longer: nothing is to be done by it.
        steps.add(new Step.Place(group.name(), List.copyOf(plan)));
        settled = false;
        continue;
      }
      if (differs) {
        others.put(group.name(), plan);
      }
      settled &= !change(group, targets(group), copying);
    }
    if (settled) {
      others.forEach((group, plan) -> steps.add(new Step.Place(group, List.copyOf(plan))));
    }
    if (settled && others.isEmpty()) {
      addGroup();
    }
  }

  private void lookAtAdded(AddedLogGroup group) {
    String name = ShardGroups.name(group.index());
    if (groups.stream().anyMatch(each -> each.name().equals(name) && each.leader() != null)) {
      steps.add(new Step.OpenLogGroup(group.index()));
    } else {
      waits.put(name, "its nodes are about to open it");
    }
  }

  /** Adds a data log group if there is not one for each node to lead. */
  private void addGroup() {
    int next = seen.formedGroups() + seen.added().size();
    List<ClusterNode> members =
        nodes.values().stream().filter(node -> node.state() == State.MEMBER).toList();
    if (next >= Math.min(members.size(), AddedLogGroup.GROUPS_MAX)
        || !members.stream().allMatch(node -> isOpen(cards.get(node.id())))) {
      return;
    }
    String name = ShardGroups.name(next);
    Set<String> voters =
        planned(
                Stream.concat(
                    groups.stream(), Stream.of(new Group(name, Set.of(), Set.of(), null, 0))))
            .get(name);
    steps.add(
        new Step.AddLogGroup(
            next, voters.stream().map(node -> cards.get(node).info().voter()).toList()));
  }

  /** Whether a node has opened its logs. */
  private boolean isOpen(Peer card) {
    return card != null
        && card.info().stage() == Stage.FORMED
        && seen.clusterId().equals(card.info().clusterId());
  }

  private void lookAtNode(ClusterNode node) {
    Peer card = cards.get(node.id());
    if (card != null && card.place() != null) {
      ClusterNode now = Peer.member(node.id(), card.place()).with(node.state());
      if (!now.equals(node)) {
        steps.add(new Step.Put(now));
      }
    }
    boolean votes = groups.stream().anyMatch(group -> group.nodes().contains(node.id()));
    if (card != null && card.info().stage() == Stage.WAITING) {
      if (votes) {
        waits.put(
            node.id(),
            "its data directory is empty: if it lost its data for good, run 'evenkeel cluster"
                + " replace "
                + node.id()
                + "'");
      } else if (node.state() != State.LEAVING) {
        // One that was drained before it came has meta, too.
        steps.add(new Step.Invite(node.id(), card.info().incarnation()));
      }
    }
    if (node.state() == State.LEAVING && !votes) {
      if (card != null && !card.copying().isEmpty()) {
        // It is about to get a vote that it was given before it was to leave.
        waits.put(node.id(), "it still gets copies of " + card.copying().keySet());
      } else {
        Map<String, Set<String>> seen = new TreeMap<>();
        groups.forEach(group -> seen.put(group.name(), group.voters()));
        steps.add(new Step.Forget(node.id(), seen));
      }
    }
  }

  private Map<String, Set<String>> planned(Stream<Group> of) {
    List<Group> planning = of.toList();
    Map<String, Set<String>> planned = new TreeMap<>();
    List<PlacementPlanner.Node> known =
        nodes.values().stream()
            .map(
                node ->
                    new PlacementPlanner.Node(node.id(), node.zone(), node.state() == State.MEMBER))
            .toList();
    List<PlacementPlanner.Group> wanted = new ArrayList<>();
    for (Group group : planning) {
      if (isMeta(group)) {
        planned.put(group.name(), metaVoters(group));
      } else {
        wanted.add(
            new PlacementPlanner.Group(group.name(), targets(group), VOTERS_MAX, group.bytes()));
      }
    }
    if (known.stream().anyMatch(PlacementPlanner.Node::takes)) {
      planned.putAll(PlacementPlanner.plan(known, wanted));
    }
    return planned;
  }

  private static boolean isMeta(Group group) {
    return group.name().equals(LogNode.META);
  }

  /**
   * Who votes in meta keeps its vote until it leaves: a drained node goes on serving. But it does
   * not count, because it leads nothing. Others follow without a vote. New voters are nodes that
   * may have the dispatcher, in zones with few voters.
   */
  private Set<String> metaVoters(Group meta) {
    Set<String> voters = new TreeSet<>(targets(meta));
    voters.removeIf(id -> !mayStay(meta, id));
    List<ClusterNode> others =
        new ArrayList<>(
            nodes.values().stream()
                .filter(node -> node.state() == State.MEMBER && !voters.contains(node.id()))
                .toList());
    long members = voters.stream().filter(id -> nodes.get(id).state() == State.MEMBER).count();
    for (; members < metaWanted() && !others.isEmpty(); members++) {
      ClusterNode next =
          others.stream()
              .min(
                  Comparator.comparing((ClusterNode node) -> !mayDispatch(node))
                      .thenComparing(node -> inZone(voters, node.zone())))
              .orElseThrow();
      others.remove(next);
      voters.add(next.id());
    }
    return voters;
  }

  private boolean mayDispatch(ClusterNode node) {
    return cards.containsKey(node.id()) && cards.get(node.id()).dispatcher();
  }

  private long inZone(Set<String> voters, String zone) {
    return voters.stream().filter(id -> nodes.get(id).zone().equals(zone)).count();
  }

  private int metaWanted() {
    long staying = nodes.values().stream().filter(node -> node.state() != State.LEAVING).count();
    return staying >= LARGE ? META_VOTERS_LARGE : META_VOTERS;
  }

  private int wanted(Group group) {
    return isMeta(group) ? metaWanted() : VOTERS_MAX;
  }

  private Set<String> targets(Group group) {
    List<String> recorded = seen.placement().get(group.name());
    return recorded == null ? group.nodes() : new TreeSet<>(recorded);
  }

  /** Whether a node is to vote that gives its copies away, or fewer than could are to. */
  private boolean broken(Group group) {
    Set<String> targets = targets(group);
    long takers = nodes.values().stream().filter(node -> node.state() == State.MEMBER).count();
    return targets.stream().filter(this::isMember).count() < Math.min(wanted(group), takers)
        || targets.stream().anyMatch(id -> !mayStay(group, id));
  }

  private boolean isMember(String id) {
    return nodes.containsKey(id) && nodes.get(id).state() == State.MEMBER;
  }

  private boolean mayStay(Group group, String id) {
    boolean drained = nodes.containsKey(id) && nodes.get(id).state() == State.DRAINING;
    return isMember(id) || isMeta(group) && drained;
  }

  /**
   * @param copying nodes that get a copy already
   * @return whether something is to be changed
   */
  private boolean change(Group group, Set<String> targets, Set<String> copying) {
    Set<String> now = group.nodes();
    Set<String> missing = new TreeSet<>(targets);
    missing.removeAll(now);
    missing.removeIf(node -> !nodes.containsKey(node));
    if (!missing.isEmpty()) {
      add(group, missing, copying);
      return true;
    }
    Set<String> spare = new TreeSet<>(now);
    spare.removeAll(targets);
    if (!spare.isEmpty()) {
      remove(group, spare);
      return true;
    }
    if (isMeta(group)) {
      return addListener(group);
    }
    for (ClusterNode node : nodes.values()) {
      Peer card = cards.get(node.id());
      boolean holds = card != null && card.holds().contains(group.name());
      if (holds && !now.contains(node.id()) && node.state() != State.LEAVING) {
        steps.add(new Step.DropCopy(group.name(), node.id(), group.voters()));
        return true;
      }
    }
    return false;
  }

  /**
   * Every node follows meta, which is small and says what all need to know.
   *
   * @return whether one does not yet
   */
  private boolean addListener(Group meta) {
    for (ClusterNode node : nodes.values()) {
      Peer card = cards.get(node.id());
      if (node.state() != State.LEAVING
          && isOpen(card)
          && !meta.voters().contains(card.info().voter())
          && !meta.listeners().contains(card.info().voter())) {
        steps.add(new Step.AddListener(card.info().voter()));
        return true;
      }
    }
    return false;
  }

  private void add(Group group, Set<String> missing, Set<String> copying) {
    for (String node : missing) {
      Peer card = cards.get(node);
      if (card == null) {
        waits.put(group.name(), "node " + node + " does not answer: start it, or remove it");
      } else if (!isOpen(card)) {
        waits.put(group.name(), "node " + node + " is about to open its logs");
      } else if (copying.contains(node) || copying.size() >= COPIES_MAX) {
        waits.put(group.name(), "other log groups come first");
      } else {
        copying.add(node);
        waits.remove(group.name());
        steps.add(new Step.AddVoter(group.name(), card.info().voter()));
        return;
      }
    }
  }

  private void remove(Group group, Set<String> spare) {
    for (String node : spare) {
      Set<String> rest = group.nodes();
      rest.remove(node);
      long alive = rest.stream().filter(cards::containsKey).count();
      if (node.equals(group.leader()) && cards.containsKey(node)) {
        waits.put(group.name(), "node " + node + " hands the leadership over");
      } else if (2 * alive <= rest.size()) {
        waits.put(
            group.name(),
            "without node " + node + " no majority would answer of the nodes " + rest);
      } else {
        waits.remove(group.name());
        steps.add(new Step.RemoveVoter(group.name(), node, group.voters()));
        return;
      }
    }
  }
}
