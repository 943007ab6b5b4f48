package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/** Makes the nodes and logs of the live state from an answer of {@code evenkeel.api.cluster}. */
final class ClusterFacts {
  private ClusterFacts() {}

  static Map<String, Object> of(JsonObject status) {
    Map<String, Object> nodes = new LinkedHashMap<>();
    for (JsonObject node : Json.objects(status.getJsonArray("nodes"))) {
      nodes.put(node.getString("node"), node(node));
    }
    Map<String, Object> logs = new LinkedHashMap<>();
    for (JsonObject log : Json.objects(status.getJsonArray("logs"))) {
      logs.put(log.getString("group"), log(log));
    }
    Map<String, Object> cluster = new LinkedHashMap<>();
    Json.put(cluster, "id", status.getString("cluster"));
    cluster.put("nodes", nodes);
    cluster.put("logs", logs);
    return cluster;
  }

  private static Map<String, Object> node(JsonObject node) {
    Map<String, Object> state =
        Json.copy(node, "alive", "host", "version", "membership", "zone", "bytes", "message");
    JsonObject moving = node.getJsonObject("moving");
    if (moving != null && !moving.isEmpty()) {
      state.put("moving", moving.size());
      state.put("bytesLeft", coarse(node.getLong("bytesLeft", 0L)));
    }
    JsonObject disk = node.getJsonObject("disk");
    if (disk != null) {
      Json.put(state, "diskFreeBytes", coarse(disk.getLong("freeBytes")));
      Json.put(state, "diskFreeBytesMin", disk.getLong("freeBytesMin"));
    }
    return state;
  }

  /** In whole MiB, so that small changes make no patches. */
  private static long coarse(long bytes) {
    return bytes >> 20 << 20;
  }

  private static Map<String, Object> log(JsonObject log) {
    Map<String, Object> followers = new LinkedHashMap<>();
    for (JsonObject follower : Json.objects(log.getJsonArray("followers"))) {
      followers.put(follower.getString("node"), Json.copy(follower, "matchIndex", "lagEntries"));
    }
    Map<String, Object> state = Json.copy(log, "leader", "term", "commitIndex", "appliedIndex");
    state.put("followers", followers);
    Map<String, Object> ineligible = new LinkedHashMap<>();
    for (JsonObject node : Json.objects(log.getJsonArray("ineligible"))) {
      @SuppressWarnings("unchecked")
      Map<String, Object> reasons =
          (Map<String, Object>)
              ineligible.computeIfAbsent(node.getString("node"), any -> new LinkedHashMap<>());
      Json.put(reasons, node.getString("reason"), node.getString("detail"));
    }
    state.put("ineligible", ineligible);
    Map<String, Object> storage = new LinkedHashMap<>();
    for (JsonObject node : Json.objects(log.getJsonArray("storage"))) {
      storage.put(
          node.getString("node"), Json.copy(node, "liveBytes", "deadBytes", "lostMessages"));
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
