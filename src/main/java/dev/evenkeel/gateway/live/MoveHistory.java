package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The moves that the dispatcher shows, under growing numbers. A new dispatcher knows the moves of
 * the former one, but perhaps not all figures of the last ones; those figures stay.
 */
final class MoveHistory {
  /** Identifies a move: a shard has each epoch only once. */
  private record Key(String group, String topic, Integer shard, Long epoch, String to) {}

  /** The reason that a dispatcher gives if it did not see why a shard moved. */
  private static final String UNKNOWN_REASON = "rebalance";

  private final Map<Key, Long> numbers = new LinkedHashMap<>();
  private Map<String, Object> moves = new LinkedHashMap<>();
  private long next = 1;

  /**
   * @param newestFirst the moves that the dispatcher knows now; all others are dropped
   */
  Map<String, Object> take(List<JsonObject> newestFirst) {
    Map<String, Object> now = new LinkedHashMap<>();
    Set<Key> kept = new HashSet<>();
    for (int i = newestFirst.size() - 1; i >= 0; i--) {
      JsonObject move = newestFirst.get(i);
      Key key =
          new Key(
              move.getString("group"),
              move.getString("topic"),
              move.getInteger("shard"),
              move.getLong("epoch"),
              move.getString("to"));
      kept.add(key);
      String number = String.valueOf(numbers.computeIfAbsent(key, fresh -> next++));
      now.put(number, state(move, (Map<?, ?>) moves.get(number)));
    }
    numbers.keySet().retainAll(kept);
    moves = now;
    return moves;
  }

  /**
   * @param former the state of the move until now, or null
   */
  private static Map<String, Object> state(JsonObject move, Map<?, ?> former) {
    Map<String, Object> state = Json.copy(move, "time", "group", "topic", "from", "to", "reason");
    Json.copy(move, state, "shard", "pauseMs", "releaseMs", "redelivered", "epoch", "capped");
    if (former != null) {
      former.forEach((fact, value) -> state.putIfAbsent((String) fact, value));
      if (UNKNOWN_REASON.equals(state.get("reason")) && former.containsKey("reason")) {
        state.put("reason", former.get("reason"));
      }
    }
    return state;
  }
}
