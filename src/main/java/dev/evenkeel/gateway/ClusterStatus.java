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
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * What the brokers say of their logs, made into one picture. Of a group, its leader is believed;
 * while nobody leads, who and at which term is what the node with the highest term knows. What
 * nobody said is null.
 */
final class ClusterStatus {
  /** What became of the question to one node. */
  record Answer(Boolean alive, NodeLogs logs) {
    /** Nobody listens there: the cluster has no such member now. */
    static final Answer GONE = new Answer(false, null);

    /** No answer in time. */
    static final Answer SILENT = new Answer(null, null);
  }

  private final ClusterView view;
  private final Map<String, Answer> answers;

  /**
   * @param answers by node
   */
  ClusterStatus(ClusterView view, Map<String, Answer> answers) {
    this.view = view;
    this.answers = answers;
  }

  /** Every voter, sorted, and who else was asked. */
  static Set<String> nodes(ClusterView view) {
    return new TreeSet<>(view.nodes());
  }

  /**
   * @param dispatcher the node whose dispatcher answers, or null
   */
  JsonObject json(String dispatcher) {
    JsonArray nodes = new JsonArray();
    for (String node : nodes(view)) {
      Answer answer = answers.getOrDefault(node, Answer.SILENT);
      nodes.add(
          new JsonObject()
              .put("node", node)
              .put("alive", answer.alive())
              .put("host", answer.logs() == null ? null : answer.logs().host())
              .put("featureLevel", answer.logs() == null ? null : answer.logs().levels().read()));
    }
    JsonArray logs = new JsonArray();
    groupNames().forEach(name -> logs.add(log(name)));
    return new JsonObject()
        .put("cluster", view.cluster())
        .put("node", view.node())
        .put("dispatcher", dispatcher)
        .put("featureLevel", featureLevel())
        .put("nodes", nodes)
        .put("logs", logs);
  }

  /** It never goes down, and some may not know yet: the highest that anybody knows counts. */
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

  /** Who leads meta by what the nodes say, or null. */
  String metaLeader() {
    NodeLogs.Group believed = believed(said("meta"));
    return believed == null ? view.metaLeader() : believed.leader();
  }

  private List<NodeLogs.Group> said(String name) {
    List<NodeLogs.Group> said = new ArrayList<>();
    each(name, (node, group) -> said.add(group));
    return said;
  }

  private static NodeLogs.Group believed(List<NodeLogs.Group> said) {
    return said.stream().max(ClusterStatus::rank).orElse(null);
  }

  /** A leader before those who follow, then the higher term, then who knows of a leader. */
  private static int rank(NodeLogs.Group a, NodeLogs.Group b) {
    if (a.term() != b.term()) {
      return Long.compare(a.term(), b.term());
    }
    if (a.leads() != b.leads()) {
      return a.leads() ? 1 : -1;
    }
    return Boolean.compare(a.leader() != null, b.leader() != null);
  }

  private JsonObject log(String name) {
    NodeLogs.Group group = believed(said(name));
    boolean led = group != null && group.leads();
    JsonArray followers = new JsonArray();
    for (String node : nodes(view)) {
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
        // Who should not lead the group, by what each node says of itself.
        .put("ineligible", lines(name, "reason", NodeLogs.Condition::ineligible))
        .put("digests", digests(name))
        // Whose state differs from whose, by what each node has found.
        .put("diverged", lines(name, "from", NodeLogs.Condition::differs));
  }

  /** What each node that answers says of its own part in the group. */
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
   * A line for each entry of what the nodes say of the group.
   *
   * @param key what the keys of the entries are
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

  /** Those of nodes that are equally far must be equal. */
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
