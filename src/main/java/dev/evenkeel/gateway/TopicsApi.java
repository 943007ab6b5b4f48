package dev.evenkeel.gateway;

import dev.evenkeel.api.ConfigureTopic;
import dev.evenkeel.api.CreateTopic;
import dev.evenkeel.api.DeleteTopic;
import dev.evenkeel.api.DeleteTopic.DeletedTopic;
import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.DescribeTopic.LogGroupDetail;
import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.api.DescribeTopic.TopicDetail;
import dev.evenkeel.api.ListTopics;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.ReshardTopic;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.api.TopicView.Figures;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Lists, shows, creates, configures, reshards and deletes topics. */
record TopicsApi(ClusterCalls calls, ReadyApi ready) {
  void serve(ApiAnswers answers) {
    answers
        .on(Operations.LIST_TOPICS, this::list)
        .by(Operations.CREATE_TOPIC, this::create)
        .on(Operations.DESCRIBE_TOPIC, this::describe)
        .on(Operations.CONFIGURE_TOPIC, this::configure)
        .on(Operations.RESHARD_TOPIC, this::reshard)
        .on(Operations.DELETE_TOPIC, this::delete)
        .on(Operations.ASK_READY, ready::answer);
  }

  private Future<List<TopicView>> list(ListTopics all) {
    return calls
        .newestTopics()
        .compose(
            view ->
                statuses(view)
                    .map(
                        statuses ->
                            view.topics().stream()
                                .sorted(Comparator.comparing(TopicInfo::name))
                                .map(topic -> view(topic, figures(topic, statuses)))
                                .toList()));
  }

  private Future<TopicDetail> describe(DescribeTopic asked) {
    return calls
        .newestTopics()
        .compose(
            view -> {
              TopicInfo topic = view.existing(asked.name());
              return statuses(view)
                  .compose(
                      statuses ->
                          logGroups(view, topic)
                              .map(
                                  logGroups ->
                                      new TopicDetail(
                                          view(topic, figures(topic, statuses)),
                                          shards(view, topic, statuses),
                                          logGroups)));
            });
  }

  private Future<TopicView> reshard(ReshardTopic asked) {
    return change(Calls.RESHARD_TOPIC, new Calls.ReshardTopic(asked.name(), asked.shards()));
  }

  private Future<TopicView> create(CreateTopic asked, String user) {
    return calls
        .toMetaLeader(
            Calls.CREATE_TOPIC,
            new Calls.CreateTopic(
                Names.check("topic", asked.name()),
                asked.shards(),
                asked.limits().over(TopicConfig.DEFAULT)),
            user)
        .map(reply -> view(topicOf(reply), null));
  }

  private Future<TopicView> configure(ConfigureTopic asked) {
    TopicLimits limits = asked.limits();
    if (limits.areNone()) {
      throw Refusal.INVALID.error(
          "nothing to change: give one of %s",
          String.join(", ", RecordJson.of(TopicLimits.class).fields()));
    }
    return calls
        .newestTopics()
        .compose(
            view -> {
              TopicConfig now = view.existing(asked.name()).config();
              return change(
                  Calls.CONFIGURE_TOPIC, new Calls.ConfigureTopic(asked.name(), limits.over(now)));
            });
  }

  private <Q> Future<TopicView> change(Call<Q, Reply> call, Q question) {
    return calls.toMetaLeader(call, question).map(reply -> view(topicOf(reply), null));
  }

  private Future<DeletedTopic> delete(DeleteTopic asked) {
    return calls
        .toMetaLeader(Calls.DELETE_TOPIC, asked.name())
        .map(Calls::taken)
        .map(done -> new DeletedTopic(asked.name(), true));
  }

  /** The status of all shards whose leaders answer. */
  private Future<Map<Shard, ShardStatus>> statuses(ClusterView view) {
    return ClusterCalls.forEachDataGroup(
            view,
            group ->
                view.dataLeaders().get(group) == null
                    ? Future.succeededFuture(List.<ShardStatus>of())
                    : calls
                        .toDataLeader(
                            group, Calls.READ_SHARDS, new Calls.ReadShards(group, null, null))
                        .otherwise(List.of()))
        .map(
            all -> {
              Map<Shard, ShardStatus> statuses = new HashMap<>();
              all.forEach(some -> some.forEach(each -> statuses.put(each.shard(), each)));
              return statuses;
            });
  }

  /** What the leaders of the topic's data groups store, of all topics together. */
  private Future<List<LogGroupDetail>> logGroups(ClusterView view, TopicInfo topic) {
    ShardGroups all = view.shardGroups();
    List<Integer> groups =
        topic
            .numbers()
            .map(shard -> all.of(new Shard(topic.id(), shard)))
            .distinct()
            .sorted()
            .boxed()
            .toList();
    return ClusterCalls.forEach(groups, group -> logGroup(view, group));
  }

  private Future<LogGroupDetail> logGroup(ClusterView view, int group) {
    String name = "d" + group;
    String leader = view.dataLeaders().get(group);
    Future<NodeLogs.Bodies> bodies =
        leader == null
            ? Future.succeededFuture()
            : calls
                .toDataLeader(group, Calls.READ_LOGS, null)
                .map(logs -> bodies(logs, name))
                .otherwiseEmpty();
    return bodies.map(
        known ->
            new LogGroupDetail(
                name,
                leader,
                known == null ? null : (Long) known.liveBytes(),
                known == null ? null : (Long) known.deadBytes(),
                known == null ? null : (Long) known.lostMessages()));
  }

  private static NodeLogs.Bodies bodies(NodeLogs logs, String name) {
    return logs.groups().stream()
        .filter(group -> group.name().equals(name))
        .map(group -> group.condition().bodies())
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static Figures figures(TopicInfo topic, Map<Shard, ShardStatus> statuses) {
    Long delayed = ShardStatus.sum(topic, statuses, status -> status.delayed().messages());
    Long nextDue =
        delayed == null
            ? null
            : statuses.values().stream()
                .filter(status -> status.shard().topicId() == topic.id())
                .map(TopicsApi::nextDue)
                .filter(Objects::nonNull)
                .min(Long::compare)
                .orElse(null);
    return new Figures(
        ShardStatus.sum(topic, statuses, status -> status.endOffset() - status.startOffset()),
        ShardStatus.sum(topic, statuses, ShardStatus::bytes),
        ShardStatus.sum(topic, statuses, ShardStatus::messagesDropped),
        delayed,
        nextDue);
  }

  private static Long nextDue(ShardStatus status) {
    return status.delayed().messages() == 0 ? null : (Long) status.delayed().nextDueMillis();
  }

  private static List<ShardDetail> shards(
      ClusterView view, TopicInfo topic, Map<Shard, ShardStatus> statuses) {
    List<ShardDetail> shards = new ArrayList<>();
    for (Shard shard : topic.all()) {
      ShardStatus status = statuses.get(shard);
      shards.add(
          new ShardDetail(
              shard.shard(),
              topic.isSealed(shard.shard()),
              topic.parents(shard.shard()),
              status == null ? null : (Long) status.startOffset(),
              status == null ? null : (Long) status.endOffset(),
              status == null ? null : (Long) status.bytes(),
              status == null ? null : (Long) status.delayed().messages(),
              status == null ? null : nextDue(status),
              "d" + view.shardGroups().of(shard),
              view.leaderOf(shard)));
    }
    return shards;
  }

  private static TopicView view(TopicInfo topic, Figures figures) {
    return new TopicView(
        topic.name(),
        topic.shards(),
        TopicLimits.of(topic.config()),
        topic.createdMillis(),
        figures);
  }

  private static TopicInfo topicOf(Reply answer) {
    Reply reply = Calls.taken(answer);
    if (reply instanceof Reply.OfTopic ofTopic) {
      return ofTopic.topic();
    }
    throw Refusal.WRONG_VERSION.error("unexpected answer " + reply);
  }
}
