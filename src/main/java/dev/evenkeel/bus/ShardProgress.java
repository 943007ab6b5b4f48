package dev.evenkeel.bus;

import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonArray;

/**
 * The progress of a member on a shard under one epoch. The dispatcher measures moves with it and
 * finds stuck members. Times are relative to the sending of the heartbeat, so that clocks of
 * different programs do not matter.
 *
 * @param epoch of the lease that the member holds or held
 * @param begunOffset one more than the highest offset given to a handler; null before that is known
 * @param fetchedAgoMillis time since its first fetch under the epoch; null if there was none, or if
 *     it was long ago
 * @param endedAgoMillis time since it stopped handling the shard: since its last handler ended, or
 *     since the request to stop if no handler ran then; null while it handles the shard
 * @param stalledMillis for how long it has had messages of the shard in hand without finishing one;
 *     null if it has none in hand. For a lost shard, only while handlers still run
 * @param position the lowest unfinished offset; null before it is known where the member begins
 * @param busyMillis time that handlers of the shard have run under the epoch, all together; null if
 *     unknown
 * @param bytes of the messages that they have handled; null if unknown
 */
public record ShardProgress(
    Shard shard,
    long epoch,
    Long begunOffset,
    Long fetchedAgoMillis,
    Long endedAgoMillis,
    Long stalledMillis,
    Long position,
    Long busyMillis,
    Long bytes) {

  /**
   * {@code [topic id, shard, epoch, begun offset, fetched ago, ended ago, stalled for, position,
   * busy, bytes]}: an array without names, because there may be many. The last two may be left out.
   */
  JsonArray toJson() {
    JsonArray json =
        new JsonArray()
            .add(shard.topicId())
            .add(shard.shard())
            .add(epoch)
            .add(begunOffset)
            .add(fetchedAgoMillis)
            .add(endedAgoMillis)
            .add(stalledMillis)
            .add(position);
    return busyMillis == null ? json : json.add(busyMillis).add(bytes);
  }

  static ShardProgress fromJson(JsonArray json) {
    return new ShardProgress(
        new Shard(json.getInteger(0), json.getInteger(1)),
        json.getLong(2),
        json.getLong(3),
        json.getLong(4),
        json.getLong(5),
        // Former clients send six to eight.
        json.size() > 6 ? json.getLong(6) : null,
        json.size() > 7 ? json.getLong(7) : null,
        json.size() > 9 ? json.getLong(8) : null,
        json.size() > 9 ? json.getLong(9) : null);
  }
}
