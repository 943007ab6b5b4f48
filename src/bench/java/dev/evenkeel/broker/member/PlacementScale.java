package dev.evenkeel.broker.member;

import dev.evenkeel.broker.member.PlacementPlanner.Group;
import dev.evenkeel.broker.member.PlacementPlanner.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;

/**
 * How long a plan takes that says which nodes vote in which log group: one log group for each node,
 * of different sizes, in three zones.
 *
 * <p>System properties: {@code scale.nodes}, sizes separated by commas.
 */
public final class PlacementScale {
  private static final int ZONES = 3;
  private static final int ROUNDS = 3;

  private PlacementScale() {}

  /** Prints a table. */
  public static void main(String[] args) {
    System.out.println("nodes    log groups  plan                 ms      copies moved");
    for (String size : System.getProperty("scale.nodes", "10,100,1000").split(",")) {
      measure(Integer.parseInt(size));
    }
  }

  private static void measure(int count) {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nodes.add(new Node("n" + i, "z" + i % ZONES, true));
    }
    Random random = new Random(1);
    List<Group> groups = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      groups.add(new Group("d" + i, Set.of(), 3, (long) (random.nextDouble() * (4L << 30))));
    }
    Map<String, Set<String>> first = print(nodes, groups, "first", Map.of());
    List<Group> placed = with(groups, first);
    print(nodes, placed, "nothing changed", first);
    List<Node> more = new ArrayList<>(nodes);
    more.add(new Node("n" + count, "z0", true));
    print(more, placed, "a node comes", first);
    print(without(nodes, node -> node.id().equals("n1")), placed, "a node is drained", first);
    print(without(nodes, node -> node.zone().equals("z1")), placed, "a zone is drained", first);
  }

  private static List<Node> without(List<Node> nodes, java.util.function.Predicate<Node> leaves) {
    return nodes.stream()
        .map(node -> new Node(node.id(), node.zone(), !leaves.test(node)))
        .toList();
  }

  private static List<Group> with(List<Group> groups, Map<String, Set<String>> voters) {
    return groups.stream()
        .map(each -> new Group(each.name(), voters.get(each.name()), each.wanted(), each.bytes()))
        .toList();
  }

  private static Map<String, Set<String>> print(
      List<Node> nodes, List<Group> groups, String name, Map<String, Set<String>> before) {
    Supplier<Map<String, Set<String>>> plan = () -> PlacementPlanner.plan(nodes, groups);
    long best = Long.MAX_VALUE;
    Map<String, Set<String>> planned = Map.of();
    for (int round = 0; round < ROUNDS; round++) {
      long from = System.nanoTime();
      planned = plan.get();
      best = Math.min(best, System.nanoTime() - from);
    }
    int moved = 0;
    for (Map.Entry<String, Set<String>> each : before.entrySet()) {
      for (String voter : planned.get(each.getKey())) {
        moved += each.getValue().contains(voter) ? 0 : 1;
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%-8d %-11d %-18s %8.1f %8d%n",
        nodes.size(),
        groups.size(),
        name,
        best / 1e6,
        moved);
    return planned;
  }
}
