package dev.evenkeel.broker.member;

import dev.evenkeel.log.Follower;
import dev.evenkeel.log.LogNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Decides when a node gives the leadership of a log group to another.
 *
 * <p>So that each node leads its share, each data log group belongs to one of its voters, see
 * {@link #homes}, and meta to the first node that may lead it. The leadership moves there only if
 * that node is fit to lead and has nearly all entries, and only while all nodes that answer serve
 * and nothing has changed for a while. Nodes take turns, so that one leadership moves at a time.
 *
 * <p>A node that is not fit to lead a log group hands it at once to any node that is. If no other
 * node answers, this one may be cut off from the event bus; then a follower gets the leadership
 * although nothing else is known of it. If the leadership comes back, the next such move waits
 * {@link #BLIND_MILLIS}, and each later one twice as long as the one before, so that the leadership
 * does not wander while all nodes are cut off.
 */
final class LeaderBalancer {
  /** No leadership moves to its home node this soon after a node or a leadership has changed. */
  static final long QUIET_MILLIS = 5_000;

  /** Length of a node's turn. */
  static final long TURN_MILLIS = 2_000;

  /** While leadership moves, appends wait until the successor has what it lacks. */
  static final long LAG_ENTRIES_MAX = 8;

  /** A follower that has not answered for this long may be gone. */
  static final long SILENT_MILLIS_MAX = 1_500;

  /** The first pause between moves to nodes of which nothing is known. */
  static final long BLIND_MILLIS = 10_000;

  /** The longest such pause. */
  static final long BLIND_MILLIS_MAX = 320_000;

  /**
   * When a log group was last handed to a node of which nothing is known, and the pause after it.
   */
  private record BlindMove(long atMillis, long waitMillis) {}

  /** By log group; forgotten once another node answers. */
  private final Map<String, BlindMove> blindMoves = new HashMap<>();

  /** A node that did not take a log group over is not asked again for this long. */
  static final long REFUSED_MILLIS = 60_000;

  /** When a node did not take a log group over. */
  private final Map<Move, Long> refusedAtMillis = new HashMap<>();

  private Object before = List.of();
  private long changedAtMillis = Long.MIN_VALUE / 2;

  /**
   * What is known of a node now.
   *
   * @param serving whether it says that it is ready; one that does not answer is not in the list
   * @param unfit the log groups that it should not lead
   */
  record Node(boolean serving, Set<String> unfit) {}

  /**
   * @param leader its node id, or null
   * @param ready this node leads it, and serves it
   */
  record Group(
      String name, String leader, boolean ready, long commitIndex, List<Follower> followers) {}

  /**
   * Hands the leadership of a log group to a node.
   *
   * @param unfit because this node should not lead it
   */
  record Move(String group, String node, boolean unfit) {}

  /**
   * @param nodes ids of all nodes, sorted
   * @param answers of those that answer, this one included
   * @param groups meta first, then the data log groups in their order
   * @return null if no leadership is to move now
   */
  Move next(
      long nowMillis,
      String self,
      List<String> nodes,
      Map<String, Node> answers,
      List<Group> groups) {
    return next(nowMillis, self, nodes, answers, groups, group -> nodes);
  }

  /**
   * @param voters gives the ids of the nodes that are to vote in a log group, sorted
   */
  Move next(
      long nowMillis,
      String self,
      List<String> nodes,
      Map<String, Node> answers,
      List<Group> groups,
      Function<String, List<String>> voters) {
    List<Object> now = new ArrayList<>();
    now.add(new TreeMap<>(answers));
    groups.forEach(group -> now.add(String.valueOf(group.leader())));
    if (!now.equals(before)) {
      before = now;
      changedAtMillis = nowMillis;
    }
    if (answers.size() > 1) {
      blindMoves.clear();
    }
    boolean whole = answers.values().stream().allMatch(Node::serving);
    long turn = Math.floorMod(nowMillis / TURN_MILLIS, nodes.size());
    boolean mayTidy =
        whole
            && nowMillis - changedAtMillis >= QUIET_MILLIS
            && turn == Math.max(0, nodes.indexOf(self));
    Map<String, String> homes = homes(groups.stream().map(Group::name).toList(), voters);
    for (Group group : groups) {
      if (!self.equals(group.leader())) {
        continue;
      }
      List<String> voting = voters.apply(group.name());
      String home =
          group.name().equals(LogNode.META)
              ? first(group.name(), voting, answers)
              : homes.get(group.name());
      boolean unfit = answers.get(self).unfit().contains(group.name());
      String next = null;
      if (unfit) {
        next = successor(nowMillis, home, answers, group);
      } else if (mayTidy && group.ready() && !self.equals(home)) {
        next = mayTake(home, answers, group, nowMillis) ? home : null;
        if (next == null && !voting.contains(self)) {
          // It is to lose its vote: any of those that are to keep theirs will do.
          next =
              voting.stream()
                  .filter(node -> mayTake(node, answers, group, nowMillis))
                  .findFirst()
                  .orElse(null);
        }
      }
      if (next != null) {
        return new Move(group.name(), next, unfit);
      }
    }
    return null;
  }

  /** A node did not take a log group over: others come first for a while. */
  void refused(Move move, long nowMillis) {
    refusedAtMillis.put(asked(move.group(), move.node()), nowMillis);
  }

  private static Move asked(String group, String node) {
    return new Move(group, node, false);
  }

  private boolean hasRefused(String group, String node, long nowMillis) {
    Long atMillis = refusedAtMillis.get(asked(group, node));
    return atMillis != null && nowMillis - atMillis < REFUSED_MILLIS;
  }

  private boolean mayTake(String node, Map<String, Node> answers, Group group, long nowMillis) {
    return fit(node, answers, group) && !hasRefused(group.name(), node, nowMillis);
  }

  /** The first node that may lead the log group, or null. */
  private static String first(String group, List<String> nodes, Map<String, Node> answers) {
    return nodes.stream().filter(node -> sound(answers.get(node), group)).findFirst().orElse(null);
  }

  /**
   * Spreads the data log groups over their voters: in their order, each gets the voter that leads
   * the fewest so far. Among equals, group i gets the voter at place i, counted around. If all
   * nodes vote everywhere, they take turns.
   *
   * @param groups meta first
   * @param voters gives the ids of the nodes that are to vote in a log group, sorted
   */
  static Map<String, String> homes(List<String> groups, Function<String, List<String>> voters) {
    Map<String, Integer> leads = new HashMap<>();
    Map<String, String> homes = new HashMap<>();
    int turn = 0;
    for (String group : groups) {
      List<String> all = voters.apply(group);
      // Meta takes a turn, but counts nowhere: where it is led depends on who can.
      int begin = turn++;
      String home = null;
      for (int i = 0; i < all.size() && !group.equals(LogNode.META); i++) {
        String node = all.get((begin + i) % all.size());
        if (home == null || leads.getOrDefault(node, 0) < leads.getOrDefault(home, 0)) {
          home = node;
        }
      }
      if (home != null) {
        leads.merge(home, 1, Integer::sum);
        homes.put(group, home);
      }
    }
    return homes;
  }

  /**
   * The node that takes a log group which this node should not lead: its home, or the one with the
   * most entries; or null.
   */
  private String successor(long nowMillis, String home, Map<String, Node> answers, Group group) {
    boolean blind = answers.size() == 1;
    BlindMove last = blindMoves.get(group.name());
    if (last != null && nowMillis - last.atMillis() < last.waitMillis()) {
      return null;
    }
    String next =
        group.followers().stream()
            .filter(follower -> caughtUp(follower, group))
            .filter(follower -> blind || sound(answers.get(follower.node()), group.name()))
            .max(
                Comparator.comparing(
                        (Follower follower) ->
                            !hasRefused(group.name(), follower.node(), nowMillis))
                    .thenComparing(follower -> follower.node().equals(home))
                    .thenComparing(Follower::matchIndex)
                    .thenComparing(Follower::node))
            .map(Follower::node)
            .orElse(null);
    if (blind && next != null) {
      long wait = last == null ? BLIND_MILLIS : Math.min(BLIND_MILLIS_MAX, 2 * last.waitMillis());
      blindMoves.put(group.name(), new BlindMove(nowMillis, wait));
    }
    return next;
  }

  private static boolean fit(String node, Map<String, Node> answers, Group group) {
    return sound(answers.get(node), group.name())
        && group.followers().stream()
            .anyMatch(follower -> follower.node().equals(node) && caughtUp(follower, group));
  }

  private static boolean sound(Node node, String group) {
    return node != null && node.serving() && !node.unfit().contains(group);
  }

  private static boolean caughtUp(Follower follower, Group group) {
    return follower.silentMillis() <= SILENT_MILLIS_MAX
        && follower.matchIndex() + LAG_ENTRIES_MAX >= group.commitIndex();
  }
}
