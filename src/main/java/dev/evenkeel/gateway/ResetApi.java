package dev.evenkeel.gateway;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.ResetGroup;
import dev.evenkeel.api.ResetGroup.OffsetReset;
import dev.evenkeel.api.ResetGroup.ResetShard;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.GroupQuestions.ShardId;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Resets the offsets of groups: finds out which offset each shard would get, and asks the
 * dispatcher to set it. The log decides about each shard, and refuses one that another owner took
 * meanwhile.
 */
record ResetApi(ClusterCalls calls) {
  /** Longer than the dispatcher waits for owners to release their shards. */
  private static final long TIMEOUT_MILLIS = 25_000;

  /**
   * @param from the committed offset now, or null
   * @param to the offset to set
   */
  private record ShardReset(String topic, Shard shard, String owner, Long from, long to) {
    ResetShard with(String state, Long epoch, Long generation, Long at, String waitsFor) {
      return new ResetShard(
          topic,
          shard.shard(),
          owner,
          from,
          at == null ? to : at,
          state,
          epoch,
          generation,
          waitsFor);
    }
  }

  Future<OffsetReset> reset(ResetGroup asked) {
    StartAt to = StartAt.parse(asked.to());
    String group = asked.group();
    return calls
        .askDispatcher(new GroupQuestions.Look(group, null))
        .map(answer -> RecordJson.of(GroupView.class).read(new JsonObject(answer)))
        .map(found -> selected(found, asked))
        .compose(shards -> calls.newestTopics().compose(view -> resets(view, shards, to)))
        .compose(
            resets ->
                asked.dryRun()
                    ? Future.succeededFuture(report(group, resets, null))
                    : submit(group, resets, to, asked.force())
                        .map(done -> report(group, resets, done)));
  }

  private static List<GroupView.Shard> selected(GroupView group, ResetGroup asked) {
    String topic = asked.topic();
    int shard = asked.shard() == null ? -1 : asked.shard();
    List<GroupView.Shard> selected = new ArrayList<>();
    long topics = 0;
    String last = null;
    for (GroupView.Shard one : group.shards()) {
      topics += one.topic().equals(last) ? 0 : 1;
      last = one.topic();
      boolean wanted = (topic == null || topic.equals(last)) && (shard < 0 || shard == one.shard());
      if (wanted) {
        selected.add(one);
      }
    }
    if (shard >= 0 && topic == null && topics > 1) {
      throw Refusal.INVALID.error("the group reads %s topics: name the shard's topic", topics);
    }
    if (selected.isEmpty()) {
      throw Refusal.UNKNOWN_SHARD.error(
          "group '%s' reads no %s%s",
          group.group(),
          shard < 0 ? "shard" : "shard " + shard,
          topic == null ? "" : " of '" + topic + "'");
    }
    return selected;
  }

  private Future<List<ShardReset>> resets(
      ClusterView view, List<GroupView.Shard> shards, StartAt to) {
    return ClusterCalls.forEach(shards, shard -> shardReset(view, shard, to));
  }

  private Future<ShardReset> shardReset(ClusterView view, GroupView.Shard of, StartAt to) {
    String topic = of.topic();
    Shard shard = new Shard(view.existing(topic).id(), of.shard());
    Future<Long> offset =
        to.kind() == StartAt.Kind.OFFSET
            ? inRange(topic, shard, to.value())
            : calls.offset(shard, to);
    return offset.map(at -> new ShardReset(topic, shard, of.owner(), of.committed(), at));
  }

  private Future<Long> inRange(String topic, Shard shard, long offset) {
    return calls
        .offset(shard, StartAt.EARLIEST)
        .compose(
            start ->
                calls
                    .offset(shard, StartAt.LATEST)
                    .map(
                        end -> {
                          if (offset < start || offset > end) {
                            throw Refusal.OFFSET_OUT_OF_RANGE.error(
                                "offset %s: %s/%s has %s to %s, the next message",
                                offset, topic, shard.shard(), start, end);
                          }
                          return offset;
                        }));
  }

  private Future<JsonArray> submit(
      String group, List<ShardReset> resets, StartAt to, boolean force) {
    List<ShardId> shards =
        resets.stream()
            .map(each -> new ShardId(each.shard().topicId(), each.shard().shard()))
            .toList();
    GroupQuestions.Reset question =
        new GroupQuestions.Reset(group, shards, to.kind().name(), to.value(), force);
    return calls
        .tellDispatcher(question, TIMEOUT_MILLIS)
        .map((Buffer answer) -> new JsonArray(answer));
  }

  /**
   * @param done what the dispatcher says of each shard; null for a dry run
   */
  private static OffsetReset report(String group, List<ShardReset> resets, JsonArray done) {
    List<ResetShard> shards =
        resets.stream()
            .map(
                each ->
                    done == null
                        ? each.with("DRY_RUN", null, null, null, null)
                        : merged(each, done))
            .toList();
    return new OffsetReset(group, done == null, shards);
  }

  private static ResetShard merged(ShardReset reset, JsonArray done) {
    for (Object each : done) {
      JsonObject one = (JsonObject) each;
      if (reset.topic().equals(one.getString("topic"))
          && reset.shard().shard() == one.getInteger("shard")) {
        return reset.with(
            one.getString("state"),
            one.getLong("epoch"),
            one.getLong("generation"),
            one.getLong("to"),
            one.getString("waitsFor"));
      }
    }
    return reset.with("PENDING", null, null, null, null);
  }
}
