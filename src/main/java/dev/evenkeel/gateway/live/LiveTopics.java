package dev.evenkeel.gateway.live;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TopicLimits;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes the topics of the live state, with the rates of their messages. */
final class LiveTopics {
  private static final long WINDOW_MILLIS = 3_000;

  private static final String[] LIMITS =
      RecordJson.of(TopicLimits.class).fields().toArray(String[]::new);

  private final Kept<Meter> meters = new Kept<>();

  Map<String, Object> take(List<JsonObject> topics, long nowMillis) {
    meters.next();
    Map<String, Object> all = new LinkedHashMap<>();
    for (JsonObject topic : topics) {
      String name = topic.getString("name");
      Meter meter = meters.of(name, () -> new Meter(WINDOW_MILLIS));
      Long end = topic.getLong("end");
      if (end != null) {
        meter.add(nowMillis, end);
      }
      Map<String, Object> state = Json.copy(topic, "shards", "end");
      Json.put(state, "rate", Json.rounded(meter.perSecond()));
      Json.copy(topic, state, "bytes", "delayed");
      Json.copy(topic, state, LIMITS);
      all.put(name, state);
    }
    return all;
  }
}
