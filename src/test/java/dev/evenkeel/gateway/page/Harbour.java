package dev.evenkeel.gateway.page;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;

/**
 * A cluster of three nodes in which several things need attention: the state that the page gets,
 * and the answers of the API that belong to it.
 */
final class Harbour {
  private static final long MIB = 1 << 20;
  private static final String[] MEMBERS = {"amber", "birch", "cedar"};

  private Harbour() {}

  /** A server with all of it. */
  static FakeLive server() {
    FakeLive live = new FakeLive(state());
    live.answer("GET /api/topics/orders", 200, topic());
    live.answer("GET /api/topics/audit-trail", 200, topic().put("name", "audit-trail"));
    live.answer("GET /api/rebalances", 200, new JsonArray());
    live.answer("POST /api/groups/billing/plan", 200, plan());
    return live;
  }

  static JsonObject state() {
    JsonObject state = Facts.lone("orders", 8, "billing", MEMBERS);
    cluster(state.getJsonObject("cluster"));
    state
        .getJsonObject("topics")
        .put("payments", Facts.topic(6).put("delayed", 14))
        .put("audit-trail", Facts.topic(2).put("rate", 0).put("delayed", 0));
    JsonObject groups = state.getJsonObject("groups");
    groups.getJsonObject("billing").put("failures", new JsonObject().put("deadLetters", 7));
    groups.put("audit", Facts.group("payments", 6));
    var reports = Facts.group("orders", 8, "dune").put("paused", true).put("shardsPaused", 8);
    reports
        .getJsonObject("shards")
        .forEach(shard -> ((JsonObject) shard.getValue()).put("paused", true));
    groups.put("reports", reports);
    state.put("moves", moves());
    return state;
  }

  private static void cluster(JsonObject cluster) {
    JsonObject nodes = cluster.getJsonObject("nodes");
    nodes.put("n1", node("10.0.0.11", "0.2.0", 48 << 10));
    nodes.put("n2", node("10.0.0.12", "0.1.0", 300));
    nodes.put("n3", new JsonObject().put("alive", false));
    JsonObject logs = cluster.getJsonObject("logs");
    for (String name : logs.fieldNames()) {
      logs.getJsonObject(name)
          .put(
              "followers",
              new JsonObject()
                  .put("n2", new JsonObject().put("matchIndex", 4711).put("lagEntries", 0))
                  .put("n3", new JsonObject()))
          .put("ineligible", new JsonObject())
          .put(
              "storage",
              Facts.patch(
                  JsonObject.of("liveBytes", 48 * MIB, "deadBytes", 12 * MIB, "lostMessages", 0),
                  "n1"));
    }
    logs.getJsonObject("d1").put("leader", "n2");
    logs.getJsonObject("d2").remove("leader");
  }

  private static JsonObject node(String host, String version, long freeMib) {
    return new JsonObject()
        .put("alive", true)
        .put("host", host)
        .put("version", version)
        .put("membership", "MEMBER")
        .put("bytes", 96 * MIB)
        .put("diskFreeBytes", freeMib * MIB)
        .put("diskFreeBytesMin", 256 * MIB);
  }

  /** In the last eight minutes, birch and then cedar joined, and cedar came back after a crash. */
  private static JsonObject moves() {
    JsonObject moves = new JsonObject();
    add(moves, 470, null, "amber", "member joined", 0, 1, 2, 3, 4, 5, 6, 7);
    add(moves, 390, "amber", "birch", "member joined", 1, 3, 5, 7);
    add(moves, 250, "amber", "cedar", "member joined", 2, 4);
    add(moves, 249, "birch", "cedar", "member joined", 7);
    add(moves, 140, "cedar", "amber", "member crashed", 2, 4);
    add(moves, 140, "cedar", "birch", "member crashed", 7);
    add(moves, 60, "amber", "cedar", "member joined", 2, 6);
    add(moves, 59, "birch", "cedar", "handover timed out", 5);
    return moves;
  }

  private static void add(
      JsonObject moves, int agoSeconds, String from, String to, String reason, int... shards) {
    for (int shard : shards) {
      int number = moves.size() + 1;
      moves.put(
          String.valueOf(number),
          Facts.move("billing", "orders", shard, from, to, reason)
              .put(
                  "time", Instant.now().minusSeconds(agoSeconds).plusMillis(shard * 40L).toString())
              .put("pauseMs", 9 + 3 * shard)
              .put("epoch", number));
    }
  }

  /** What {@code POST /api/groups/billing/plan} tells if one more consumer joins. */
  static JsonObject plan() {
    JsonObject owners = new JsonObject();
    JsonObject loads = new JsonObject();
    JsonArray moves = new JsonArray();
    for (int i = 0; i < 8; i++) {
      String now = MEMBERS[i % 3];
      String then = i < 2 ? "new-1" : now;
      if (!owners.containsKey(then)) {
        owners.put(then, new JsonArray());
      }
      owners.getJsonArray(then).add("orders/" + i);
      if (!then.equals(now)) {
        moves.add(JsonObject.of("topic", "orders", "shard", i, "from", now, "to", then));
      }
    }
    for (String owner : owners.fieldNames()) {
      loads.put(
          owner,
          new JsonObject()
              .put("shards", owners.getJsonArray(owner).size())
              .put("lag", 27)
              .put("busy", owner.equals("new-1") ? null : (Double) 0.42)
              .put("bytesPerSecond", owner.equals("new-1") ? null : (Double) 2_048.2));
    }
    return new JsonObject().put("moves", moves).put("owners", owners).put("loads", loads);
  }

  /** The topic orders, as {@code GET /api/topics/orders} tells it: it had two shards once. */
  static JsonObject topic() {
    JsonArray shards = new JsonArray();
    for (int i = 0; i < 8; i++) {
      shards.add(
          new JsonObject()
              .put("shard", i)
              .put("sealed", i < 2)
              .put("parents", i < 2 ? new JsonArray() : new JsonArray().add(i % 2))
              .put("start", 100L * i)
              .put("end", 10_000 + 500L * i)
              .put("bytes", (i + 1) * MIB)
              .put("delayed", i)
              .put("nextDueMillis", i == 0 ? null : (Long) 1_795_187_616_802L)
              .put("logGroup", "d" + i % 3)
              .put("leader", i % 3 == 2 ? null : "n" + (1 + i % 3)));
    }
    JsonArray logGroups = new JsonArray();
    for (int i = 0; i < 3; i++) {
      logGroups.add(
          new JsonObject()
              .put("group", "d" + i)
              .put("leader", i == 2 ? null : "n" + (1 + i))
              .put("liveBytes", i == 2 ? null : (Long) (48 * MIB))
              .put("deadBytes", i == 2 ? null : (Long) (12 * MIB))
              .put("lostMessages", i == 2 ? null : (Integer) 0));
    }
    return new JsonObject()
        .put("name", "orders")
        .put("shards", 6)
        .put("retentionMillis", 86_400_000)
        .put("ageMillisMax", -1)
        .put("shardBytesMax", 1 << 30)
        .put("createdMillis", 1_795_187_616_802L)
        .put("messages", 91_200)
        .put("bytes", 36 * MIB)
        .put("messagesDropped", 0)
        .put("delayed", 28)
        .put("nextDueMillis", 1_795_187_616_802L)
        .put("shardList", shards)
        .put("logGroups", logGroups);
  }
}
