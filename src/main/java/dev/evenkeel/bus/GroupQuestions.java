package dev.evenkeel.bus;

import dev.evenkeel.api.Inline;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Questions to a dispatcher at {@link Addresses#groups}, as JSON: one record each. The name of its
 * first component tells it from the others. The dispatcher of the node that leads meta answers, and
 * only {@link Reset} and {@link Forget} change something.
 */
public final class GroupQuestions {
  private GroupQuestions() {}

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
   * @param only about these groups and topics; null: all
   */
  public record Live(@Nullable String live, @LeftOut @Nullable GroupScope only) {}

  /**
   * Asks how many members each user has, as {@link ShareUse} in a list.
   *
   * @param memberUse any value
   */
  public record MemberUse(boolean memberUse) {}

  /**
   * Asks for an {@code api.GroupView}, or for a summary of each group.
   *
   * @param group null: all
   * @param only of these groups; null: all
   */
  public record Look(@Nullable String group, @LeftOut @Nullable GroupScope only) {}
}
