package dev.evenkeel.bus;

import io.vertx.core.json.JsonObject;
import java.util.Collection;

/**
 * How much a group has of failures, on all shards together.
 *
 * @param retriesWaiting messages that wait for another attempt
 * @param parked messages that wait behind another of their key
 * @param shardsWaiting shards that wait for a retry, or for room to park
 * @param deadLetters messages of which every attempt failed
 */
public record FailureSum(long retriesWaiting, long parked, long shardsWaiting, long deadLetters) {

  /** The sum of some of one group. */
  public static FailureSum of(Collection<FailureFigures> figures) {
    long waiting = 0;
    long parked = 0;
    long shardsWaiting = 0;
    long dead = 0;
    for (FailureFigures each : figures) {
      waiting += each.waiting() + each.held();
      parked += each.parked();
      shardsWaiting += each.shardWaits() ? 1 : 0;
      dead += each.dead();
    }
    return new FailureSum(waiting, parked, shardsWaiting, dead);
  }

  public JsonObject toJson() {
    return new JsonObject()
        .put("retriesWaiting", retriesWaiting)
        .put("parked", parked)
        .put("shardsWaiting", shardsWaiting)
        .put("deadLetters", deadLetters);
  }
}
