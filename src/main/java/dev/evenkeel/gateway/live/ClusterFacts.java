package dev.evenkeel.gateway.live;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.ClusterStatusView.Log;
import dev.evenkeel.api.ClusterStatusView.Node;
import dev.evenkeel.api.ClusterStatusView.NodePlace;
import java.util.LinkedHashMap;
import java.util.Map;

/** Makes the nodes and logs of the live state from an answer of {@code evenkeel.api.cluster}. */
final class ClusterFacts {
  private ClusterFacts() {}

  static Map<String, Object> of(ClusterStatusView status) {
    Map<String, Object> nodes = new LinkedHashMap<>();
    status.nodes().forEach(node -> nodes.put(node.node(), node(node)));
    Map<String, Object> logs = new LinkedHashMap<>();
    status.logs().forEach(log -> logs.put(log.group(), log(log)));
    Map<String, Object> cluster = new LinkedHashMap<>();
    Json.put(cluster, "id", status.cluster());
    cluster.put("nodes", nodes);
    cluster.put("logs", logs);
    return cluster;
  }

  private static Map<String, Object> node(Node node) {
    Map<String, Object> state = Json.copy(node, "alive", "host", "version");
    NodePlace place = node.place();
    if (place != null) {
      Json.copy(place, state, "membership", "zone", "bytes", "message");
      if (place.moving() != null && !place.moving().isEmpty()) {
        state.put("moving", place.moving().size());
        state.put("bytesLeft", coarse(place.bytesLeft()));
      }
    }
    if (node.disk() != null) {
      state.put("diskFreeBytes", coarse(node.disk().freeBytes()));
      state.put("diskFreeBytesMin", node.disk().freeBytesMin());
    }
    return state;
  }

  /** In whole MiB, so that small changes make no patches. */
  private static long coarse(long bytes) {
    return bytes >> 20 << 20;
  }

  private static Map<String, Object> log(Log log) {
    Map<String, Object> state = Json.copy(log, "leader", "term", "commitIndex", "appliedIndex");
    Map<String, Object> followers = new LinkedHashMap<>();
    log.followers()
        .forEach(each -> followers.put(each.node(), Json.copy(each, "matchIndex", "lagEntries")));
    state.put("followers", followers);
    Map<String, Map<String, Object>> ineligible = new LinkedHashMap<>();
    log.ineligible()
        .forEach(
            each ->
                Json.put(
                    ineligible.computeIfAbsent(each.node(), any -> new LinkedHashMap<>()),
                    each.reason(),
                    each.detail()));
    state.put("ineligible", ineligible);
    Map<String, Object> storage = new LinkedHashMap<>();
    log.storage()
        .forEach(
            each ->
                storage.put(
                    each.node(), Json.copy(each, "liveBytes", "deadBytes", "lostMessages")));
    state.put("storage", storage);
    return state;
  }

  /** The state with the same nodes, when nothing is known of them. */
  static Map<String, Object> unknown(Map<String, Object> known) {
    Map<String, Object> nodes = new LinkedHashMap<>();
    if (known.get("nodes") instanceof Map<?, ?> before) {
      before.keySet().forEach(node -> nodes.put((String) node, new LinkedHashMap<>()));
    }
    Map<String, Object> cluster = new LinkedHashMap<>(known);
    cluster.put("nodes", nodes);
    cluster.put("logs", new LinkedHashMap<>());
    return cluster;
  }
}
