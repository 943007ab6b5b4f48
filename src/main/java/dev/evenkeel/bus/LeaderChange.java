package dev.evenkeel.bus;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * A node leads a log group in a term. A hint: who misses it finds out by asking.
 *
 * @param group number of the data group, or {@link ClusterView#META}
 */
public record LeaderChange(int group, String node, long term) {
  /**
   * What a broker announces.
   *
   * @param began the node has just begun to lead them, so that what waited may be tried; else it is
   *     repeated for those who missed it
   */
  public record News(List<LeaderChange> leaders, boolean began) {
    public News {
      leaders = List.copyOf(leaders);
    }

    public JsonObject toJson() {
      JsonArray array = new JsonArray();
      leaders.forEach(each -> array.add(each.toJson()));
      return new JsonObject().put("leaders", array).put("began", began);
    }

    public static News fromJson(JsonObject json) {
      List<LeaderChange> leaders = new ArrayList<>();
      for (Object each : json.getJsonArray("leaders")) {
        leaders.add(LeaderChange.fromJson((JsonObject) each));
      }
      return new News(leaders, json.getBoolean("began"));
    }
  }

  private JsonObject toJson() {
    return new JsonObject().put("group", group).put("node", node).put("term", term);
  }

  private static LeaderChange fromJson(JsonObject json) {
    return new LeaderChange(json.getInteger("group"), json.getString("node"), json.getLong("term"));
  }
}
