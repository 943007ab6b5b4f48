package dev.evenkeel.broker.member;

import dev.evenkeel.log.Follower;
import dev.evenkeel.log.LogNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Decides when a node gives a log group to another, so that each node leads its share. Group {@code
 * d<i>} belongs to node i + 1 in the order of their ids, meta to the first that has the dispatcher
 * role. A group moves only to a node that serves and has (nearly) everything, only while all that
 * answer serve and nothing has changed for a while, and each node has turns of its own, so that one
 * group moves at a time. A node that may not lead meta gives it away without waiting for its turn.
 */
final class LeaderSpread {
  /** Nothing moves so soon after a node or a leadership came or went. */
  static final long QUIET_MILLIS = 5_000;

  /** What must be given away moves after this. */
  static final long QUIET_DUTY_MILLIS = 1_000;

  /** Length of a node's turn. */
  static final long TURN_MILLIS = 2_000;

  /** While leadership moves, appends wait until the successor has what it lacks. */
  static final long LAG_ENTRIES_MAX = 8;

  /** A follower that has not answered for this long may be gone. */
  static final long SILENT_MILLIS_MAX = 1_500;

  private Object before = List.of();
  private long changedAtMillis = Long.MIN_VALUE / 2;

  /**
   * A node as it is known now.
   *
   * @param dispatcher whether it may lead meta
   * @param serving whether it says that it is ready; one that does not answer is not in the list
   */
  record Node(boolean dispatcher, boolean serving) {}

  /**
   * @param leader its node id, or null
   * @param ready this node leads it
   */
  record Group(
      String name, String leader, boolean ready, long commitIndex, List<Follower> followers) {}

  /** Give this group to that node. */
  record Move(String group, String node) {}

  /**
   * @param nodes ids of all nodes, sorted
   * @param answers of those that answer, this one included
   * @param groups meta first, then the data groups in their order
   * @return null if nothing is to move now
   */
  Move next(
      long nowMillis,
      String self,
      List<String> nodes,
      Map<String, Node> answers,
      List<Group> groups) {
    List<Object> now = new ArrayList<>();
    now.add(new TreeMap<>(answers));
    groups.forEach(group -> now.add(String.valueOf(group.leader())));
    if (!now.equals(before)) {
      before = now;
      changedAtMillis = nowMillis;
    }
    long quietMillis = nowMillis - changedAtMillis;
    boolean whole = answers.values().stream().allMatch(Node::serving);
    long turn = Math.floorMod(nowMillis / TURN_MILLIS, nodes.size());
    boolean mayTidy =
        whole && quietMillis >= QUIET_MILLIS && turn == Math.max(0, nodes.indexOf(self));
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      if (!group.ready() || !self.equals(group.leader())) {
        continue;
      }
      boolean meta = group.name().equals(LogNode.META);
      boolean duty = meta && !answers.get(self).dispatcher() && quietMillis >= QUIET_DUTY_MILLIS;
      String home = meta ? metaHome(nodes, answers) : nodes.get(i % nodes.size());
      if ((duty || mayTidy) && home != null && !home.equals(self) && fit(home, answers, group)) {
        return new Move(group.name(), home);
      }
    }
    return null;
  }

  private static String metaHome(List<String> nodes, Map<String, Node> answers) {
    for (String node : nodes) {
      Node answer = answers.get(node);
      if (answer != null && answer.dispatcher() && answer.serving()) {
        return node;
      }
    }
    return null;
  }

  private static boolean fit(String node, Map<String, Node> answers, Group group) {
    Node answer = answers.get(node);
    return answer != null
        && answer.serving()
        && group.followers().stream()
            .anyMatch(
                follower ->
                    follower.node().equals(node)
                        && follower.silentMillis() <= SILENT_MILLIS_MAX
                        && follower.matchIndex() + LAG_ENTRIES_MAX >= group.commitIndex());
  }
}
