package dev.evenkeel.gateway.live;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.ClusterStatusView.Follower;
import dev.evenkeel.api.ClusterStatusView.Log;
import dev.evenkeel.api.ClusterStatusView.Node;
import dev.evenkeel.api.ClusterStatusView.NodePlace;
import dev.evenkeel.api.ClusterStatusView.Storage;
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
    Map<String, Object> state = new LinkedHashMap<>();
    Json.put(state, "alive", node.alive());
    Json.put(state, "host", node.host());
    Json.put(state, "version", node.version());
    NodePlace place = node.place();
    if (place != null) {
      Json.put(state, "membership", place.membership());
      Json.put(state, "zone", place.zone());
      Json.put(state, "bytes", place.bytes());
      Json.put(state, "message", place.message());
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
    Map<String, Object> state = new LinkedHashMap<>();
    Json.put(state, "leader", log.leader());
    Json.put(state, "term", log.term());
    Json.put(state, "commitIndex", log.commitIndex());
    Json.put(state, "appliedIndex", log.appliedIndex());
    Map<String, Object> followers = new LinkedHashMap<>();
    for (Follower each : log.followers()) {
      Map<String, Object> follower = new LinkedHashMap<>();
      Json.put(follower, "matchIndex", each.matchIndex());
      Json.put(follower, "lagEntries", each.lagEntries());
      followers.put(each.node(), follower);
    }
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
    for (Storage each : log.storage()) {
      Map<String, Object> stored = new LinkedHashMap<>();
      stored.put("liveBytes", each.liveBytes());
      stored.put("deadBytes", each.deadBytes());
      stored.put("lostMessages", each.lostMessages());
      storage.put(each.node(), stored);
    }
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
