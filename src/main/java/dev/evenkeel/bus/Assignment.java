package dev.evenkeel.bus;

import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * All that a member owns, as the log says: the answer to each heartbeat, and pushed on change. Of
 * two the one with the higher (term, revision) is the later.
 *
 * @param term of the dispatcher
 * @param revision grows with each assignment that the dispatcher of this term made
 * @param shards every shard that the member owns
 * @param lead mode singleton: it leads the group; null: it does not
 */
public record Assignment(
    String group,
    String member,
    String instance,
    long term,
    long revision,
    List<Owned> shards,
    Lead lead) {

  /** For a member that leads no group. */
  public Assignment(
      String group, String member, String instance, long term, long revision, List<Owned> shards) {
    this(group, member, instance, term, revision, shards, null);
  }

  /**
   * That the member holds the lease of its group, and so leads it.
   *
   * @param term of the group's lease, which is not that of the dispatcher
   * @param whole all shards of the topics that it reads were granted to it at this term
   * @param ending another shall lead, or all shards are reset: this member hands over
   */
  public record Lead(long term, boolean whole, boolean ending) {
    public Lead asEnding() {
      return new Lead(term, whole, true);
    }
  }

  /**
   * @param topic name of the topic
   * @param epoch of the lease
   * @param draining the member shall let go of it
   * @param deadlineMillis if draining: when it loses the shard anyway, in milliseconds since 1970
   * @param committed the lease's committed offset when it was granted, or -1 if that is not known.
   *     Who has never held this epoch and keeps no state begins there without reading the lease
   */
  public record Owned(
      String topic,
      Shard shard,
      long epoch,
      boolean draining,
      long deadlineMillis,
      long committed) {}

  public boolean laterThan(long otherTerm, long otherRevision) {
    return term > otherTerm || term == otherTerm && revision > otherRevision;
  }

  public JsonObject toJson() {
    JsonArray array = new JsonArray();
    for (Owned owned : shards) {
      array.add(
          new JsonObject()
              .put("topic", owned.topic())
              .put("topicId", owned.shard().topicId())
              .put("shard", owned.shard().shard())
              .put("epoch", owned.epoch())
              .put("draining", owned.draining())
              .put("deadlineMillis", owned.deadlineMillis())
              .put("committed", owned.committed()));
    }
    JsonObject json =
        new JsonObject()
            .put("group", group)
            .put("member", member)
            .put("instance", instance)
            .put("term", term)
            .put("revision", revision)
            .put("shards", array);
    if (lead != null) {
      json.put(
          "lead",
          new JsonObject()
              .put("term", lead.term())
              .put("whole", lead.whole())
              .put("ending", lead.ending()));
    }
    return json;
  }

  public static Assignment fromJson(JsonObject json) {
    List<Owned> shards = new ArrayList<>();
    for (Object each : json.getJsonArray("shards")) {
      JsonObject owned = (JsonObject) each;
      shards.add(
          new Owned(
              owned.getString("topic"),
              new Shard(owned.getInteger("topicId"), owned.getInteger("shard")),
              owned.getLong("epoch"),
              owned.getBoolean("draining"),
              owned.getLong("deadlineMillis"),
              owned.getLong("committed", -1L)));
    }
    return new Assignment(
        json.getString("group"),
        json.getString("member"),
        json.getString("instance"),
        json.getLong("term"),
        json.getLong("revision"),
        List.copyOf(shards),
        lead(json.getJsonObject("lead")));
  }

  private static Lead lead(JsonObject json) {
    return json == null
        ? null
        : new Lead(json.getLong("term"), json.getBoolean("whole"), json.getBoolean("ending"));
  }
}
