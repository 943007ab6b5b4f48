package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What members ask for: who decides about their shards, and what becomes of one that hangs. */
@Tag("full")
class AssignorAndStuckIT extends OneNode {
  @Test
  void theMembersOfAGroupAgreeOnAnAssignor() {
    node.createTopic("agreed", 4);
    Jar.Running first = node.consume("first", "agreed", "ag", "--assignor", "average");
    await("the first has all", () -> owners("ag").equals(Map.of("first", List.of(0, 1, 2, 3))));
    try (Jar.Running other = node.consume("other", "agreed", "ag", "--assignor", "sticky")) {
      Jar.Result refused = other.await();
      assertThat(refused.status()).isEqualTo(1);
      assertThat(refused.err())
          .contains(
              "group ag uses assignor average, not sticky: name the same or none while it has"
                  + " other members");
    }
    try (Jar.Running typo = node.consume("typo", "agreed", "ag", "--assignor", "avrage")) {
      Jar.Result refused = typo.await();
      assertThat(refused.status()).isEqualTo(1);
      assertThat(refused.err()).contains("unknown assignor 'avrage': use average or ");
    }
    Jar.Running second = node.consume("second", "agreed", "ag");
    await(
        "ranges",
        () -> owners("ag").equals(Map.of("first", List.of(0, 1), "second", List.of(2, 3))));
    assertThat(group("ag").getString("assignor")).isEqualTo("average");
    assertThat(node.admin("group", "describe", "ag").out()).contains("average");
    assertThat(first.stop().status()).isZero();
    assertThat(second.stop().status()).isZero();
  }

  @Test
  void loadMovesOneOfTwoBusyShardsAway() {
    node.createTopic("busy", 6);
    Map<Integer, String> keys = new TreeMap<>();
    for (int i = 0; keys.size() < 6; i++) {
      String key = "k" + i;
      JsonObject sent = sendOne("busy", key, "first");
      keys.putIfAbsent(sent.getInteger("shard"), key);
    }
    Jar.Running one = node.consume("one", "busy", "lg", "--assignor", "load", "--exec", "true");
    Jar.Running two = node.consume("two", "busy", "lg", "--assignor", "load", "--exec", "true");
    await("three each", () -> owners("lg").getOrDefault("one", List.of()).size() == 3);
    await("the other, too", () -> owners("lg").getOrDefault("two", List.of()).size() == 3);
    List<Integer> hot = owners("lg").get("one").subList(0, 2);
    Wait.until(
        "one of the busy shards moves",
        180,
        () -> {
          hot.forEach(shard -> sendOne("busy", keys.get(shard), "x".repeat(4_000)));
          List<Integer> left = owners("lg").getOrDefault("one", List.of());
          return left.stream().filter(hot::contains).count() == 1;
        });
    JsonObject move = new JsonArray(node.get("/api/rebalances?group=lg").body()).getJsonObject(0);
    assertThat(move.getString("reason")).isEqualTo("load changed");
    assertThat(one.stop().status()).isZero();
    assertThat(two.stop().status()).isZero();
  }

  @Test
  void aMemberThatHangsIsShownAndLosesTheShardItHangsOn() throws IOException {
    node.createTopic("hung", 2);
    Path hold = directory.resolve("hold");
    Files.writeString(hold, "while it is there, commands of one member do not end");
    String hanging = "while [ -e " + hold + " ]; do sleep 0.2; done";
    try (Jar.Running bad =
            node.consume("bad", "hung", "hg", "--stuck-timeout", "3s", "--exec", hanging);
        Jar.Running good = node.consume("good", "hung", "hg", "--exec", "true")) {
      await("one each", () -> owners("hg").keySet().equals(Set.of("bad", "good")));
      int shard = owners("hg").get("bad").get(0);
      Path lines = directory.resolve("lines");
      // Enough keys that each shard gets some.
      Files.write(lines, IntStream.range(0, 40).mapToObj(String::valueOf).toList());
      assertThat(node.produce("p", lines, "hung", "--key-regex", "(.*)").await().status()).isZero();

      await("all is the good one's", () -> owners("hg").equals(Map.of("good", List.of(0, 1))));
      JsonObject shown = member("hg", "bad");
      assertThat(shown.getJsonArray("stuck")).containsExactly("hung/" + shard);
      assertThat(shown.getLong("stuckMs")).isGreaterThanOrEqualTo(3_000);
      assertThat(member("hg", "good").getJsonArray("stuck")).isEmpty();
      assertThat(node.admin("group", "describe", "hg").out()).contains("hung/" + shard + " for ");
      assertThat(node.get("/metrics").body())
          .containsPattern("evenkeel_group_shards_stuck\\{[^}]*group=\"hg\"[^}]*} 1\\.0");
      JsonObject move = new JsonArray(node.get("/api/rebalances?group=hg").body()).getJsonObject(0);
      assertThat(move.getString("reason")).isEqualTo("member stuck");
      node.awaitConsumed("hg", 40);

      Files.delete(hold);
      await("it shares again", () -> owners("hg").keySet().equals(Set.of("bad", "good")));
      assertThat(member("hg", "bad").getJsonArray("stuck")).isEmpty();
      assertThat(bad.stop().status()).isZero();
      assertThat(good.stop().status()).isZero();
    }
  }

  private static JsonObject sendOne(String topic, String key, String payload) {
    JsonObject message = new JsonObject().put("key", key).put("payload", payload);
    HttpResponse<String> answer =
        node.post("/api/topics/" + topic + "/messages", new JsonArray().add(message).encode());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return new JsonArray(answer.body()).getJsonObject(0);
  }

  private static JsonObject group(String name) {
    return new JsonObject(node.get("/api/groups/" + name).body());
  }

  private static JsonObject member(String group, String name) {
    for (Object each : group(group).getJsonArray("members")) {
      if (name.equals(((JsonObject) each).getString("member"))) {
        return (JsonObject) each;
      }
    }
    throw new AssertionError("no member " + name);
  }

  /** Shards by owner. */
  private static Map<String, List<Integer>> owners(String group) {
    Map<String, List<Integer>> owners = new TreeMap<>();
    for (JsonObject shard : node.shards(group)) {
      String owner = shard.getString("owner");
      if (owner != null && shard.getString("nextOwner") == null) {
        owners.computeIfAbsent(owner, name -> new ArrayList<>()).add(shard.getInteger("shard"));
      }
    }
    return owners;
  }

  private static void await(String what, Callable<Boolean> condition) {
    Awaitility.await(what)
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptions()
        .until(condition);
  }
}
