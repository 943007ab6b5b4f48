package dev.evenkeel.dispatcher;

import dev.evenkeel.dispatcher.core.Topics;
import dev.evenkeel.dispatcher.core.WhatIf;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The JSON of a change that is only supposed, and of the plan for it. */
final class PlanReport {
  private PlanReport() {}

  /**
   * The change that a question names.
   *
   * @throws ClassCastException if a field has the wrong type
   * @throws dev.evenkeel.protocol.RefusedException if a number is out of bounds
   */
  static WhatIf change(JsonObject question) {
    Set<String> remove = new HashSet<>();
    for (Object name : question.getJsonArray("remove", new JsonArray())) {
      remove.add((String) name);
    }
    Map<String, Integer> shards = new TreeMap<>();
    for (Map.Entry<String, Object> each :
        question.getJsonObject("shards", new JsonObject()).getMap().entrySet()) {
      shards.put(each.getKey(), (Integer) each.getValue());
    }
    return new WhatIf(
        question.getInteger("add", 0),
        remove,
        question.getString("gone"),
        question.getString("assignor"),
        shards);
  }

  static JsonObject of(WhatIf.Outcome outcome) {
    Topics topics = outcome.topics();
    JsonArray moves = new JsonArray();
    for (WhatIf.Move move : outcome.moves()) {
      moves.add(
          new JsonObject()
              .put("topic", topics.name(move.shard().topicId()))
              .put("shard", move.shard().shard())
              .put("from", move.from())
              .put("to", move.to()));
    }
    JsonObject owners = new JsonObject();
    outcome.owners().forEach((name, shards) -> owners.put(name, names(shards, topics)));
    JsonObject loads = new JsonObject();
    outcome
        .loads()
        .forEach(
            (name, load) ->
                loads.put(
                    name,
                    new JsonObject()
                        .put("shards", outcome.owners().get(name).size())
                        .put("lag", load.lag())
                        .put("busy", load.busy())
                        .put("bytesPerSecond", load.bytesPerSecond())));
    return new JsonObject().put("moves", moves).put("owners", owners).put("loads", loads);
  }

  private static JsonArray names(Set<Shard> shards, Topics topics) {
    JsonArray names = new JsonArray();
    shards.forEach(shard -> names.add(topics.name(shard.topicId()) + "/" + shard.shard()));
    return names;
  }
}
