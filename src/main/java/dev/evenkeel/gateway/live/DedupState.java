package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/** What deduplication does, or would do, for a group. */
final class DedupState {
  private DedupState() {}

  /**
   * @param dedup as the dispatcher answers, or null
   * @return null if it is off and the group's messages are not known to repeat themselves
   */
  static Map<String, Object> of(JsonObject dedup) {
    if (dedup == null) {
      return null;
    }
    JsonObject repetition = dedup.getJsonObject("repetition", new JsonObject());
    String level = repetition.getString("level");
    String mode = dedup.getString("mode");
    boolean on = mode != null && !mode.equals("off");
    if (!on && (level == null || level.equals("none"))) {
      return null;
    }
    Map<String, Object> state = new LinkedHashMap<>();
    Json.put(state, "mode", mode);
    if (on) {
      Json.put(state, "savedPercent", percent(dedup.getDouble("savedShare")));
      Json.put(state, "declined", Json.number(dedup, "declined"));
      Json.put(state, "processing", Json.number(dedup, "processing"));
      Json.put(state, "waiting", Json.number(dedup, "waiting"));
      Json.put(state, "lost", Json.number(dedup, "lost"));
      Map<String, Object> hot = new LinkedHashMap<>();
      for (JsonObject each : Json.objects(dedup.getJsonArray("hot"))) {
        hot.put(each.getString("key"), Json.number(each, "declined"));
      }
      state.put("hot", hot);
    }
    Json.put(state, "repetition", level);
    Json.put(state, "wouldSavePercent", percent(repetition.getDouble("declinedShare")));
    return state;
  }

  private static Number percent(Double share) {
    return share == null ? null : Json.rounded(share * 100);
  }
}
