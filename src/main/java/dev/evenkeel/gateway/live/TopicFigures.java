package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The topics of the state, with how fast messages come. */
final class TopicFigures {
  private static final long WINDOW_MILLIS = 3_000;

  private Map<String, Meter> meters = new HashMap<>();

  Map<String, Object> take(List<JsonObject> topics, long nowMillis) {
    Map<String, Meter> before = meters;
    meters = new HashMap<>();
    Map<String, Object> all = new LinkedHashMap<>();
    for (JsonObject topic : topics) {
      String name = topic.getString("name");
      Meter meter = before.containsKey(name) ? before.get(name) : new Meter(WINDOW_MILLIS);
      meters.put(name, meter);
      Long end = Json.number(topic, "end");
      if (end != null) {
        meter.add(nowMillis, end);
      }
      Map<String, Object> state = Json.copy(topic, "shards", "end");
      Json.put(state, "rate", Json.rounded(meter.perSecond()));
      Json.copy(topic, state, "bytes", "delayed");
      all.put(name, state);
    }
    return all;
  }
}
