package dev.evenkeel.web.live;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The last {@link #MAX} moves, each under a number that grows. Another dispatcher begins with none:
 * those of the former stay here.
 */
final class MoveBook {
  static final int MAX = 200;

  /** A shard gets each epoch once. */
  private record Key(String group, String topic, Integer shard, Long epoch) {}

  private final Map<Key, Long> numbers = new LinkedHashMap<>();
  private final Map<String, Object> moves = new LinkedHashMap<>();
  private long next = 1;

  /**
   * @param newestFirst as the dispatcher knows them now
   */
  void take(List<JsonObject> newestFirst) {
    for (int i = newestFirst.size() - 1; i >= 0; i--) {
      JsonObject move = newestFirst.get(i);
      Key key =
          new Key(
              move.getString("group"),
              move.getString("topic"),
              move.getInteger("shard"),
              move.getLong("epoch"));
      long number = numbers.computeIfAbsent(key, fresh -> next++);
      moves.put(String.valueOf(number), state(move));
    }
    while (numbers.size() > MAX) {
      Key oldest = numbers.keySet().iterator().next();
      moves.remove(String.valueOf(numbers.remove(oldest)));
    }
  }

  /** A copy. */
  Map<String, Object> state() {
    return new LinkedHashMap<>(moves);
  }

  private static Map<String, Object> state(JsonObject move) {
    Map<String, Object> state = new LinkedHashMap<>();
    for (String text : List.of("time", "group", "topic", "from", "to", "reason")) {
      Json.put(state, text, move.getString(text));
    }
    for (String number : List.of("shard", "pauseMs", "releaseMs", "redelivered", "epoch")) {
      Json.put(state, number, Json.number(move, number));
    }
    return state;
  }
}
