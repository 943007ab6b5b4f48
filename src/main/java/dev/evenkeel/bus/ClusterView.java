package dev.evenkeel.bus;

import dev.evenkeel.model.Shard;
import dev.evenkeel.model.TopicConfig;
import dev.evenkeel.model.TopicInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Who leads what, and which topics there are: what a client needs to find its way. Any broker gives
 * it; it may be a little old, and the leader's own answer corrects it.
 *
 * @param cluster the cluster's id
 * @param node the node that answered
 * @param metaLeader node id that leads meta, which is also the active dispatcher; null if unknown
 * @param dataLeaders leader of each data group; null entries if unknown
 * @param nodes all node ids
 * @param topics active topics
 */
public record ClusterView(
    String cluster,
    String node,
    String metaLeader,
    List<String> dataLeaders,
    List<String> nodes,
    List<TopicInfo> topics) {

  /** The leader of a shard, or null if unknown. */
  public String leaderOf(Shard shard) {
    return dataLeaders.isEmpty() ? null : dataLeaders.get(shard.dataGroup(dataLeaders.size()));
  }

  /** The active topic of that name, or null. */
  public TopicInfo topic(String name) {
    for (TopicInfo topic : topics) {
      if (topic.name().equals(name)) {
        return topic;
      }
    }
    return null;
  }

  public TopicInfo topic(int id) {
    for (TopicInfo topic : topics) {
      if (topic.id() == id) {
        return topic;
      }
    }
    return null;
  }

  public JsonObject toJson() {
    JsonArray topicArray = new JsonArray();
    for (TopicInfo topic : topics) {
      topicArray.add(
          new JsonObject()
              .put("id", topic.id())
              .put("name", topic.name())
              .put("shards", topic.shards())
              .put("retentionMillis", topic.config().retentionMillis())
              .put("ageMillisMax", topic.config().ageMillisMax())
              .put("shardBytesMax", topic.config().shardBytesMax())
              .put("createdMillis", topic.createdMillis()));
    }
    return new JsonObject()
        .put("cluster", cluster)
        .put("node", node)
        .put("metaLeader", metaLeader)
        .put("dataLeaders", new JsonArray(new ArrayList<>(dataLeaders)))
        .put("nodes", new JsonArray(new ArrayList<>(nodes)))
        .put("topics", topicArray);
  }

  public static ClusterView fromJson(JsonObject json) {
    List<TopicInfo> topics = new ArrayList<>();
    for (Object each : json.getJsonArray("topics")) {
      JsonObject topic = (JsonObject) each;
      topics.add(
          new TopicInfo(
              topic.getInteger("id"),
              topic.getString("name"),
              topic.getInteger("shards"),
              new TopicConfig(
                  topic.getLong("retentionMillis"),
                  topic.getLong("ageMillisMax"),
                  topic.getLong("shardBytesMax")),
              TopicInfo.State.ACTIVE,
              topic.getLong("createdMillis")));
    }
    return new ClusterView(
        json.getString("cluster"),
        json.getString("node"),
        json.getString("metaLeader"),
        texts(json.getJsonArray("dataLeaders")),
        texts(json.getJsonArray("nodes")),
        topics);
  }

  private static List<String> texts(JsonArray array) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      texts.add(array.getString(i));
    }
    return texts;
  }
}
