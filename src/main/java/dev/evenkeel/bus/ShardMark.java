package dev.evenkeel.bus;

import dev.evenkeel.model.Shard;
import io.vertx.core.json.JsonArray;

/**
 * How far a member is, or was, with a shard under one epoch: for the figures of moves. Times are
 * ages at the sending of the heartbeat, so that clocks of different programs do not matter.
 *
 * @param epoch of the lease that the member holds or held
 * @param begunOffset one more than the highest offset given to a handler; null before that is known
 * @param fetchedAgoMillis since its first fetch under the epoch; null if there was none, or long
 *     ago
 * @param endedAgoMillis since it stopped handling the shard: the end of its last handler, or the
 *     moment it was told to stop if none ran then; null if it goes on
 */
public record ShardMark(
    Shard shard, long epoch, Long begunOffset, Long fetchedAgoMillis, Long endedAgoMillis) {

  /** {@code [topic id, shard, epoch, begun offset, fetched ago, ended ago]}; there may be many. */
  JsonArray toJson() {
    return new JsonArray()
        .add(shard.topicId())
        .add(shard.shard())
        .add(epoch)
        .add(begunOffset)
        .add(fetchedAgoMillis)
        .add(endedAgoMillis);
  }

  static ShardMark fromJson(JsonArray json) {
    return new ShardMark(
        new Shard(json.getInteger(0), json.getInteger(1)),
        json.getLong(2),
        json.getLong(3),
        json.getLong(4),
        json.getLong(5));
  }
}
