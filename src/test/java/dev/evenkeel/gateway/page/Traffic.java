package dev.evenkeel.gateway.page;

import io.vertx.core.json.JsonObject;
import java.util.Random;

/** Changes as a busy cluster would send them. */
final class Traffic {
  private Traffic() {}

  /** Half a second of work on one group with one topic. */
  static JsonObject tick(
      JsonObject state, String group, String topic, int shards, double second, Random random) {
    JsonObject changes = new JsonObject();
    long sum = 0;
    for (int shard = 0; shard < shards; shard++) {
      double swell = 30 + 26 * Math.sin(second / (6.0 + shard) + shard);
      long lag = Math.max(0, Math.round(swell + 8 * random.nextGaussian()));
      sum += lag;
      long end = Math.round(10_000 + second * 25);
      changes.put(
          topic + "/" + shard,
          new JsonObject()
              .put("lag", lag)
              .put("lagSeconds", Math.round(lag / 2.5) / 10.0)
              .put("end", end)
              .put("committed", end - lag));
    }
    double rate = 280 + 40 * Math.sin(second / 13) + 9 * random.nextGaussian();
    var facts = new JsonObject().put("shards", changes).put("lag", sum).put("lagSeconds", 1.4);
    facts.put("rate", Math.round(rate * 10) / 10.0);
    return new JsonObject()
        .put("groups", new JsonObject().put(group, facts))
        .put(
            "topics",
            Facts.patch(Math.round(10 * (rate + 6 * random.nextGaussian())) / 10.0, topic, "rate"));
  }

  /** The shards are told to go to {@code to}. */
  static JsonObject drain(String group, String topic, String to, int... shards) {
    JsonObject changes = new JsonObject();
    for (int shard : shards) {
      changes.put(
          topic + "/" + shard, new JsonObject().put("state", "DRAINING").put("nextOwner", to));
    }
    return Facts.patch(changes, "groups", group, "shards");
  }

  /**
   * The shards have come to {@code to}.
   *
   * @param firstMove key of the first move
   */
  static JsonObject grant(
      String group, String topic, String from, String to, int firstMove, int... shards) {
    JsonObject changes = new JsonObject();
    JsonObject moves = new JsonObject();
    for (int shard : shards) {
      changes.put(
          topic + "/" + shard,
          JsonObject.of("state", "OWNED", "owner", to)
              .putNull("nextOwner")
              .putNull("drainDeadline")
              .put("epoch", 4));
      moves.put(
          String.valueOf(firstMove + moves.size()),
          Facts.move(group, topic, shard, from, to, "member joined")
              .put("time", java.time.Instant.now().toString())
              .put("pauseMs", 9 + shard));
    }
    return Facts.patch(changes, "groups", group, "shards").put("moves", moves);
  }
}
