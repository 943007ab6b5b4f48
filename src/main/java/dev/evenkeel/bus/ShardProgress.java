package dev.evenkeel.bus;

import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonArray;

/**
 * How far a member is, or was, with a shard under one epoch: for the figures of moves, and to tell
 * who is stuck. Times are ages at the sending of the heartbeat, so that clocks of different
 * programs do not matter.
 *
 * @param epoch of the lease that the member holds or held
 * @param begunOffset one more than the highest offset given to a handler; null before that is known
 * @param fetchedAgoMillis since its first fetch under the epoch; null if there was none, or long
 *     ago
 * @param endedAgoMillis since it stopped handling the shard: the end of its last handler, or the
 *     moment it was told to stop if none ran then; null if it goes on
 * @param stalledMillis for how long something of the shard has been in hand while nothing was
 *     finished; null if nothing is in hand. Of a shard that was lost: while handlers still run
 */
public record ShardProgress(
    Shard shard,
    long epoch,
    Long begunOffset,
    Long fetchedAgoMillis,
    Long endedAgoMillis,
    Long stalledMillis) {

  /**
   * {@code [topic id, shard, epoch, begun offset, fetched ago, ended ago, stalled for]}; there may
   * be many.
   */
  JsonArray toJson() {
    return new JsonArray()
        .add(shard.topicId())
        .add(shard.shard())
        .add(epoch)
        .add(begunOffset)
        .add(fetchedAgoMillis)
        .add(endedAgoMillis)
        .add(stalledMillis);
  }

  static ShardProgress fromJson(JsonArray json) {
    return new ShardProgress(
        new Shard(json.getInteger(0), json.getInteger(1)),
        json.getLong(2),
        json.getLong(3),
        json.getLong(4),
        json.getLong(5),
        // Clients of before it was told send six.
        json.size() > 6 ? json.getLong(6) : null);
  }
}
