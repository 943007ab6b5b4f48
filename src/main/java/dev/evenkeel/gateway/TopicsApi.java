package dev.evenkeel.gateway;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Answers {@code evenkeel.api.topics}: lists, shows, creates, configures, reshards and deletes
 * topics.
 */
final class TopicsApi {
  private static final List<String> CONFIG_FIELDS =
      List.of("retentionMillis", "ageMillisMax", "shardBytesMax");
  private static final List<String> FIELDS =
      List.of("action", "name", "shards", "retentionMillis", "ageMillisMax", "shardBytesMax");

  private final ClusterCalls calls;
  private final ReadyApi ready;

  TopicsApi(ClusterCalls calls, ReadyApi ready) {
    this.calls = calls;
    this.ready = ready;
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String action = JsonFields.neededText(request, "action");
    return switch (action) {
      case "ready" -> ready.answer();
      case "list" -> list();
      case "get" -> get(JsonFields.neededText(request, "name"));
      case "create" -> create(request);
      case "configure" -> configure(request);
      case "reshard" -> reshard(request);
      case "delete" -> delete(JsonFields.neededText(request, "name"));
      default ->
          throw JsonFields.invalid(
              "unknown action '"
                  + action
                  + "': use list, get, create, configure, reshard, delete or ready");
    };
  }

  private Future<Object> list() {
    return calls
        .newestTopics()
        .compose(
            view ->
                statuses(view)
                    .map(
                        statuses -> {
                          JsonArray topics = new JsonArray();
                          view.topics().stream()
                              .sorted((a, b) -> a.name().compareTo(b.name()))
                              .forEach(topic -> topics.add(summary(topic, statuses)));
                          return topics;
                        }));
  }

  private Future<Object> get(String name) {
    return calls
        .newestTopics()
        .compose(
            view -> {
              TopicInfo topic = view.existing(name);
              return statuses(view)
                  .compose(
                      statuses ->
                          logGroups(view, topic)
                              .map(
                                  logGroups ->
                                      detail(view, topic, statuses).put("logGroups", logGroups)));
            });
  }

  private static int shards(JsonObject request) {
    if (request.getValue("shards") == null) {
      throw JsonFields.invalid(
          "the field 'shards' is missing: it must be from 1 to " + Limits.SHARDS_MAX);
    }
    return (int) JsonFields.number(request, "shards", 0, 1, Limits.SHARDS_MAX);
  }

  private Future<Object> reshard(JsonObject request) {
    String name = JsonFields.neededText(request, "name");
    if (CONFIG_FIELDS.stream().anyMatch(field -> request.getValue(field) != null)) {
      throw JsonFields.invalid("a topic is resharded with 'shards' alone: configure it apart");
    }
    Bytes body = new Bytes().text(name).i32(shards(request));
    return calls.toMetaLeader(Op.RESHARD_TOPIC, body).map(answer -> created(topicOf(answer)));
  }

  private Future<Object> create(JsonObject request) {
    String name = Names.check("topic", JsonFields.neededText(request, "name"));
    int shards = shards(request);
    TopicConfig config = config(request, TopicConfig.DEFAULT);
    Bytes body = new Bytes().text(name).i32(shards);
    RecordCodec.TOPIC_CONFIG.write(body, config);
    return calls.toMetaLeader(Op.CREATE_TOPIC, body).map(answer -> created(topicOf(answer)));
  }

  private Future<Object> configure(JsonObject request) {
    String name = JsonFields.neededText(request, "name");
    if (request.getValue("shards") != null) {
      throw JsonFields.invalid(
          "the number of shards is no setting: to change it, reshard the topic");
    }
    if (CONFIG_FIELDS.stream().noneMatch(field -> request.getValue(field) != null)) {
      throw JsonFields.invalid(
          "nothing to change: give one of " + String.join(", ", CONFIG_FIELDS));
    }
    return calls
        .newestTopics()
        .compose(
            view -> {
              Bytes body = new Bytes().text(name);
              RecordCodec.TOPIC_CONFIG.write(body, config(request, view.existing(name).config()));
              return calls.toMetaLeader(Op.CONFIGURE_TOPIC, body);
            })
        .map(answer -> created(topicOf(answer)));
  }

  private Future<Object> delete(String name) {
    return calls
        .toMetaLeader(Op.DELETE_TOPIC, new Bytes().text(name))
        .map(
            answer -> {
              LeaderClient.reply(answer);
              return new JsonObject().put("name", name).put("deleted", true);
            });
  }

  private static TopicConfig config(JsonObject request, TopicConfig absent) {
    return new TopicConfig(
        JsonFields.number(
            request, "retentionMillis", absent.retentionMillis(), 0, Long.MAX_VALUE / 2),
        JsonFields.number(request, "ageMillisMax", absent.ageMillisMax(), -1, Long.MAX_VALUE / 2),
        JsonFields.number(
            request, "shardBytesMax", absent.shardBytesMax(), -1, Long.MAX_VALUE / 2));
  }

  /** The status of all shards whose leaders answer. */
  private Future<Map<Shard, ShardStatus>> statuses(ClusterView view) {
    return ClusterCalls.forEachDataGroup(
            view,
            group ->
                view.dataLeaders().get(group) == null
                    ? Future.succeededFuture(List.<ShardStatus>of())
                    : calls
                        .toDataLeader(group, Op.READ_SHARDS, new Bytes().i32(group).text(null))
                        .map(body -> ShardStatus.LIST.read(new ByteReader(body)))
                        .otherwise(List.of()))
        .map(
            all -> {
              Map<Shard, ShardStatus> statuses = new HashMap<>();
              all.forEach(some -> some.forEach(each -> statuses.put(each.shard(), each)));
              return statuses;
            });
  }

  /** What the leaders of the topic's data groups store, of all topics together. */
  private Future<JsonArray> logGroups(ClusterView view, TopicInfo topic) {
    ShardGroups all = view.shardGroups();
    List<Integer> groups =
        topic
            .numbers()
            .map(shard -> all.of(new Shard(topic.id(), shard)))
            .distinct()
            .sorted()
            .boxed()
            .toList();
    return ClusterCalls.forEach(groups, group -> logGroup(view, group))
        .map(each -> new JsonArray(List.copyOf(each)));
  }

  private Future<JsonObject> logGroup(ClusterView view, int group) {
    String name = "d" + group;
    String leader = view.dataLeaders().get(group);
    Future<NodeLogs.Bodies> bodies =
        leader == null
            ? Future.succeededFuture()
            : calls
                .toDataLeader(group, Op.READ_LOGS, new Bytes())
                .map(answer -> bodies(NodeLogs.decode(new ByteReader(answer)), name))
                .otherwiseEmpty();
    return bodies.map(
        known ->
            new JsonObject()
                .put("group", name)
                .put("leader", leader)
                .put("liveBytes", known == null ? null : known.liveBytes())
                .put("deadBytes", known == null ? null : known.deadBytes())
                .put("lostMessages", known == null ? null : known.lostMessages()));
  }

  private static NodeLogs.Bodies bodies(NodeLogs logs, String name) {
    return logs.groups().stream()
        .filter(group -> group.name().equals(name))
        .map(group -> group.condition().bodies())
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static JsonObject summary(TopicInfo topic, Map<Shard, ShardStatus> statuses) {
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
    return created(topic)
        .put(
            "messages",
            ShardStatus.sum(topic, statuses, status -> status.endOffset() - status.startOffset()))
        .put("bytes", ShardStatus.sum(topic, statuses, ShardStatus::bytes))
        .put("messagesDropped", ShardStatus.sum(topic, statuses, ShardStatus::messagesDropped))
        .put("delayed", delayed)
        .put("nextDueMillis", nextDue);
  }

  private static Long nextDue(ShardStatus status) {
    return status.delayed().messages() == 0 ? null : (Long) status.delayed().nextDueMillis();
  }

  private static JsonObject detail(
      ClusterView view, TopicInfo topic, Map<Shard, ShardStatus> statuses) {
    JsonArray list = new JsonArray();
    for (Shard shard : topic.all()) {
      ShardStatus status = statuses.get(shard);
      list.add(
          new JsonObject()
              .put("shard", shard.shard())
              .put("sealed", topic.isSealed(shard.shard()))
              .put("parents", new JsonArray(topic.parents(shard.shard())))
              .put("start", status == null ? null : status.startOffset())
              .put("end", status == null ? null : status.endOffset())
              .put("bytes", status == null ? null : status.bytes())
              .put("delayed", status == null ? null : status.delayed().messages())
              .put("nextDueMillis", status == null ? null : nextDue(status))
              .put("logGroup", "d" + view.shardGroups().of(shard))
              .put("leader", view.leaderOf(shard)));
    }
    return summary(topic, statuses).put("shardList", list);
  }

  private static JsonObject created(TopicInfo topic) {
    return new JsonObject()
        .put("name", topic.name())
        .put("shards", topic.shards())
        .put("retentionMillis", topic.config().retentionMillis())
        .put("ageMillisMax", topic.config().ageMillisMax())
        .put("shardBytesMax", topic.config().shardBytesMax())
        .put("createdMillis", topic.createdMillis());
  }

  private static TopicInfo topicOf(ByteBuffer answer) {
    Reply reply = LeaderClient.reply(answer);
    if (reply instanceof Reply.OfTopic ofTopic) {
      return ofTopic.topic();
    }
    throw new RefusedException(Refusal.WRONG_VERSION, "unexpected answer " + reply);
  }
}
