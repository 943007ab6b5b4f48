package dev.evenkeel.dispatcher;

import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;

/**
 * What a look at many groups saw. It does not change, so answers can be made of it on any thread.
 *
 * @param statuses of the shards that were read
 */
record GroupsSeen(
    List<GroupReport> groups, List<TopicInfo> topics, Map<Shard, ShardStatus> statuses) {

  List<GroupSummary> list() {
    return groups.stream().map(GroupReport::summary).toList();
  }

  /** The groups with all details, and the ends of the topics. */
  JsonObject everything() {
    return new JsonObject()
        .put("groups", RecordJson.json(groups.stream().map(GroupReport::view).toList()))
        .put("topics", new JsonArray(topics.stream().map(this::topic).toList()));
  }

  private JsonObject topic(TopicInfo topic) {
    return new JsonObject()
        .put("name", topic.name())
        .put("shards", topic.shards())
        .put("end", ShardStatus.sum(topic, statuses, ShardStatus::endOffset))
        .put("bytes", ShardStatus.sum(topic, statuses, ShardStatus::bytes))
        .put("delayed", ShardStatus.sum(topic, statuses, status -> status.delayed().messages()))
        .mergeIn(RecordJson.json(TopicLimits.of(topic.config())));
  }
}
