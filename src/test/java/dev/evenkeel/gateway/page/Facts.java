package dev.evenkeel.gateway.page;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;

import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.TreeMap;

/** States of a cluster to show, and the patches between them. */
final class Facts {
  private Facts() {}

  static JsonObject patch(Object value, String... path) {
    JsonObject patch = new JsonObject();
    JsonObject inner = patch;
    for (int i = 0; i < path.length - 1; i++) {
      JsonObject next = new JsonObject();
      inner.put(path[i], next);
      inner = next;
    }
    inner.put(path[path.length - 1], value);
    return patch;
  }

  /**
   * A lone node with one topic and one group, whose shards are dealt out to the members in turn.
   */
  static JsonObject lone(String topic, int shards, String group, String... members) {
    JsonObject state = empty();
    state.getJsonObject("topics").put(topic, topic(shards));
    state.getJsonObject("groups").put(group, group(topic, shards, members));
    return state;
  }

  static JsonObject empty() {
    JsonObject logs = new JsonObject();
    for (String log : new String[] {"d0", "d1", "d2", "meta"}) {
      logs.put(
          log,
          new JsonObject()
              .put("leader", "n1")
              .put("term", 2)
              .put("commitIndex", 4711)
              .put("appliedIndex", 4711)
              .put("followers", new JsonObject()));
    }
    return new JsonObject()
        .put("server", new JsonObject().put("node", "n1").put("version", "0.1.0"))
        .put(
            "cluster",
            new JsonObject()
                .put("id", "harbour")
                .put("dispatcher", "n1")
                .put(
                    "nodes",
                    patch(new JsonObject().put("alive", true).put("host", "127.0.0.1"), "n1"))
                .put("logs", logs))
        .put("topics", new JsonObject())
        .put("groups", new JsonObject())
        .put("moves", new JsonObject());
  }

  static JsonObject topic(int shards) {
    return JsonObject.of("shards", shards, "end", 120_000, "rate", 250.5, "bytes", 48_000_000);
  }

  static JsonObject group(String topic, int shards, String... members) {
    JsonObject all = new JsonObject();
    Map<String, Integer> owned = new TreeMap<>();
    for (int shard = 0; shard < shards; shard++) {
      String owner = members.length == 0 ? null : members[shard % members.length];
      all.put(topic + "/" + shard, shard(topic, shard, owner, 10 + shard));
      if (owner != null) {
        owned.merge(owner, 1, Integer::sum);
      }
    }
    JsonObject people = new JsonObject();
    each(members, member -> people.put(member, member(owned.getOrDefault(member, 0))));
    return new JsonObject()
        .put("mode", "sharded")
        .put("status", members.length == 0 ? "UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS" : "OK")
        .put("lag", 10L * shards + (long) shards * (shards - 1) / 2)
        .put("lagSeconds", 0.4)
        .put("rate", 248.0)
        .put("members", people)
        .put("shards", all);
  }

  /**
   * A group in mode level: its shards are the dispatcher's, and each member has finished one
   * message more than the one before it, the first of them 1,000.
   */
  static JsonObject level(String topic, int shards, int range, String... members) {
    JsonObject group = group(topic, shards, "dispatcher@n1").put("mode", "level");
    JsonObject people = new JsonObject();
    JsonObject bars = new JsonObject();
    for (String member : members) {
      bars.put(member, bar(1_000 + bars.size(), 2));
      people.put(member, member(0));
    }
    JsonObject level =
        new JsonObject()
            .put("range", range)
            .put("strategy", "pull")
            .put("gap", members.length - 1)
            .put("round", 412)
            .put("setAside", 0)
            .put("bars", bars);
    return group.put("members", people).put("level", level);
  }

  static JsonObject bar(long finished, int inHand) {
    return new JsonObject().put("finished", finished).put("inHand", inHand);
  }

  static JsonObject member(int shards) {
    return new JsonObject()
        .put("node", "8f14e45f")
        .put("host", "10.0.0.12")
        .put("consumed", 40_000)
        .put("rate", 83.5)
        .put("lastHeartbeatMs", 420)
        .put("shards", shards);
  }

  /**
   * @param owner null: nobody
   */
  static JsonObject shard(String topic, int shard, String owner, long lag) {
    JsonObject facts =
        new JsonObject()
            .put("topic", topic)
            .put("shard", shard)
            .put("epoch", 3)
            .put("state", owner == null ? "FREE" : "OWNED")
            .put("position", 10_000 - lag)
            .put("committed", Math.max(0, 9_990 - lag))
            .put("end", 10_000)
            .put("lag", lag)
            .put("lagSeconds", lag / 50.0)
            .put("rate", 20.5);
    return owner == null ? facts : facts.put("owner", owner);
  }

  static JsonObject move(
      String group, String topic, int shard, String from, String to, String reason) {
    return new JsonObject()
        .put("time", "2026-01-01T12:00:00.000Z")
        .put("group", group)
        .put("topic", topic)
        .put("shard", shard)
        .put("from", from)
        .put("to", to)
        .put("reason", reason)
        .put("pauseMs", 12)
        .put("releaseMs", 3)
        .put("redelivered", 0)
        .put("capped", reason.equals("handover timed out"))
        .put("epoch", 4);
  }

  /** Groups g000 and so on, each of a topic of its own, with four members. */
  static JsonObject many(int groups, int shards) {
    JsonObject state = empty();
    for (int i = 0; i < groups; i++) {
      String topic = String.format("t%03d", i);
      String group = String.format("g%03d", i);
      state.getJsonObject("topics").put(topic, topic(shards));
      state
          .getJsonObject("groups")
          .put(group, group(topic, shards, group + "-a", group + "-b", group + "-c", group + "-d"));
    }
    for (int i = 0; i < 200; i++) {
      String group = String.format("g%03d", i % groups);
      state
          .getJsonObject("moves")
          .put(
              String.valueOf(i + 1),
              move(
                      group,
                      String.format("t%03d", i % groups),
                      i % shards,
                      null,
                      group + "-a",
                      "member joined")
                  .put("time", java.time.Instant.now().minusSeconds(300 - i).toString()));
    }
    return state;
  }

  /** A large group: members c001 and so on. */
  static JsonObject large(int members, int shards) {
    String[] names = new String[members];
    times(members, i -> names[i] = String.format("c%03d", i + 1));
    return lone("events", shards, "large", names);
  }
}
