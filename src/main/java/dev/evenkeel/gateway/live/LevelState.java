package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a group in mode level shows: bars by their members' names, so that changes stay small. */
final class LevelState {
  private LevelState() {}

  /**
   * @param level as the dispatcher answers, or null
   * @return null if the group is not in mode level
   */
  static Map<String, Object> of(JsonObject level) {
    if (level == null || Json.number(level, "range") == null) {
      return null;
    }
    Map<String, Object> state = new LinkedHashMap<>();
    Json.put(state, "range", Json.number(level, "range"));
    Json.put(state, "strategy", level.getString("strategy"));
    Json.put(state, "gap", Json.number(level, "gap"));
    Json.put(state, "round", Json.number(level, "round"));
    Json.put(state, "holder", level.getString("holder"));
    Json.put(state, "heldMs", Json.number(level, "heldMs"));
    Json.put(state, "setAside", Json.number(level, "setAside"));
    Map<String, Object> bars = new LinkedHashMap<>();
    for (JsonObject bar : Json.objects(level.getJsonArray("bars"))) {
      Map<String, Object> figures = new LinkedHashMap<>();
      Json.put(figures, "finished", Json.number(bar, "finished"));
      Json.put(figures, "inHand", Json.number(bar, "inHand"));
      bars.put(bar.getString("member"), figures);
    }
    state.put("bars", bars);
    return state;
  }
}
