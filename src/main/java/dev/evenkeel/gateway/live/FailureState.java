package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a group has of messages that failed. */
final class FailureState {
  private static final List<String> FIGURES =
      List.of("retriesWaiting", "parked", "shardsWaiting", "deadLetters");

  private FailureState() {}

  /**
   * @param group as the dispatcher answers
   * @return null if nothing of the kind is known; without figures if they are not known
   */
  static Map<String, Object> of(JsonObject group) {
    JsonObject failures = group.getJsonObject("failures");
    Map<String, Object> state = new LinkedHashMap<>();
    long sum = 0;
    for (String figure : FIGURES) {
      Long count = failures == null ? null : Json.number(failures, figure);
      Json.put(state, figure, count);
      sum += count == null ? 0 : count;
    }
    long open =
        Json.objects(group.getJsonArray("members")).stream()
            .filter(member -> "open".equals(member.getString("breaker")))
            .count();
    state.put("breakersOpen", open);
    return sum + open == 0 ? null : state;
  }
}
