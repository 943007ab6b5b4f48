package dev.evenkeel.gateway;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.ClusterStatusView.Digest;
import dev.evenkeel.api.ClusterStatusView.Disk;
import dev.evenkeel.api.ClusterStatusView.Diverged;
import dev.evenkeel.api.ClusterStatusView.Follower;
import dev.evenkeel.api.ClusterStatusView.Ineligible;
import dev.evenkeel.api.ClusterStatusView.Log;
import dev.evenkeel.api.ClusterStatusView.LogPlace;
import dev.evenkeel.api.ClusterStatusView.Node;
import dev.evenkeel.api.ClusterStatusView.NodePlace;
import dev.evenkeel.api.ClusterStatusView.Storage;
import dev.evenkeel.api.ClusterStatusView.Unanswered;
import dev.evenkeel.api.NodeChangeView;
import dev.evenkeel.api.NodeChangeView.Estimate;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.MemberQuestions.PlacedNode;
import dev.evenkeel.bus.MemberQuestions.Placement;
import dev.evenkeel.bus.NodeLogs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Joins what the brokers say of their logs into one status. For a log group, the leader counts;
 * while there is none, the node with the highest term says who leads and at which term. Unknown
 * values are null.
 *
 * @param answers the outcomes by node
 */
record ClusterStatus(ClusterView view, Map<String, Answer> answers) {
  /** The outcome of the question to one node. */
  record Answer(Boolean alive, NodeLogs logs) {
    /** Nobody listens there: the cluster has no such member. */
    static final Answer GONE = new Answer(false, null);

    /** No answer in time. */
    static final Answer SILENT = new Answer(null, null);
  }

  /** The ids of all nodes, sorted. */
  static Set<String> nodes(ClusterView view) {
    return new TreeSet<>(view.nodes());
  }

  /**
   * @param dispatcher the node whose dispatcher answers, or null
   * @param placement where the log groups are to be, as the leader of meta says; or null
   */
  ClusterStatusView view(String dispatcher, Placement placement) {
    Map<String, NodePlace> placed = new TreeMap<>();
    Map<String, LogPlace> places = new TreeMap<>();
    if (placement != null) {
      placement.nodes().forEach(each -> placed.put(each.change().node(), place(each)));
      placement.groups().forEach(each -> places.put(each.group(), each.place()));
    }
    Set<String> all = nodes(view);
    all.addAll(placed.keySet());
    return new ClusterStatusView(
        view.cluster(),
        view.node(),
        dispatcher,
        featureLevel(),
        all.stream().map(node -> node(node, placed.get(node))).toList(),
        groupNames().stream().map(name -> log(name, places.get(name))).toList());
  }

  private Node node(String node, NodePlace place) {
    Answer answer = answers.getOrDefault(node, Answer.SILENT);
    NodeLogs logs = answer.logs();
    if (logs == null) {
      return new Node(node, answer.alive(), null, null, null, null, null, place);
    }
    NodeLogs.Disk disk = logs.disk();
    return new Node(
        node,
        answer.alive(),
        logs.host(),
        logs.levels().version(),
        logs.levels().read(),
        disk == null ? null : new Disk(disk.freeBytes(), disk.freeBytesMin()),
        unanswered(logs),
        place);
  }

  /** The nodes that do not answer it; null if it does not say. */
  private static List<Unanswered> unanswered(NodeLogs logs) {
    return logs.unanswered() == null
        ? null
        : logs.unanswered().entrySet().stream()
            .map(each -> new Unanswered(each.getKey(), each.getValue()))
            .toList();
  }

  private static NodePlace place(PlacedNode known) {
    NodeChangeView change = known.change();
    Estimate estimate = change.estimate();
    return new NodePlace(
        change.membership().name(),
        known.zone(),
        (int) known.votes(),
        known.bytes(),
        change.groups(),
        estimate == null ? 0 : estimate.bytesLeft(),
        estimate == null ? null : estimate.secondsLeft(),
        change.message());
  }

  /**
   * The highest level that a node knows, because the level never goes down and some nodes may not
   * know it yet.
   */
  private Integer featureLevel() {
    return answers.values().stream()
        .filter(answer -> answer.logs() != null)
        .map(answer -> answer.logs().levels().cluster())
        .max(Integer::compare)
        .orElse(null);
  }

  private Collection<String> groupNames() {
    Set<String> names = new LinkedHashSet<>();
    names.add("meta");
    for (int i = 0; i < view.dataLeaders().size(); i++) {
      names.add("d" + i);
    }
    return names;
  }

  /** The leader of meta according to the nodes, or null. */
  String metaLeader() {
    NodeLogs.Group believed = best(reports("meta"));
    return believed == null ? view.metaLeader() : believed.leader();
  }

  private List<NodeLogs.Group> reports(String name) {
    return each(name, (node, group) -> Stream.of(group));
  }

  private static NodeLogs.Group best(List<NodeLogs.Group> reports) {
    return reports.stream().max(ClusterStatus::rank).orElse(null);
  }

  /**
   * A higher term counts more, then a leader more than followers, then a node that knows a leader.
   */
  private static int rank(NodeLogs.Group a, NodeLogs.Group b) {
    if (a.term() != b.term()) {
      return Long.compare(a.term(), b.term());
    }
    if (a.leads() != b.leads()) {
      return a.leads() ? 1 : -1;
    }
    return Boolean.compare(a.leader() != null, b.leader() != null);
  }

  private Log log(String name, LogPlace place) {
    NodeLogs.Group group = best(reports(name));
    boolean led = group != null && group.leads();
    return new Log(
        name,
        group == null ? null : group.leader(),
        group == null ? null : (Long) group.term(),
        led ? known(group.commitIndex()) : null,
        led ? known(group.appliedIndex()) : null,
        followers(group, place == null ? nodes(view) : new TreeSet<>(place.voters())),
        storage(name),
        // The nodes that should not lead the group, according to themselves.
        lines(name, NodeLogs.Condition::ineligible, Ineligible::new),
        digests(name),
        // The nodes whose states differ, as each node has found.
        lines(name, NodeLogs.Condition::differs, Diverged::new),
        place);
  }

  /**
   * @param group null: nobody knows it
   */
  private static List<Follower> followers(NodeLogs.Group group, Set<String> voters) {
    List<Follower> followers = new ArrayList<>();
    for (String node : voters) {
      if (group != null && node.equals(group.leader())) {
        continue;
      }
      Long match = group != null && group.leads() ? known(group.matchIndex().get(node)) : null;
      Long behind =
          match == null || group.commitIndex() < 0
              ? null
              : (Long) Math.max(0, group.commitIndex() - match);
      followers.add(new Follower(node, match, behind));
    }
    return followers;
  }

  /** What each node stores; nodes that do not know it are missing. */
  private List<Storage> storage(String name) {
    return each(
        name,
        (node, group) ->
            Stream.ofNullable(group.condition().bodies())
                .map(of -> new Storage(node, of.liveBytes(), of.deadBytes(), of.lostMessages())));
  }

  /** Reads what each node that answers says of its own part in the group. */
  private <T> List<T> each(String name, BiFunction<String, NodeLogs.Group, Stream<T>> reader) {
    List<T> all = new ArrayList<>();
    for (String node : nodes(view)) {
      NodeLogs logs = answers.getOrDefault(node, Answer.SILENT).logs();
      if (logs != null) {
        logs.groups().stream()
            .filter(group -> group.name().equals(name))
            .flatMap(group -> reader.apply(node, group))
            .forEach(all::add);
      }
    }
    return all;
  }

  private interface Line<T> {
    T of(String node, String what, String detail);
  }

  /** One line for each entry of a map in the conditions of the nodes. */
  private <T> List<T> lines(
      String name, Function<NodeLogs.Condition, Map<String, String>> of, Line<T> line) {
    return each(
        name,
        (node, group) ->
            of.apply(group.condition()).entrySet().stream()
                .map(each -> line.of(node, each.getKey(), each.getValue())));
  }

  /** The digests of all nodes. Nodes with the same applied index must have the same digest. */
  private List<Digest> digests(String name) {
    return each(
        name,
        (node, group) ->
            Stream.ofNullable(group.condition().digest())
                .map(
                    of ->
                        new Digest(
                            node,
                            known(of.appliedIndex()),
                            of.since(),
                            String.format("%016x", of.sum()))));
  }

  private static Long known(Long index) {
    return index == null || index < 0 ? null : index;
  }
}
