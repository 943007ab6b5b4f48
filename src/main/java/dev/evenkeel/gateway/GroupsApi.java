package dev.evenkeel.gateway;

import dev.evenkeel.api.DeleteGroup;
import dev.evenkeel.api.DeleteGroup.DeletedShard;
import dev.evenkeel.api.DeleteGroup.GroupDeletion;
import dev.evenkeel.api.ListRebalances;
import dev.evenkeel.api.MoveView;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PauseGroup.PauseResult;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.GroupQuestions.What;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Answers {@code evenkeel.api.groups}, mostly by asking the active dispatcher. */
final class GroupsApi {
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

  void serve(ApiAnswers answers) {
    answers
        .on(
            Operations.LIST_GROUPS,
            all -> ask(new GroupQuestions.Look(null)).map(Operations.LIST_GROUPS::readAnswer))
        .on(
            Operations.DESCRIBE_GROUP,
            asked ->
                ask(new GroupQuestions.Look(asked.group()))
                    .map(Operations.DESCRIBE_GROUP::readAnswer))
        .on(Operations.RESET_GROUP, resets::reset)
        .on(
            Operations.PAUSE_GROUP,
            asked -> pause(asked.group(), asked.topic(), asked.shard(), true))
        .on(
            Operations.RESUME_GROUP,
            asked -> pause(asked.group(), asked.topic(), asked.shard(), false))
        .on(Operations.PLAN_GROUP, plans::plan)
        .on(Operations.DELETE_GROUP, this::delete)
        .on(Operations.LIST_REBALANCES, this::rebalances)
        .on(Operations.LIST_RETRIES, retries::list)
        .on(Operations.LIST_DEAD_LETTERS, deadLetters::list)
        .on(Operations.DESCRIBE_DEAD_LETTER, deadLetters::show)
        .on(
            Operations.REPLAY_DEAD_LETTERS,
            asked ->
                deadLetterChanges.change(
                    asked.group(), asked.deadLetters(), asked.all(), asked.dryRun(), true))
        .on(
            Operations.DROP_DEAD_LETTERS,
            asked ->
                deadLetterChanges.change(
                    asked.group(), asked.deadLetters(), asked.all(), asked.dryRun(), false));
  }

  private Future<List<MoveView>> rebalances(ListRebalances asked) {
    return ask(new GroupQuestions.Rebalances(asked.group(), asked.limit()))
        .map(Operations.LIST_REBALANCES::readAnswer);
  }

  private Future<Object> ask(Record question) {
    return calls.askDispatcher(question).map(Json::decodeValue);
  }

  /**
   * Deletes a group, or a topic of a group that no member reads: finds out what would be deleted,
   * and asks the dispatcher to forget it.
   */
  private Future<GroupDeletion> delete(DeleteGroup asked) {
    What what = new What(asked.group(), asked.topic(), null);
    return calls
        .askDispatcher(new GroupQuestions.WhatIfForgotten(what))
        .map(JsonObject::new)
        .compose(
            found ->
                ClusterCalls.forEach(objects(found.getJsonArray("shards")), this::withBytes)
                    .compose(
                        shards -> {
                          String refused = asked.dryRun() ? found.getString("refused") : null;
                          GroupDeletion deletion =
                              new GroupDeletion(
                                  asked.group(), asked.topic(), asked.dryRun(), shards, refused);
                          return asked.dryRun()
                              ? Future.succeededFuture(deletion)
                              : forget(what).map(done -> deletion);
                        }));
  }

  private static List<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast).toList();
  }

  /** Pauses or resumes a group, or some of its shards. */
  private Future<PauseResult> pause(String group, String topic, Integer shard, boolean paused) {
    MetaCommand.PauseGroup command =
        new MetaCommand.PauseGroup(group, topic, shard == null ? Pause.ALL_SHARDS : shard, paused);
    command.check();
    return calls.submit(command).map(done -> new PauseResult(group, topic, shard, paused));
  }

  private Future<?> forget(What what) {
    return calls.tellDispatcher(new GroupQuestions.Forget(what), DELETE_TIMEOUT_MILLIS);
  }

  /** Asks the leader of a shard how many bytes retention would free. */
  private Future<DeletedShard> withBytes(JsonObject shard) {
    RecordJson<DeletedShard> form = RecordJson.of(DeletedShard.class);
    DeletedShard deleted = form.read(shard);
    Long from = shard.getLong("freedFrom");
    Long to = shard.getLong("freedTo");
    if (from == null || to == null || to <= from) {
      return Future.succeededFuture(
          form.with(deleted, "bytesFreed", from == null ? null : (Long) 0L));
    }
    Shard of = new Shard(shard.getInteger("topicId"), deleted.shard());
    return calls
        .toLeaderOf(of, Calls.READ_BYTES, new Calls.ReadBytes(of, from, to))
        // Unknown if the leader cannot tell, for example because it runs a former version.
        .otherwise((Long) null)
        .map(bytes -> form.with(deleted, "bytesFreed", bytes));
  }
}
