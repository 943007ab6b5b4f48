package dev.evenkeel.gateway.page;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Base64;
import java.util.Random;

/** Answers of the API about topic orders and group billing, as a node gives them. */
final class ApiFacts {
  static final String BIG = "x".repeat(200_000);
  private static final long MONDAY = 1_795_000_000_000L;

  private ApiFacts() {}

  /** A topic with three shards, whose messages {@link #serveMessages} has. */
  static JsonObject topic() {
    JsonArray shards = new JsonArray();
    for (int shard = 0; shard < 3; shard++) {
      shards.add(
          new JsonObject()
              .put("shard", shard)
              .put("sealed", false)
              .put("start", shard == 1 ? 100 : 0)
              .put("end", shard == 1 ? 105 : 0)
              .put("bytes", shard == 1 ? 4_096 : 0)
              .put("leader", "n1"));
    }
    return new JsonObject()
        .put("name", "orders")
        .put("shards", 3)
        .put("retentionMillis", 86_400_000)
        .put("ageMillisMax", -1)
        .put("shardBytesMax", -1)
        .put("messages", 5)
        .put("bytes", 4_096)
        .put("delayed", 0)
        .put("shardList", shards);
  }

  static JsonObject message(long offset, String key, String payload) {
    return new JsonObject()
        .put("shard", 1)
        .put("offset", offset)
        .put("key", key)
        .put("payload", payload)
        .put("timestamp", MONDAY + offset * 1_000)
        .put("headers", new JsonObject())
        .put("logGroup", "d1")
        .put("logIndex", offset * 3);
  }

  static JsonArray messages() {
    byte[] bytes = new byte[300];
    new Random(5).nextBytes(bytes);
    bytes[0] = (byte) 0xff;
    JsonObject binary = message(102, null, null);
    binary.remove("payload");
    binary.put("payloadBase64", Base64.getEncoder().encodeToString(bytes));
    JsonObject json =
        message(
            100,
            "customer-1",
            "{\"order\":12345678901234567890,\"items\":[{\"sku\":\"bolt\",\"n\":12}],\"paid\":true}");
    json.put("headers", new JsonObject().put("source", "shop").put("trace", "4bf92f3577b34da6"));
    return new JsonArray()
        .add(json)
        .add(message(101, "customer-2", "plain text\nof two lines"))
        .add(binary)
        .add(message(103, "customer-1", BIG))
        .add(
            message(104, null, null)
                .putNull("timestamp")
                .put("unreadable", "the batch is damaged: CRC 1 instead of 2"));
  }

  static JsonObject letter(int shard, long offset) {
    return new JsonObject()
        .put("topic", "orders")
        .put("shard", shard)
        .put("offset", offset)
        .put("key", "customer-" + offset)
        .put("payload", "{\"order\":" + offset + "}")
        .put("attempts", 6)
        .put(
            "error",
            "java.lang.IllegalStateException: no such customer\n\tat shop.Billing.charge(Billing.java:42)")
        .put("firstFailed", "2026-11-20T15:13:31.114Z")
        .put("lastFailed", "2026-11-20T15:26:12.020Z");
  }

  static JsonArray letters() {
    return new JsonArray().add(letter(0, 4)).add(letter(1, 17)).add(letter(1, 21));
  }

  /** A server that has all of this. */
  static FakeLive serve() {
    FakeLive live = new FakeLive(state());
    serveMessages(live);
    serveLetters(live);
    return live;
  }

  /** The page's messages: the last ones, and nothing behind them. */
  private static void serveMessages(FakeLive live) {
    live.answer("GET /api/topics/orders", 200, topic());
    live.answer("GET /api/topics/orders/messages", 200, new JsonArray());
    live.answer("GET /api/topics/orders/messages?shard=1&offset=100&limit=50", 200, messages());
    for (int shard : new int[] {0, 2}) {
      live.answer(
          "GET /api/topics/orders/messages?shard=" + shard + "&offset=0&limit=50",
          200,
          new JsonArray());
    }
  }

  private static void serveLetters(FakeLive live) {
    String letters = "GET /api/groups/billing/dead-letters";
    live.answer(letters + "?limit=50", 200, letters());
    live.answer(letters, 200, new JsonArray());
    live.answer(
        "GET /api/groups/billing/retries",
        200,
        new JsonArray()
            .add(retry(7, 2).put("dueInMs", 4_200))
            .add(retry(9, 1).put("dueInMs", 0).put("blocksShard", true))
            .add(retry(12, 0).put("parked", true).putNull("dueInMs")));
  }

  private static JsonObject retry(long offset, int attempts) {
    String failed = attempts == 0 ? null : "2026-11-20T15:13:31.114Z";
    return new JsonObject()
        .put("topic", "orders")
        .put("shard", 0)
        .put("offset", offset)
        .put("parked", false)
        .put("blocksShard", false)
        .put("attempts", attempts)
        .put("firstFailed", failed)
        .put("lastFailed", failed);
  }

  /** A state with topic orders, group billing, and its failures. */
  static JsonObject state() {
    JsonObject state = Facts.lone("orders", 3, "billing", "amber", "birch");
    state
        .getJsonObject("groups")
        .getJsonObject("billing")
        .put(
            "failures",
            new JsonObject()
                .put("retriesWaiting", 2)
                .put("parked", 1)
                .put("shardsWaiting", 0)
                .put("deadLetters", 3)
                .put("breakersOpen", 0));
    return state;
  }
}
