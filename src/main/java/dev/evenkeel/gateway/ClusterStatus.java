package dev.evenkeel.gateway;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.protocol.StateDigest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Joins what the brokers say of their logs into one status. For a log group, the leader counts;
 * while there is none, the node with the highest term says who leads and at which term. Unknown
 * values are null.
 */
final class ClusterStatus {
  /** The outcome of the question to one node. */
  record Answer(Boolean alive, NodeLogs logs) {
    /** Nobody listens there: the cluster has no such member. */
    static final Answer GONE = new Answer(false, null);

    /** No answer in time. */
    static final Answer SILENT = new Answer(null, null);
  }

  private final ClusterView view;
  private final Map<String, Answer> answers;

  /**
   * @param answers the outcomes by node
   */
  ClusterStatus(ClusterView view, Map<String, Answer> answers) {
    this.view = view;
    this.answers = answers;
  }

  /** The ids of all nodes, sorted. */
  static Set<String> nodes(ClusterView view) {
    return new TreeSet<>(view.nodes());
  }

  /**
   * @param dispatcher the node whose dispatcher answers, or null
   * @param placement where the log groups are to be, as the leader of meta says; or null
   */
  JsonObject json(String dispatcher, JsonObject placement) {
    Map<String, JsonObject> placed = by("node", placement, "nodes");
    Map<String, JsonObject> places = by("group", placement, "groups");
    JsonArray nodes = new JsonArray();
    Set<String> all = nodes(view);
    all.addAll(placed.keySet());
    for (String node : all) {
      Answer answer = answers.getOrDefault(node, Answer.SILENT);
      JsonObject json =
          new JsonObject()
              .put("node", node)
              .put("alive", answer.alive())
              .put("host", answer.logs() == null ? null : answer.logs().host())
              .put("version", answer.logs() == null ? null : answer.logs().levels().version())
              .put("featureLevel", answer.logs() == null ? null : answer.logs().levels().read())
              .put("disk", answer.logs() == null ? null : disk(answer.logs().disk()))
              .put("unanswered", answer.logs() == null ? null : unanswered(answer.logs()));
      nodes.add(placed.containsKey(node) ? placed(json, placed.get(node)) : json);
    }
    JsonArray logs = new JsonArray();
    for (String name : groupNames()) {
      JsonObject place = places.get(name);
      logs.add(
          place == null
              ? log(name, nodes(view))
              : log(name, new TreeSet<>(texts(place.getJsonArray("voters"))))
                  .put("voters", place.getJsonArray("voters"))
                  .put("listeners", place.getJsonArray("listeners"))
                  .put("target", place.getJsonArray("target"))
                  .put("waits", place.getString("waits")));
    }
    return new JsonObject()
        .put("cluster", view.cluster())
        .put("node", view.node())
        .put("dispatcher", dispatcher)
        .put("featureLevel", featureLevel())
        .put("nodes", nodes)
        .put("logs", logs);
  }

  /** The nodes that do not answer it; null if it does not say. */
  private static JsonArray unanswered(NodeLogs logs) {
    if (logs.unanswered() == null) {
      return null;
    }
    JsonArray silent = new JsonArray();
    logs.unanswered()
        .forEach(
            (other, millis) ->
                silent.add(new JsonObject().put("node", other).put("millis", millis)));
    return silent;
  }

  private static JsonObject disk(NodeLogs.Disk disk) {
    return disk == null
        ? null
        : new JsonObject()
            .put("freeBytes", disk.freeBytes())
            .put("freeBytesMin", disk.freeBytesMin());
  }

  private static JsonObject placed(JsonObject node, JsonObject known) {
    return node.put("membership", known.getString("membership"))
        .put("zone", known.getString("zone"))
        .put("votes", known.getInteger("votes"))
        .put("bytes", known.getLong("bytes"))
        .put("moving", known.getJsonObject("groups"))
        .put("bytesLeft", known.getLong("bytesLeft", 0L))
        .put("secondsLeft", known.getLong("secondsLeft"))
        .put("message", known.getString("message"));
  }

  private static Map<String, JsonObject> by(String key, JsonObject placement, String list) {
    Map<String, JsonObject> all = new TreeMap<>();
    if (placement != null) {
      for (Object each : placement.getJsonArray(list)) {
        all.put(((JsonObject) each).getString(key), (JsonObject) each);
      }
    }
    return all;
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
    List<NodeLogs.Group> reports = new ArrayList<>();
    each(name, (node, group) -> reports.add(group));
    return reports;
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

  private static List<String> texts(JsonArray array) {
    return array.stream().map(String.class::cast).toList();
  }

  /**
   * @param voters the nodes that vote
   */
  private JsonObject log(String name, Set<String> voters) {
    NodeLogs.Group group = best(reports(name));
    boolean led = group != null && group.leads();
    JsonArray followers = new JsonArray();
    for (String node : voters) {
      if (group != null && node.equals(group.leader())) {
        continue;
      }
      Long match = led ? known(group.matchIndex().get(node)) : null;
      Long behind =
          match == null || group.commitIndex() < 0
              ? null
              : (Long) Math.max(0, group.commitIndex() - match);
      followers.add(
          new JsonObject().put("node", node).put("matchIndex", match).put("lagEntries", behind));
    }
    return new JsonObject()
        .put("group", name)
        .put("leader", group == null ? null : group.leader())
        .put("term", group == null ? null : (Long) group.term())
        .put("commitIndex", led ? known(group.commitIndex()) : null)
        .put("appliedIndex", led ? known(group.appliedIndex()) : null)
        .put("followers", followers)
        .put("storage", storage(name))
        // The nodes that should not lead the group, according to themselves.
        .put("ineligible", lines(name, "reason", NodeLogs.Condition::ineligible))
        .put("digests", digests(name))
        // The nodes whose states differ, as each node has found.
        .put("diverged", lines(name, "from", NodeLogs.Condition::differs));
  }

  /** What each node stores; nodes that do not know it are missing. */
  private JsonArray storage(String name) {
    JsonArray storage = new JsonArray();
    each(
        name,
        (node, group) -> {
          NodeLogs.Bodies bodies = group.condition().bodies();
          if (bodies != null) {
            storage.add(
                new JsonObject()
                    .put("node", node)
                    .put("liveBytes", bodies.liveBytes())
                    .put("deadBytes", bodies.deadBytes())
                    .put("lostMessages", bodies.lostMessages()));
          }
        });
    return storage;
  }

  /** Reads what each node that answers says of its own part in the group. */
  private void each(String name, BiConsumer<String, NodeLogs.Group> reader) {
    for (String node : nodes(view)) {
      NodeLogs logs = answers.getOrDefault(node, Answer.SILENT).logs();
      if (logs != null) {
        logs.groups().stream()
            .filter(group -> group.name().equals(name))
            .forEach(group -> reader.accept(node, group));
      }
    }
  }

  /**
   * One object for each entry of a map in the conditions of the nodes.
   *
   * @param key name of the field with the key of the entry
   */
  private JsonArray lines(
      String name, String key, Function<NodeLogs.Condition, Map<String, String>> of) {
    JsonArray lines = new JsonArray();
    each(
        name,
        (node, group) ->
            of.apply(group.condition())
                .forEach(
                    (what, detail) ->
                        lines.add(
                            new JsonObject()
                                .put("node", node)
                                .put(key, what)
                                .put("detail", detail))));
    return lines;
  }

  /** The digests of all nodes. Nodes with the same applied index must have the same digest. */
  private JsonArray digests(String name) {
    JsonArray digests = new JsonArray();
    each(
        name,
        (node, group) -> {
          StateDigest digest = group.condition().digest();
          if (digest != null) {
            digests.add(
                new JsonObject()
                    .put("node", node)
                    .put("appliedIndex", known(digest.appliedIndex()))
                    .put("since", digest.since())
                    .put("digest", String.format("%016x", digest.sum())));
          }
        });
    return digests;
  }

  private static Long known(Long index) {
    return index == null || index < 0 ? null : index;
  }
}
