package dev.evenkeel.broker.member;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans which nodes vote in which log group. A pure function: the same input gives the same plan.
 *
 * <ol>
 *   <li>A log group has as many voters as it wants, or one on each node if there are fewer.
 *   <li>Its voters are in as many zones as possible. Nodes without a zone are one zone.
 *   <li>Nodes have about the same weight, which is the bytes of their copies.
 *   <li>Few copies move: a voter stays where it is unless it breaks the first two rules, or moving
 *       it brings two nodes closer together that are further apart than {@link #TOLERANCE} of a
 *       node's share.
 * </ol>
 *
 * <p>The algorithm is a local search from the present placement: mend what is broken, then move one
 * copy, or exchange two, from the heaviest nodes as long as that helps.
 */
final class PlacementPlanner {
  /** Each copy counts at least this much, so that empty log groups are spread, too. */
  static final long BASE_BYTES = 16L << 20;

  /** Two nodes may differ by this part of a node's share before copies move. */
  static final double TOLERANCE = 0.08;

  /** Once a move is found, so many more nodes are looked at that could get the copy. */
  private static final int CANDIDATES = 32;

  private static final int NEVER = -1;

  /**
   * A node.
   *
   * @param zone empty: not known
   * @param takes whether it keeps copies; one that does not gives its copies away
   */
  record Node(String id, String zone, boolean takes) {}

  /**
   * A log group.
   *
   * @param voters nodes that have a vote now, or are to have one
   * @param wanted how many voters it should have
   * @param bytes of one copy
   */
  record Group(String name, Set<String> voters, int wanted, long bytes) {
    long weight() {
      return BASE_BYTES + Math.max(0, bytes);
    }
  }

  private final Map<String, String> zones = new TreeMap<>();
  private final Map<String, Long> weights = new HashMap<>();
  private final Map<String, Set<String>> voters = new HashMap<>();
  private final List<Group> groups;

  /** Of each node, the log groups with a voter there, by their places in {@link #groups}. */
  private final Map<String, TreeSet<Integer>> on = new HashMap<>();

  /** What a node gives others, or gets from them, depends on nothing that changed before then. */
  private final Map<String, Integer> changedAt = new HashMap<>();

  /** When no move from a node helped, by the number of changes. */
  private final Map<String, Integer> failedAt = new HashMap<>();

  private int changes;
  private final Map<String, Integer> placeOf = new HashMap<>();
  private final int zoneCount;

  private PlacementPlanner(Collection<Node> nodes, Collection<Group> groups) {
    for (Node node : nodes) {
      if (node.takes()) {
        zones.put(node.id(), node.zone());
        weights.put(node.id(), 0L);
        changedAt.put(node.id(), 0);
        on.put(node.id(), new TreeSet<>());
      }
    }
    zoneCount = new HashSet<>(zones.values()).size();
    this.groups = new ArrayList<>(groups);
    this.groups.sort(Comparator.comparingLong(Group::weight).reversed().thenComparing(Group::name));
    for (Group group : this.groups) {
      Set<String> stay = new TreeSet<>(group.voters());
      stay.retainAll(zones.keySet());
      voters.put(group.name(), new TreeSet<>());
      placeOf.put(group.name(), placeOf.size());
      stay.forEach(node -> change(group, null, node));
    }
  }

  /**
   * The nodes that should vote in each log group, by its name.
   *
   * @param nodes at least one takes copies
   */
  static Map<String, Set<String>> plan(Collection<Node> nodes, Collection<Group> groups) {
    PlacementPlanner planner = new PlacementPlanner(nodes, groups);
    if (planner.zones.isEmpty()) {
      throw new IllegalArgumentException("no node takes copies: " + nodes);
    }
    planner.groups.forEach(planner::mend);
    planner.level();
    return new TreeMap<>(planner.voters);
  }

  private int size(Group group) {
    return Math.min(Math.max(1, group.wanted()), zones.size());
  }

  private void mend(Group group) {
    Set<String> now = voters.get(group.name());
    while (now.size() > size(group)) {
      change(group, worst(now), null);
    }
    while (now.size() < size(group)) {
      change(group, null, best(now));
    }
    while (zonesOf(now) < Math.min(now.size(), zoneCount)) {
      String out = worst(now);
      Set<String> rest = new TreeSet<>(now);
      rest.remove(out);
      change(group, out, best(rest));
    }
  }

  /** The voter to lose: one that shares its zone with most others, then the heaviest. */
  private String worst(Set<String> now) {
    return now.stream().max(byZoneAndWeight(now)).orElseThrow();
  }

  /** The node to add: one in a zone with the fewest voters, then the lightest. */
  private String best(Set<String> now) {
    return zones.keySet().stream()
        .filter(node -> !now.contains(node))
        .min(byZoneAndWeight(now))
        .orElseThrow();
  }

  private Comparator<String> byZoneAndWeight(Set<String> now) {
    Map<String, Integer> inZone = new HashMap<>();
    now.forEach(node -> inZone.merge(zones.get(node), 1, Integer::sum));
    return Comparator.comparingInt((String node) -> inZone.getOrDefault(zones.get(node), 0))
        .thenComparingLong(weights::get)
        .thenComparing(Comparator.naturalOrder());
  }

  private int zonesOf(Collection<String> nodes) {
    Set<String> used = new HashSet<>();
    nodes.forEach(node -> used.add(zones.get(node)));
    return used.size();
  }

  private void change(Group group, String out, String in) {
    changes++;
    voters.get(group.name()).forEach(voter -> changedAt.put(voter, changes));
    if (out != null) {
      voters.get(group.name()).remove(out);
      on.get(out).remove(placeOf.get(group.name()));
      weights.merge(out, -group.weight(), Long::sum);
    }
    if (in != null) {
      voters.get(group.name()).add(in);
      on.get(in).add(placeOf.get(group.name()));
      weights.merge(in, group.weight(), Long::sum);
      changedAt.put(in, changes);
    }
  }

  /**
   * One step of levelling.
   *
   * @param back a log group that goes the other way; null: none
   */
  private record Move(Group group, String from, String to, Group back) {
    long weight() {
      return group.weight() - (back == null ? 0 : back.weight());
    }
  }

  private void level() {
    double share =
        groups.stream().mapToDouble(group -> (double) group.weight() * size(group)).sum()
            / zones.size();
    long tolerance = (long) (TOLERANCE * share);
    // Copies that are made anyway come first.
    moveAll(tolerance, true);
    moveAll(tolerance, false);
  }

  /** Moves as long as that helps. Each step lowers the sum of the squares, so it ends. */
  private void moveAll(long tolerance, boolean free) {
    failedAt.clear();
    for (Move move = next(tolerance, free); move != null; move = next(tolerance, free)) {
      change(move.group(), move.from(), move.to());
      if (move.back() != null) {
        change(move.back(), move.to(), move.from());
      }
    }
  }

  /**
   * The best move from one of the heaviest nodes that helps, or null.
   *
   * @param free only moves of copies that are made anyway, and now elsewhere
   */
  private Move next(long tolerance, boolean free) {
    List<String> byWeight = new ArrayList<>(zones.keySet());
    byWeight.sort(
        Comparator.comparing((String node) -> weights.get(node))
            .thenComparing(Comparator.naturalOrder()));
    long lightest = weights.get(byWeight.get(0));
    for (int i = byWeight.size() - 1; i > 0; i--) {
      String from = byWeight.get(i);
      if (weights.get(from) - lightest <= tolerance) {
        return null;
      }
      Move best = null;
      int looked = 0;
      int failed = failedAt.getOrDefault(from, NEVER);
      boolean anew = changedAt.get(from) > failed;
      for (String to : byWeight.subList(0, i)) {
        long apart = weights.get(from) - weights.get(to);
        if (apart <= tolerance || best != null && ++looked > CANDIDATES) {
          break;
        }
        if (anew || changedAt.get(to) > failed) {
          best = better(best, from, to, free);
        }
      }
      if (best != null) {
        return best;
      }
      failedAt.put(from, changes);
    }
    return null;
  }

  /** The best of {@code best}, which may be null, and the moves between these nodes that help. */
  private Move better(Move best, String from, String to, boolean free) {
    Move found = best;
    List<Group> away = only(from, to);
    List<Group> back = only(to, from);
    for (Group group : away) {
      if (!keepsZones(group, from, to)) {
        continue;
      }
      found = better(found, new Move(group, from, to, null), free);
      for (Group other : back) {
        found = better(found, new Move(group, from, to, other), free);
      }
    }
    return found;
  }

  private Move better(Move best, Move move, boolean free) {
    boolean better =
        worth(move) > (best == null ? 0 : worth(best))
            && (!free || isFree(move))
            && (move.back() == null || keepsZones(move.back(), move.to(), move.from()));
    return better ? move : best;
  }

  /** By how much it lowers the sum of the squares; an exchange copies twice, so it counts half. */
  private double worth(Move move) {
    long weight = move.weight();
    long apart = weights.get(move.from()) - weights.get(move.to());
    if (weight <= 0 || apart <= weight) {
      return 0;
    }
    double gain = (double) weight * (apart - weight);
    return move.back() == null ? gain : gain / 2;
  }

  private static boolean isFree(Move move) {
    return !move.group().voters().contains(move.from())
        && (move.back() == null || !move.back().voters().contains(move.to()));
  }

  private List<Group> only(String node, String without) {
    return on.get(node).stream()
        .map(groups::get)
        .filter(group -> !voters.get(group.name()).contains(without))
        .toList();
  }

  /** Whether the voters are in no fewer zones after one of them has gone elsewhere. */
  private boolean keepsZones(Group group, String from, String to) {
    String left = zones.get(from);
    String entered = zones.get(to);
    boolean leavesOne = true;
    boolean entersOne = true;
    for (String voter : voters.get(group.name())) {
      String zone = zones.get(voter);
      if (!voter.equals(from)) {
        leavesOne &= !zone.equals(left);
        entersOne &= !zone.equals(entered);
      }
    }
    return left.equals(entered) || entersOne || !leavesOne;
  }
}
