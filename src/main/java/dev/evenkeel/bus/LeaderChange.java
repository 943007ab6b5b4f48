package dev.evenkeel.bus;

import io.vertx.core.json.JsonObject;

/**
 * A node leads a log group from a term on. A hint: who misses it finds out by asking.
 *
 * @param group number of the data group, or {@link ClusterView#META}
 */
public record LeaderChange(int group, String node, long term) {
  public JsonObject toJson() {
    return new JsonObject().put("group", group).put("node", node).put("term", term);
  }

  public static LeaderChange fromJson(JsonObject json) {
    return new LeaderChange(json.getInteger("group"), json.getString("node"), json.getLong("term"));
  }
}
