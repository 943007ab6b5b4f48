package dev.evenkeel.gateway;

import dev.evenkeel.api.DeleteGroup;
import dev.evenkeel.api.DeleteGroup.DeletedShard;
import dev.evenkeel.api.DeleteGroup.GroupDeletion;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PauseGroup.PauseResult;
import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.PlanGroup.GroupPlan;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.GroupQuestions.What;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.Function;

/** Answers {@code evenkeel.api.groups}, mostly by asking the active dispatcher. */
final class GroupsApi {
  /** Longer than the dispatcher waits for owners to release their shards. */
  private static final long DELETE_TIMEOUT_MILLIS = 25_000;

  private final ClusterCalls calls;
  private final DeadLettersApi deadLetters;
  private final DeadLetterChanges deadLetterChanges;
  private final Vertx vertx;
  private final RetriesApi retries;
  private final ResetApi resets;

  GroupsApi(Vertx vertx, ClusterCalls calls) {
    this.vertx = vertx;
    this.calls = calls;
    FailedMessages failed = new FailedMessages(calls);
    deadLetters = new DeadLettersApi(calls, failed);
    deadLetterChanges = new DeadLetterChanges(calls, failed, deadLetters);
    retries = new RetriesApi(calls, failed);
    resets = new ResetApi(calls);
  }

  /** On behalf of a user. */
  private GroupsApi of(String user) {
    return user == null ? this : new GroupsApi(vertx, calls.of(user));
  }

  void serve(ApiAnswers answers) {
    answers.by(
        Operations.LIST_GROUPS,
        (all, user) -> pass(Operations.LIST_GROUPS, new GroupQuestions.Look(null, scope(user))));
    pass(answers, Operations.DESCRIBE_GROUP, asked -> new GroupQuestions.Look(asked.group(), null));
    pass(
        answers,
        Operations.LIST_REBALANCES,
        asked -> new GroupQuestions.Rebalances(asked.group(), asked.limit()));
    answers
        .by(Operations.RESET_GROUP, (asked, user) -> of(user).resets.reset(asked))
        .on(
            Operations.PAUSE_GROUP,
            asked -> pause(asked.group(), asked.topic(), asked.shard(), true))
        .on(
            Operations.RESUME_GROUP,
            asked -> pause(asked.group(), asked.topic(), asked.shard(), false))
        .on(Operations.PLAN_GROUP, this::plan)
        .on(Operations.DELETE_GROUP, this::delete)
        .by(Operations.LIST_RETRIES, (asked, user) -> of(user).retries.list(asked))
        .by(Operations.LIST_DEAD_LETTERS, (asked, user) -> of(user).deadLetters.list(asked))
        .by(Operations.DESCRIBE_DEAD_LETTER, (asked, user) -> of(user).deadLetters.show(asked))
        .by(
            Operations.REPLAY_DEAD_LETTERS,
            (asked, user) ->
                of(user)
                    .deadLetterChanges
                    .change(asked.group(), asked.deadLetters(), asked.all(), asked.dryRun(), true))
        .by(
            Operations.DROP_DEAD_LETTERS,
            (asked, user) ->
                of(user)
                    .deadLetterChanges
                    .change(
                        asked.group(), asked.deadLetters(), asked.all(), asked.dryRun(), false));
  }

  /** Passes a question on to the dispatcher, which answers it. */
  private <Q extends Record, A> void pass(
      ApiAnswers answers, Operation<Q, A> operation, Function<Q, Record> question) {
    answers.on(operation, asked -> pass(operation, question.apply(asked)));
  }

  private <A> Future<A> pass(Operation<?, A> operation, Record question) {
    return calls.askDispatcher(question).map(Json::decodeValue).map(operation::readAnswer);
  }

  /** What the user sees, so that the dispatcher need not look at the groups of everybody else. */
  private GroupScope scope(String user) {
    Access access = LocalObjects.get(vertx, Access.class);
    return access == null ? GroupScope.ALL : access.scope(user);
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

  /** Says who would own the shards of a group after a change, without making it. */
  private Future<GroupPlan> plan(PlanGroup change) {
    Future<String> gone =
        change.kill() == null ? Future.succeededFuture() : clusterMember(change.kill());
    return gone.map(member -> new GroupQuestions.Plan(new GroupQuestions.Change(change, member)))
        .compose(calls::askDispatcher)
        .map(Json::decodeValue)
        .map(GroupsApi::read);
  }

  private static GroupPlan read(Object answer) {
    if (answer instanceof JsonObject plan && plan.containsKey("moves")) {
      return RecordJson.of(GroupPlan.class).read(plan);
    }
    // A dispatcher of version 0.1 takes it for another question.
    throw Refusal.UNAVAILABLE.error(
        "plans need version 0.2 or later on every node: see 'cluster status'");
  }

  /** The id of a node as a cluster member: consumers that run on it name it in their heartbeats. */
  private Future<String> clusterMember(String node) {
    return calls
        .view()
        .map(ClusterView::nodes)
        .compose(
            nodes -> {
              if (!nodes.contains(node)) {
                throw Refusal.INVALID.error(
                    "there is no node '%s': the nodes are %s", node, String.join(", ", nodes));
              }
              return calls.clusterMemberOf(node);
            });
  }
}
