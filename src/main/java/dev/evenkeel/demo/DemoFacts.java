package dev.evenkeel.demo;

import dev.evenkeel.api.CreateTopic;
import dev.evenkeel.api.ListTopics;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.cli.HttpApi;
import dev.evenkeel.demo.DemoStory.Move;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Asks the cluster about the demo's group, over the public HTTP API. Calls block. */
final class DemoFacts {
  /** Who owns the shards of the demo's topic now. */
  record Ownership(boolean allOwned, boolean even, Set<String> owners) {
    /** Whether all shards are owned evenly, and {@code member} owns some if it is present. */
    boolean settled(String member, boolean present) {
      return allOwned && even && owners.contains(member) == present;
    }
  }

  private final HttpApi api;
  private Set<String> seen = Set.of();

  DemoFacts(HttpApi api) {
    this.api = api;
  }

  /** Creates the topic if it is missing. */
  void ensureTopic() {
    List<TopicView> topics = api.read(Operations.LIST_TOPICS, new ListTopics());
    if (topics.stream().noneMatch(each -> each.name().equals(DemoRun.TOPIC))) {
      TopicLimits limits = TopicLimits.retaining(DemoRun.RETENTION_MILLIS);
      api.read(Operations.CREATE_TOPIC, new CreateTopic(DemoRun.TOPIC, DemoRun.SHARDS, limits));
    }
  }

  Ownership ownership() {
    JsonObject group = api.get("/api/groups/" + DemoRun.GROUP);
    Set<String> owners = new HashSet<>();
    boolean allOwned = true;
    for (Object each : group.getJsonArray("shards")) {
      JsonObject shard = (JsonObject) each;
      allOwned &= "OWNED".equals(shard.getString("state"));
      owners.add(shard.getString("owner"));
    }
    return new Ownership(
        allOwned && !owners.isEmpty(), "OK".equals(group.getString("status")), owners);
  }

  /** Moves of shards since the last call. */
  List<Move> newMoves() {
    JsonArray answer = api.get("/api/rebalances?group=" + DemoRun.GROUP);
    List<Move> moves = new ArrayList<>();
    Set<String> now = new HashSet<>();
    for (Object each : answer) {
      JsonObject move = (JsonObject) each;
      String id =
          move.getString("topic") + "/" + move.getInteger("shard") + " " + move.getLong("epoch");
      now.add(id);
      if (!seen.contains(id) && DemoRun.TOPIC.equals(move.getString("topic"))) {
        moves.add(
            new Move(
                move.getInteger("shard"),
                move.getLong("epoch"),
                move.getString("from"),
                move.getString("to"),
                move.getLong("pauseMs"),
                move.getLong("releaseMs"),
                move.getLong("redelivered")));
      }
    }
    seen = now;
    return moves;
  }
}
