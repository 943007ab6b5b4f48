package dev.evenkeel.bus;

import dev.evenkeel.api.Inline;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Questions to a dispatcher at {@link Addresses#groups}, as JSON: one record each. The name of its
 * first component tells it from the others. The dispatcher of the node that leads meta answers, and
 * only {@link Reset} and {@link Forget} change something.
 *
 * @param <C> what an answer needs beside the question
 */
public final class GroupQuestions<C> {
  private record Row<Q extends Record, C>(RecordJson<Q> form, BiConsumer<Q, C> answer) {
    void answer(JsonObject question, C context) {
      answer.accept(form.read(question), context);
    }
  }

  private final Map<String, Row<?, C>> rows = new LinkedHashMap<>();

  /** Answers one kind of questions. */
  public <Q extends Record> GroupQuestions<C> on(Class<Q> type, BiConsumer<Q, C> answer) {
    RecordJson<Q> form = RecordJson.of(type);
    rows.put(type.getRecordComponents()[0].getName(), new Row<>(form, answer));
    return this;
  }

  /**
   * Answers a question; one that is of no kind with fields in it is that of the last kind.
   *
   * @throws RefusedException INVALID for a question that is malformed
   */
  public void answer(JsonObject question, C context) {
    Row<?, C> found = null;
    for (Map.Entry<String, Row<?, C>> each : rows.entrySet()) {
      found = each.getValue();
      if (question.containsKey(each.getKey())) {
        break;
      }
    }
    found.answer(question, context);
  }

  /** The body of a request. */
  public static Buffer request(Record question) {
    return RecordJson.json(question).toBuffer();
  }

  /** Asks for {@link MemberId}. Every node answers. */
  public record WhoIs(boolean clusterMember) {}

  /**
   * @param clusterMember the id of the node as a member of the cluster
   */
  public record MemberId(String clusterMember) {}

  /**
   * Asks for the last moves, as {@code api.MoveView} in a list.
   *
   * @param rebalances the group; null: all
   * @param limit most moves; null: all that are known
   */
  public record Rebalances(@Nullable String rebalances, @Nullable Integer limit) {}

  /**
   * Sets offsets of a group. The answer is a list with what became of each shard.
   *
   * @param reset the group
   * @param kind of {@code StartAt.Kind}
   * @param force whether members that own shards are to release them
   */
  public record Reset(String reset, List<ShardId> shards, String kind, long value, boolean force) {}

  public record ShardId(int topicId, int shard) {}

  /** Forgets a group, or one of its topics. */
  public record Forget(What forget) {}

  /** Asks what would be forgotten, and why it would be refused. */
  public record WhatIfForgotten(What whatIfForgotten) {}

  /**
   * @param topic null: the whole group
   * @param leaver the member that unsubscribes from the topic; null: it is none
   */
  public record What(String group, @Nullable String topic, @LeftOut @Nullable String leaver) {}

  /** Asks for an {@code api.PlanGroup.GroupPlan}. */
  public record Plan(Change plan) {}

  /**
   * @param gone the member of the cluster that is the node which ends; null: none ends
   */
  public record Change(@Inline PlanGroup group, @LeftOut @Nullable String gone) {}

  /**
   * Asks for what the live view shows.
   *
   * @param live tag of the last answer; null: there is none
   */
  public record Live(@Nullable String live) {}

  /**
   * Asks for an {@code api.GroupView}, or for a summary of each group.
   *
   * @param group null: all
   */
  public record Look(@Nullable String group) {}
}
