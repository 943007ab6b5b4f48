package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;

/** Answers {@code evenkeel.api.groups}, mostly by asking the active dispatcher. */
final class GroupsApi {
  private static final List<String> FIELDS =
      fields(
          "action",
          "group",
          "limit",
          "after",
          "deadLetter",
          "deadLetters",
          "all",
          "to",
          "topic",
          "shard",
          "force",
          "dryRun");

  private static List<String> fields(String... own) {
    return Stream.concat(Stream.of(own), PlanApi.FIELDS.stream()).toList();
  }

  private static final int MOVES_MAX = Limits.MOVES_KEPT_MAX;

  /** Longer than the dispatcher waits for owners to release their shards. */
  private static final long DELETE_TIMEOUT_MILLIS = 25_000;

  private final ClusterCalls calls;
  private final DeadLettersApi deadLetters;
  private final DeadLetterChanges deadLetterChanges;
  private final RetriesApi retries;
  private final ResetApi resets;
  private final PlanApi plans;

  GroupsApi(ClusterCalls calls) {
    this.calls = calls;
    FailedMessages failed = new FailedMessages(calls);
    deadLetters = new DeadLettersApi(calls, failed);
    deadLetterChanges = new DeadLetterChanges(calls, failed, deadLetters);
    retries = new RetriesApi(calls, failed);
    resets = new ResetApi(calls);
    plans = new PlanApi(calls);
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String action = JsonFields.neededText(request, "action");
    String group = JsonFields.text(request, "group");
    JsonObject question = new JsonObject();
    switch (action) {
      case "list" -> {}
      case "get" -> question.put("group", JsonFields.neededText(request, "group"));
      case "dead-letters" -> {
        return deadLetters.list(request);
      }
      case "dead-letter" -> {
        return deadLetters.show(request);
      }
      case "retries" -> {
        return retries.list(request);
      }
      case "replay", "drop" -> {
        return deadLetterChanges.change(request, action.equals("replay"));
      }
      case "reset" -> {
        return resets.reset(request);
      }
      case "delete" -> {
        return delete(request);
      }
      case "plan" -> {
        return plans.plan(request);
      }
      case "pause", "resume" -> {
        return pause(request, action.equals("pause"));
      }
      // A null means the moves of all groups.
      case "rebalances" ->
          question
              .put("rebalances", group)
              .put("limit", (int) JsonFields.number(request, "limit", MOVES_MAX, 1, MOVES_MAX));
      default ->
          throw JsonFields.invalid(
              "unknown action '"
                  + action
                  + "': use list, get, rebalances, dead-letters, dead-letter, retries, replay, drop,"
                  + " reset, delete, plan, pause or resume");
    }
    return calls.askDispatcher(question).map(Json::decodeValue);
  }

  /**
   * Deletes a group, or a topic of a group that no member reads: finds out what would be deleted,
   * and asks the dispatcher to forget it.
   */
  private Future<Object> delete(JsonObject request) {
    String group = JsonFields.neededText(request, "group");
    String topic = JsonFields.text(request, "topic");
    boolean dryRun = JsonFields.flag(request, "dryRun");
    JsonObject question = new JsonObject().put("group", group).put("topic", topic);
    return calls
        .askDispatcher(new JsonObject().put("whatIfForgotten", question))
        .map(JsonObject::new)
        .compose(this::withBytes)
        .compose(
            found -> {
              JsonObject report =
                  question.put("dryRun", dryRun).put("shards", found.getJsonArray("shards"));
              return dryRun
                  ? Future.succeededFuture(report.put("refused", found.getString("refused")))
                  : forget(group, topic).map(done -> report.putNull("refused"));
            });
  }

  /** Pauses or resumes a group, or some of its shards. */
  private Future<Object> pause(JsonObject request, boolean paused) {
    String group = JsonFields.neededText(request, "group");
    String topic = JsonFields.text(request, "topic");
    int shard = (int) JsonFields.number(request, "shard", Pause.ALL_SHARDS, 0, Integer.MAX_VALUE);
    MetaCommand.PauseGroup command = new MetaCommand.PauseGroup(group, topic, shard, paused);
    command.check();
    Bytes body = new Bytes();
    CommandCodec.write(body, command);
    return calls
        .toMetaLeader(Op.SUBMIT_META, body)
        .map(LeaderClient::reply)
        .map(
            done ->
                new JsonObject()
                    .put("group", group)
                    .put("topic", topic)
                    .put("shard", shard == Pause.ALL_SHARDS ? null : (Integer) shard)
                    .put("paused", paused));
  }

  private Future<?> forget(String group, String topic) {
    JsonObject question = new JsonObject().put("group", group).put("topic", topic);
    return calls.askMetaLeader(
        Addresses::groups, new JsonObject().put("forget", question), DELETE_TIMEOUT_MILLIS, false);
  }

  /**
   * Asks the leaders of the shards how many bytes retention would free, and puts that into the
   * answer.
   */
  private Future<JsonObject> withBytes(JsonObject found) {
    List<JsonObject> shards =
        found.getJsonArray("shards").stream().map(JsonObject.class::cast).toList();
    return ClusterCalls.forEach(shards, this::withBytesOf).map(done -> found);
  }

  private Future<Void> withBytesOf(JsonObject shard) {
    Shard of = new Shard(shard.getInteger("topicId"), shard.getInteger("shard"));
    Long from = shard.getLong("freedFrom");
    Long to = shard.getLong("freedTo");
    List.of("topicId", "freedFrom", "freedTo").forEach(shard::remove);
    if (from == null || to == null || to <= from) {
      shard.put("bytesFreed", from == null ? null : (Long) 0L);
      return Future.succeededFuture();
    }
    Bytes body = new Bytes(32);
    RecordCodec.write(body, of);
    body.i64(from).i64(to);
    return calls
        .toLeaderOf(of, Op.READ_BYTES, body)
        .map(answer -> (Long) answer.getLong(answer.position()))
        // Unknown if the leader cannot tell, for example because it runs a former version.
        .otherwise((Long) null)
        .map(bytes -> shard.put("bytesFreed", bytes))
        .mapEmpty();
  }
}
