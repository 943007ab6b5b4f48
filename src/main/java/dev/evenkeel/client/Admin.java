package dev.evenkeel.client;

import dev.evenkeel.api.CancelDelayedMessage;
import dev.evenkeel.api.ClearQuota;
import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.ConfigureTopic;
import dev.evenkeel.api.CreateTopic;
import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.api.DelayedMessageView;
import dev.evenkeel.api.DeleteGroup;
import dev.evenkeel.api.DeleteGroup.GroupDeletion;
import dev.evenkeel.api.DeleteTopic;
import dev.evenkeel.api.DescribeCluster;
import dev.evenkeel.api.DescribeGroup;
import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.DescribeTopic.TopicDetail;
import dev.evenkeel.api.DropDeadLetters;
import dev.evenkeel.api.GetDelayedMessage;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.ListDeadLetters;
import dev.evenkeel.api.ListDelayedMessages;
import dev.evenkeel.api.ListDelayedMessages.DelayedMessages;
import dev.evenkeel.api.ListGroups;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.ListQuotas;
import dev.evenkeel.api.ListShares;
import dev.evenkeel.api.ListTopics;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PauseGroup;
import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.PlanGroup.GroupPlan;
import dev.evenkeel.api.QuotaView;
import dev.evenkeel.api.ReplayDeadLetters;
import dev.evenkeel.api.ReplayDeadLetters.DeadLetterCount;
import dev.evenkeel.api.ResetGroup;
import dev.evenkeel.api.ResetGroup.OffsetReset;
import dev.evenkeel.api.ReshardTopic;
import dev.evenkeel.api.ResumeGroup;
import dev.evenkeel.api.SetQuota;
import dev.evenkeel.api.ShareView;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.protocol.QuotaKind;
import io.vertx.core.Future;
import java.util.List;

/**
 * Administers topics, groups, dead letters, quotas and nodes; see {@link EvenkeelClient#admin}. It
 * asks what the HTTP API and the command line ask, with the same permissions, refusals and audit
 * log. Its methods may be called from any thread.
 *
 * <p>Each future completes within about 30 s. It fails with {@code RefusedException}: FORBIDDEN if
 * the user of the connection may not do that; INVALID if something is wrong with the request;
 * UNAVAILABLE if the cluster does not answer; INDETERMINATE if it is not known whether a change
 * happened; and as each method says.
 *
 * <p>Questions and answers are records with the fields that the HTTP API has, see {@link
 * Operations}. A figure that is not known at the moment is null.
 */
public interface Admin {
  /** Asks any operation of the API, also one that has no method here. */
  <Q extends Record, A> Future<A> ask(Operation<Q, A> operation, Q question);

  // Topics

  /** Creates a topic. Fails with TOPIC_EXISTS if there is one. */
  default Future<TopicView> createTopic(String name, int shards) {
    return createTopic(name, shards, new TopicSettings());
  }

  /**
   * Creates a topic. Fails with TOPIC_EXISTS if there is one.
   *
   * @param shards 1 to 10,000
   */
  default Future<TopicView> createTopic(String name, int shards, TopicSettings settings) {
    return ask(Operations.CREATE_TOPIC, new CreateTopic(name, shards, settings.limits()));
  }

  /** All topics that the user may see, by name. */
  default Future<List<TopicView>> topics() {
    return ask(Operations.LIST_TOPICS, new ListTopics());
  }

  /** Describes a topic. Fails with UNKNOWN_TOPIC if there is none. */
  default Future<TopicDetail> topic(String name) {
    return ask(Operations.DESCRIBE_TOPIC, new DescribeTopic(name));
  }

  /** Changes those settings of a topic that are set. Fails with UNKNOWN_TOPIC. */
  default Future<TopicView> changeTopic(String name, TopicSettings changes) {
    return ask(Operations.CONFIGURE_TOPIC, new ConfigureTopic(name, changes.limits()));
  }

  /**
   * Changes the number of shards of a topic in use. Completes when producers write to the new ones.
   * Fails with UNKNOWN_TOPIC.
   *
   * @param shards 1 to 10,000
   */
  default Future<TopicView> reshard(String name, int shards) {
    return ask(Operations.RESHARD_TOPIC, new ReshardTopic(name, shards));
  }

  /** Deletes a topic with its messages. Fails with UNKNOWN_TOPIC. */
  default Future<Void> deleteTopic(String name) {
    return ask(Operations.DELETE_TOPIC, new DeleteTopic(name)).mapEmpty();
  }

  // Delayed messages

  /**
   * Delayed messages of a topic that are not due yet, the first due first. Fails with
   * UNKNOWN_TOPIC.
   *
   * @param key only messages with this key; null: with any key or none
   * @param from {@code next} of the page before; null: from the first
   * @param limit 1 to 1,000; a page may have fewer messages, or none, although there are more
   */
  default Future<DelayedMessages> delayedMessages(
      String topic, String key, String from, int limit) {
    return ask(Operations.LIST_DELAYED_MESSAGES, new ListDelayedMessages(topic, key, limit, from));
  }

  /**
   * A delayed message. Fails with UNKNOWN_MESSAGE if it was delivered or cancelled, or never was.
   *
   * @param id as {@link Producer.Position#delayedId} or a page gives it
   */
  default Future<DelayedMessageView> delayedMessage(String topic, String id) {
    return ask(Operations.GET_DELAYED_MESSAGE, new GetDelayedMessage(topic, id));
  }

  /**
   * Cancels a delayed message: nobody gets it. Fails with UNKNOWN_MESSAGE if it does not wait any
   * more: it was delivered or cancelled, or never was. With INDETERMINATE it may be cancelled, and
   * a repeat then fails with UNKNOWN_MESSAGE. Fails with UNAVAILABLE until every node runs version
   * 0.2 or later, and while the message moves to another shard after a reshard.
   *
   * @param id as {@link Producer.Position#delayedId} or a page gives it
   */
  default Future<Void> cancelDelayed(String topic, String id) {
    return ask(Operations.CANCEL_DELAYED_MESSAGE, new CancelDelayedMessage(topic, id)).mapEmpty();
  }

  // Groups

  /** All groups that the user may see. */
  default Future<List<GroupSummary>> groups() {
    return ask(Operations.LIST_GROUPS, new ListGroups());
  }

  /** Describes a group. Fails with UNKNOWN_GROUP if there is none. */
  default Future<GroupView> group(String name) {
    return ask(Operations.DESCRIBE_GROUP, new DescribeGroup(name));
  }

  /** Resets the committed offsets of a group, or says what that would do. */
  default Future<OffsetReset> resetOffsets(ResetGroup reset) {
    return ask(Operations.RESET_GROUP, reset);
  }

  /**
   * Who would own the shards of a group after a change, by the planner that also makes the real
   * plans. Changes nothing. Fails with UNKNOWN_GROUP, UNKNOWN_TOPIC, with INVALID if the group or
   * the cluster does not have what the change names, or in mode broadcast, and with UNAVAILABLE
   * until every node runs version 0.2 or later.
   */
  default Future<GroupPlan> plan(PlanGroup change) {
    return ask(Operations.PLAN_GROUP, change);
  }

  /**
   * Deletes a group without members, with its offsets, states, retries and dead letters. Fails with
   * GROUP_ACTIVE if it has a member, and with UNKNOWN_GROUP.
   *
   * @param dryRun whether it only says what would be deleted
   */
  default Future<GroupDeletion> deleteGroup(String group, boolean dryRun) {
    return deleteGroup(group, null, dryRun);
  }

  /**
   * As {@link #deleteGroup(String, boolean)}, for one topic of a group that no member reads.
   *
   * @param topic null: the whole group
   */
  default Future<GroupDeletion> deleteGroup(String group, String topic, boolean dryRun) {
    return ask(Operations.DELETE_GROUP, new DeleteGroup(group, topic, dryRun));
  }

  /**
   * Pauses a group: its members get no more messages until it is resumed, however often nodes and
   * members start anew. They keep their shards, and finish what they have. Pausing twice is no
   * error. Fails with UNKNOWN_GROUP, with INVALID in mode broadcast, and with UNAVAILABLE until
   * every node runs version 0.2 or later.
   */
  default Future<Void> pause(String group) {
    return pause(group, null, null);
  }

  /**
   * As {@link #pause(String)}, for one topic. Fails with UNKNOWN_TOPIC if the group does not read
   * it.
   */
  default Future<Void> pause(String group, String topic) {
    return pause(group, topic, null);
  }

  /**
   * As {@link #pause(String, String)}, for one shard. Fails with UNKNOWN_SHARD.
   *
   * @param topic null: the whole group
   * @param shard null: all shards of the topic
   */
  default Future<Void> pause(String group, String topic, Integer shard) {
    return ask(Operations.PAUSE_GROUP, new PauseGroup(group, topic, shard)).mapEmpty();
  }

  /**
   * Resumes a group: all its pauses end, those of topics and shards too. No error if it is not
   * paused. Fails with UNKNOWN_GROUP.
   */
  default Future<Void> resume(String group) {
    return resume(group, null, null);
  }

  /**
   * As {@link #resume(String)}, for one topic and all its shards. Fails with INVALID if the group
   * is paused as a whole.
   */
  default Future<Void> resume(String group, String topic) {
    return resume(group, topic, null);
  }

  /**
   * As {@link #resume(String, String)}, for one shard. Fails with INVALID if its topic is paused as
   * a whole, or the group is.
   *
   * @param topic null: the whole group
   * @param shard null: all shards of the topic
   */
  default Future<Void> resume(String group, String topic, Integer shard) {
    return ask(Operations.RESUME_GROUP, new ResumeGroup(group, topic, shard)).mapEmpty();
  }

  // Dead letters

  /**
   * Dead letters of a group, by topic, shard and offset.
   *
   * @param after name of the last one of the answer before; null: from the first
   * @param limit 1 to 1,000; the answer may have fewer although there are more. It is empty when
   *     there are no more
   */
  default Future<List<DeadLetterView>> deadLetters(String group, String after, int limit) {
    return ask(Operations.LIST_DEAD_LETTERS, new ListDeadLetters(group, after, limit));
  }

  /** Gives dead letters to their group again. Returns how many they were. */
  default Future<Long> replay(String group, List<String> names) {
    return ask(Operations.REPLAY_DEAD_LETTERS, new ReplayDeadLetters(group, names, false, false))
        .map(DeadLetterCount::count);
  }

  /** Gives all dead letters to their group again. Returns how many they were. */
  default Future<Long> replayAll(String group) {
    return ask(Operations.REPLAY_DEAD_LETTERS, new ReplayDeadLetters(group, null, true, false))
        .map(DeadLetterCount::count);
  }

  /** Deletes dead letters. Returns how many they were. */
  default Future<Long> drop(String group, List<String> names) {
    return ask(Operations.DROP_DEAD_LETTERS, new DropDeadLetters(group, names, false, false))
        .map(DeadLetterCount::count);
  }

  /** Deletes all dead letters of a group. Returns how many they were. */
  default Future<Long> dropAll(String group) {
    return ask(Operations.DROP_DEAD_LETTERS, new DropDeadLetters(group, null, true, false))
        .map(DeadLetterCount::count);
  }

  // Quotas

  /** All quotas that the user may see, by kind and name, with what was used lately. */
  default Future<List<QuotaView>> quotas() {
    return ask(Operations.LIST_QUOTAS, new ListQuotas());
  }

  /** What each user holds of what is scarce on the nodes: the user's own, and with view:* all. */
  default Future<List<ShareView>> shares() {
    return ask(Operations.LIST_SHARES, new ListShares());
  }

  /**
   * Sets a quota in place of the one that there was. It counts within about a second. What it is
   * for need not exist yet. Fails with TOO_LARGE if there are 10,000 others, or if the user has as
   * many as are left.
   *
   * @param bytesPerSecond null: no limit
   * @param messages messages per period; null: no limit. One of both is needed
   * @param periodMillis 1 ms to a day
   */
  default Future<QuotaView> setQuota(
      QuotaKind kind, String name, Long bytesPerSecond, Long messages, long periodMillis) {
    Long period = messages == null ? null : (Long) periodMillis;
    return ask(Operations.SET_QUOTA, new SetQuota(kind, name, bytesPerSecond, messages, period));
  }

  /** The same with messages per second. */
  default Future<QuotaView> setQuota(
      QuotaKind kind, String name, Long bytesPerSecond, Long messagesPerSecond) {
    return setQuota(kind, name, bytesPerSecond, messagesPerSecond, 1_000);
  }

  /** Sets the rate at which all members of a group together start messages. */
  default Future<QuotaView> setGroupRate(String group, Rate rate) {
    return setQuota(QuotaKind.GROUP_RATE, group, null, (long) rate.permits(), rate.periodMillis());
  }

  /** Removes a quota, if there is one. */
  default Future<Void> clearQuota(QuotaKind kind, String name) {
    return ask(Operations.CLEAR_QUOTA, new ClearQuota(kind, name)).mapEmpty();
  }

  // The cluster

  /** The nodes and log groups. */
  default Future<ClusterStatusView> cluster() {
    return ask(Operations.DESCRIBE_CLUSTER, new DescribeCluster());
  }
}
