package dev.evenkeel.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class LiveStateTest {
  private final LiveState state = new LiveState("n1", "1");

  /** An answer of a made-up dispatcher. */
  private static JsonObject answer(JsonArray groups, JsonArray topics, JsonArray moves) {
    JsonObject facts = new JsonObject().put("groups", groups).put("topics", topics);
    return new JsonObject().put("facts", facts).put("tag", "t").put("moves", moves);
  }

  private static JsonObject shard(int shard, String owner, Long committed, Long end) {
    return JsonObject.of("topic", "orders", "shard", shard, "owner", owner)
        .putNull("nextOwner")
        .putNull("drainDeadline")
        .put("epoch", 1)
        .put("state", owner == null ? "FREE" : "OWNED")
        .put("committed", committed)
        .put("end", end)
        .put("lag", committed == null || end == null ? null : (Long) (end - committed));
  }

  private static JsonObject group(JsonArray shards) {
    JsonObject member =
        new JsonObject()
            .put("member", "c1")
            .put("node", "uuid")
            .put("host", "h")
            .put("consumed", 7)
            .put("shards", new JsonArray().add("orders/0"))
            .put("lastHeartbeatMs", 12);
    return new JsonObject()
        .put("group", "g")
        .put("mode", "sharded")
        .put("status", "OK")
        .put("members", new JsonArray().add(member))
        .put("shards", shards);
  }

  private static Map<String, Object> level(JsonObject json) {
    return LiveGroups.level(RecordJson.of(GroupView.Level.class).read(json));
  }

  private static Map<String, Object> failures(JsonObject json) {
    return LiveGroups.failures(RecordJson.of(GroupView.class).read(json));
  }

  private static Map<String, Object> dedup(JsonObject json) {
    return LiveGroups.dedup(RecordJson.of(GroupView.Dedup.class).read(json));
  }

  @Example
  void aGroupInModeLevelHasItsBarsByMember() {
    JsonObject level =
        JsonObject.of("range", 10, "strategy", "pull", "gap", 0, "round", 7)
            .putNull("holder")
            .putNull("heldMs")
            .put("setAside", 1)
            .put(
                "bars",
                new JsonArray()
                    .add(new JsonObject().put("member", "a").put("finished", 70).put("inHand", 2)));
    Map<String, Object> facts = level(level);
    assertThat(facts).doesNotContainKeys("holder", "heldMs").containsEntry("gap", 0L);
    assertThat(facts.get("bars")).isEqualTo(Map.of("a", Map.of("finished", 70L, "inHand", 2L)));
    // A group in another mode has none of it, and a level group whose figures are unknown no bars.
    assertThat(level(new JsonObject().putNull("range"))).isNull();
    assertThat(LiveGroups.level(null)).isNull();
    assertThat(level(new JsonObject().put("range", 10)).get("bars")).isEqualTo(Map.of());
  }

  @Example
  void failuresAreShownIfThereAreAny() {
    JsonObject none =
        new JsonObject("{\"retriesWaiting\":0,\"parked\":0,\"shardsWaiting\":0,\"deadLetters\":0}");
    JsonObject group = new JsonObject().put("failures", none).put("members", new JsonArray());
    assertThat(failures(group)).isNull();
    assertThat(failures(group.copy().putNull("failures"))).isNull();
    JsonObject some = none.copy().put("deadLetters", 3);
    assertThat(failures(group.copy().put("failures", some)))
        .isEqualTo(
            Map.of(
                "retriesWaiting",
                0L,
                "parked",
                0L,
                "shardsWaiting",
                0L,
                "deadLetters",
                3L,
                "breakersOpen",
                0L));
    JsonArray pausing = new JsonArray().add(new JsonObject().put("breaker", "open"));
    assertThat(failures(group.copy().put("members", pausing).putNull("failures")))
        .as("what is not known is not there")
        .isEqualTo(Map.of("breakersOpen", 1L));
  }

  @Example
  void dedupIsShownIfItIsOnOrWouldBeWorthIt() {
    JsonObject repeats = new JsonObject().put("level", "high").put("declinedShare", 0.4126);
    JsonObject on =
        new JsonObject()
            .put("mode", "key")
            .put("savedShare", 0.5)
            .put("declined", 7)
            .put("repetition", repeats)
            .put("hot", new JsonArray().add(new JsonObject().put("key", "a").put("declined", 7)));
    assertThat(dedup(on))
        .containsEntry("savedPercent", 50.0)
        .containsEntry("declined", 7L)
        .containsEntry("hot", Map.of("a", 7L))
        .doesNotContainKeys("processing", "waiting", "lost");
    JsonObject off = new JsonObject().put("mode", "off");
    assertThat(dedup(off.copy().put("repetition", repeats)))
        .isEqualTo(Map.of("mode", "off", "repetition", "high", "wouldSavePercent", 41.3));
    assertThat(dedup(off.copy().put("repetition", new JsonObject().put("level", "none")))).isNull();
    assertThat(dedup(off)).isNull();
    assertThat(LiveGroups.dedup(null)).isNull();
  }

  private static JsonObject move(long epoch, Long pause) {
    return new JsonObject()
        .put("time", "2026-01-01T00:00:00Z")
        .put("group", "g")
        .put("topic", "orders")
        .put("shard", 0)
        .put("from", "a")
        .put("to", "b")
        .put("reason", "member joined")
        .put("pauseMs", pause)
        .put("redelivered", 0)
        .put("epoch", epoch);
  }

  private JsonObject told() {
    state.patch();
    return new JsonObject(new JsonObject(state.sent()).encode());
  }

  @Example
  void figuresThatAreNotKnownAreAbsentAndNeverZero() {
    JsonArray shards = new JsonArray().add(shard(0, "c1", 5L, 5L)).add(shard(1, null, null, null));
    state.looked("n1", answer(new JsonArray().add(group(shards)), new JsonArray(), null), 1_000);
    JsonObject group = told().getJsonObject("groups").getJsonObject("g");
    assertThat(group.containsKey("lag")).isFalse();
    assertThat(group.containsKey("lagSeconds")).isFalse();
    assertThat(group.containsKey("rate")).isFalse();
    JsonObject first = group.getJsonObject("shards").getJsonObject("orders/0");
    assertThat(first.getLong("lag")).isZero();
    assertThat(first.getLong("lagSeconds")).isZero();
    JsonObject second = group.getJsonObject("shards").getJsonObject("orders/1");
    assertThat(second.fieldNames()).containsExactlyInAnyOrder("topic", "shard", "epoch", "state");
    assertThat(group.getJsonObject("members").getJsonObject("c1").getInteger("shards")).isOne();
  }

  @Example
  void ratesAndLagInSecondsComeOfSeveralAnswers() {
    for (int i = 0; i <= 10; i++) {
      JsonArray shards = new JsonArray().add(shard(0, "c1", 10L * Math.max(0, i - 4), 10L * i));
      JsonArray topics =
          new JsonArray()
              .add(JsonObject.of("name", "orders", "shards", 1, "end", 10 * i, "bytes", 1));
      state.looked("n1", answer(new JsonArray().add(group(shards)), topics, null), i * 500L);
    }
    JsonObject told = told();
    assertThat(told.getJsonObject("topics").getJsonObject("orders").getDouble("rate"))
        .isEqualTo(20);
    JsonObject shard =
        told.getJsonObject("groups")
            .getJsonObject("g")
            .getJsonObject("shards")
            .getJsonObject("orders/0");
    assertThat(shard.getLong("lag")).isEqualTo(40);
    // The message at 60 came with the first tenth of what was seen half a second later.
    assertThat(shard.getDouble("lagSeconds")).isBetween(1.8, 2.0);
  }

  @Example
  void groupsStayWhenTheDispatcherFallsSilent() {
    JsonArray shards = new JsonArray().add(shard(0, "c1", 5L, 5L));
    state.looked("n2", answer(new JsonArray().add(group(shards)), new JsonArray(), null), 1_000);
    assertThat(told().getJsonObject("cluster").getString("dispatcher")).isEqualTo("n2");
    state.dispatcherSilent();
    JsonObject told = told();
    assertThat(told.getJsonObject("cluster").containsKey("dispatcher")).isFalse();
    assertThat(told.getJsonObject("groups").getJsonObject("g").getString("status")).isEqualTo("OK");
  }

  private static final Instant READ = Instant.parse("2026-11-30T12:00:00Z");

  /** An entry of the ownership map. */
  private static JsonObject owner(String state, String owner, long epoch) {
    return JsonObject.of("v", 1, "state", state, "owner", owner, "epoch", epoch);
  }

  private static JsonObject member(String member) {
    return JsonObject.of("v", 1, "group", "g", "member", member, "instance", member + "-1")
        .put("mode", "sharded")
        .put("topics", new JsonArray().add("orders"))
        .put("clusterMember", "session-" + member)
        .put("host", "h2")
        .put("memberTimeoutMillis", 5_000);
  }

  private JsonObject shardNow(int shard) {
    JsonObject group = told().getJsonObject("groups").getJsonObject("g");
    return group.getJsonObject("shards").getJsonObject("orders/" + shard);
  }

  @Example
  void theMapSaysWhoOwnsWhatWhileNoDispatcherAnswers() {
    JsonArray shards = new JsonArray().add(shard(0, "c1", 5L, 7L)).add(shard(1, "c1", 5L, 5L));
    state.looked("n2", answer(new JsonArray().add(group(shards)), new JsonArray(), null), 1_000);
    Map<String, JsonObject> ownership =
        Map.of(
            "g/orders/0", owner("OWNED", "c2", 2).put("nextOwner", null),
            "g/orders/1", owner("DRAINING", "c1", 1).put("nextOwner", "c2"),
            "g/orders/2", owner("OWNED", "c2", 1));
    Map<String, JsonObject> registry = Map.of("g/c2", member("c2"));
    state.mapsRead(ownership, registry, READ);
    assertThat(told().getJsonObject("cluster").containsKey("owners"))
        .as("a dispatcher answers")
        .isFalse();
    assertThat(shardNow(0).getString("owner")).isEqualTo("c1");

    state.dispatcherSilent();
    state.mapsRead(ownership, registry, READ);
    assertThat(told().getJsonObject("cluster").getJsonObject("owners"))
        .isEqualTo(JsonObject.of("source", "map", "asOf", "2026-11-30T12:00:00Z"));
    assertThat(shardNow(0))
        .as("what the map does not say is as it was known last")
        .isEqualTo(
            JsonObject.of("topic", "orders", "shard", 0, "owner", "c2", "epoch", 2)
                .put("state", "OWNED")
                .put("committed", 5)
                .put("end", 7)
                .put("lag", 2));
    assertThat(shardNow(1).getString("state")).isEqualTo("DRAINING");
    assertThat(shardNow(1).getString("nextOwner")).isEqualTo("c2");
    assertThat(shardNow(2).getString("owner")).isEqualTo("c2");
    JsonObject group = told().getJsonObject("groups").getJsonObject("g");
    assertThat(group.getString("status")).isEqualTo("OK");
    assertThat(group.getJsonObject("members"))
        .isEqualTo(
            new JsonObject(
                "{\"c1\":{\"node\":\"uuid\",\"host\":\"h\",\"consumed\":7,\"lastHeartbeatMs\":12,\"shards\":1},"
                    + "\"c2\":{\"node\":\"session-c2\",\"host\":\"h2\",\"shards\":2}}"));

    state.looked("n3", answer(new JsonArray().add(group(shards)), new JsonArray(), null), 2_000);
    assertThat(told().getJsonObject("cluster").containsKey("owners")).isFalse();
    assertThat(shardNow(0).getString("owner")).as("the log decides").isEqualTo("c1");
    assertThat(shardNow(2)).isNull();
  }

  @Example
  void theMapShowsGroupsThatNobodyKnows() {
    state.dispatcherSilent();
    state.mapsRead(
        Map.of("g/orders/0", owner("OWNED", "c1", 3), "g/orders/1", owner("FREE", null, 2)),
        Map.of("g/c1", member("c1")),
        READ);
    assertThat(told().getJsonObject("groups"))
        .isEqualTo(
            new JsonObject(
                "{\"g\":{\"mode\":\"sharded\",\"members\":{\"c1\":{\"node\":\"session-c1\",\"host\":\"h2\","
                    + "\"shards\":1}},\"shards\":{\"orders/0\":{\"topic\":\"orders\",\"shard\":0,"
                    + "\"owner\":\"c1\",\"epoch\":3,\"state\":\"OWNED\"},\"orders/1\":{\"topic\":"
                    + "\"orders\",\"shard\":1,\"epoch\":2,\"state\":\"FREE\"}}}}"));
  }

  /** A dispatcher knows that an owner has died before the log has another one. */
  @Example
  void theMapDoesNotUndoWhatADispatcherHasSaid() {
    JsonArray shards = new JsonArray().add(shard(0, null, 5L, 7L)).add(shard(1, "c1", 5L, 5L));
    shards.getJsonObject(1).put("epoch", 9);
    state.looked("n2", answer(new JsonArray().add(group(shards)), new JsonArray(), null), 1_000);
    state.dispatcherSilent();
    state.mapsRead(
        Map.of("g/orders/0", owner("OWNED", "c1", 1), "g/orders/1", owner("FREE", null, 8)),
        Map.of(),
        READ);
    assertThat(shardNow(0).getString("state")).isEqualTo("FREE");
    assertThat(shardNow(1).getString("owner")).isEqualTo("c1");
    // An entry that was lost takes nothing away, and garbage adds nothing.
    state.mapsRead(
        Map.of(
            "hello",
            new JsonObject(),
            "g/orders/0",
            new JsonObject(),
            "g/orders/7",
            owner("?", "x", 1)),
        Map.of("g/c9", new JsonObject(), "g/c8", member("c7")),
        READ);
    JsonObject group = told().getJsonObject("groups").getJsonObject("g");
    assertThat(group.getJsonObject("shards").fieldNames())
        .containsExactlyInAnyOrder("orders/0", "orders/1");
    assertThat(group.getJsonObject("members").fieldNames()).containsExactly("c1");
  }

  @Example
  void movesKeepTheirNumbersAndGetTheirFiguresLater() {
    JsonArray none = new JsonArray();
    state.looked("n1", answer(none, none, new JsonArray().add(move(2, null))), 0);
    state.looked("n1", answer(none, none, new JsonArray().add(move(3, 5L)).add(move(2, 4L))), 1);
    JsonObject moves = told().getJsonObject("moves");
    assertThat(moves.fieldNames()).containsExactly("1", "2");
    assertThat(moves.getJsonObject("1").getLong("pauseMs")).isEqualTo(4);
    assertThat(moves.getJsonObject("2").getLong("epoch")).isEqualTo(3);
    // Another dispatcher has read them, but it did not see the last one, nor how long it paused.
    JsonArray seen = new JsonArray().add(move(4, null));
    seen.add(move(3, null).put("reason", "rebalance")).add(move(2, 4L));
    state.looked("n2", answer(none, none, seen), 2);
    moves = told().getJsonObject("moves");
    assertThat(moves.fieldNames()).containsExactly("1", "2", "3");
    assertThat(moves.getJsonObject("2").getLong("pauseMs")).isEqualTo(5);
    assertThat(moves.getJsonObject("2").getString("reason")).isEqualTo("member joined");
    // What the dispatcher has given up goes.
    state.looked(
        "n2", answer(none, none, new JsonArray().add(move(5, null)).add(move(4, null))), 3);
    assertThat(told().getJsonObject("moves").fieldNames()).containsExactly("3", "4");
  }

  @Example
  void nodesAreUnknownWhenNobodyTellsOfThem() {
    JsonObject status =
        new JsonObject(
            "{\"cluster\":\"id\",\"node\":\"n1\",\"dispatcher\":\"n1\",\"nodes\":[{\"node\":\"n1\",\"alive\":true,"
                + "\"host\":\"h\",\"moving\":{\"d0\":\"copying\"},\"bytesLeft\":3000000},{\"node\":\"n2\",\"alive\":null,\"host\":null}],\"logs\":[{\"group\":\"meta\","
                + "\"leader\":\"n1\",\"term\":3,\"commitIndex\":7,\"appliedIndex\":7,\"followers\":"
                + "[{\"node\":\"n2\",\"matchIndex\":5,\"lagEntries\":2}]}]}");
    state.clusterKnown(RecordJson.of(ClusterStatusView.class).read(status));
    JsonObject cluster = told().getJsonObject("cluster");
    assertThat(cluster.getJsonObject("nodes").getJsonObject("n1"))
        .isEqualTo(
            new JsonObject("{\"alive\":true,\"host\":\"h\",\"moving\":1,\"bytesLeft\":2097152}"));
    assertThat(cluster.getJsonObject("nodes").getJsonObject("n2")).isEmpty();
    assertThat(cluster.getJsonObject("logs").getJsonObject("meta").getJsonObject("followers"))
        .isEqualTo(new JsonObject("{\"n2\":{\"matchIndex\":5,\"lagEntries\":2}}"));
    state.clusterSilent();
    cluster = told().getJsonObject("cluster");
    assertThat(cluster.getString("id")).isEqualTo("id");
    assertThat(cluster.getJsonObject("nodes").getJsonObject("n1")).isEmpty();
    assertThat(cluster.getJsonObject("logs")).isEmpty();
  }

  /** Whatever the facts: all patches, applied to the first state, make the present one. */
  @Property(tries = 300)
  void allPatchesTogetherMakeThePresentState(@ForAll long seed) {
    Random random = new Random(seed);
    Map<String, Object> watched = new JsonObject(told().encode()).getMap();
    long now = 0;
    for (int i = 0; i < 30; i++) {
      now += random.nextInt(700);
      someFact(random, now);
      if (random.nextInt(3) > 0) {
        String sent = new JsonObject(state.patch()).encode();
        MergePatches.apply(watched, new JsonObject(sent).getMap());
        assertThat(new JsonObject(watched)).isEqualTo(new JsonObject(state.sent()));
      }
    }
    state.patch();
    assertThat(state.patch()).as("told twice").isEmpty();
  }

  private void someFact(Random random, long now) {
    switch (random.nextInt(7)) {
      case 0 -> state.dispatcherSilent();
      case 2 ->
          state.mapsRead(
              Map.of("g/orders/" + random.nextInt(5), owner("OWNED", "c2", random.nextInt(4))),
              random.nextBoolean() ? Map.of() : Map.of("g/c2", member("c2")),
              READ.plusSeconds(now));
      case 1 -> state.clusterSilent();
      default -> {
        JsonArray groups = new JsonArray();
        JsonArray shards = new JsonArray();
        for (int i = random.nextInt(4); i > 0; i--) {
          Long committed = random.nextInt(4) == 0 ? null : (Long) (long) random.nextInt(9);
          shards.add(
              shard(i, random.nextBoolean() ? "c1" : null, committed, 9L + random.nextInt(9)));
        }
        if (random.nextInt(4) > 0) {
          groups.add(group(shards));
        }
        JsonArray topics = new JsonArray();
        if (random.nextBoolean()) {
          topics.add(JsonObject.of("name", "orders", "shards", 4, "end", random.nextInt(99)));
        }
        JsonArray moves =
            random.nextBoolean() ? null : new JsonArray().add(move(random.nextInt(5), 1L));
        state.looked("n" + random.nextInt(2), answer(groups, topics, moves), now);
      }
    }
  }
}
