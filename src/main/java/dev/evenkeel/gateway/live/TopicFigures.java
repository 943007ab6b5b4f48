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
      Map<String, Object> state = new LinkedHashMap<>();
      Json.put(state, "shards", Json.number(topic, "shards"));
      Json.put(state, "end", end);
      Json.put(state, "rate", Json.rounded(meter.perSecond()));
      Json.put(state, "bytes", Json.number(topic, "bytes"));
      Json.put(state, "delayed", Json.number(topic, "delayed"));
      all.put(name, state);
    }
    return all;
  }
}
