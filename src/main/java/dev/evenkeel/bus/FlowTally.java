package dev.evenkeel.bus;

import io.vertx.core.json.JsonObject;

/**
 * What a member tells of its own pace.
 *
 * @param rates what its rates have done since its run began; null: it has none
 * @param broadcast mode broadcast: where it stands; null in other modes
 */
public record FlowTally(Rates rates, Broadcast broadcast) {
  /**
   * Counts, and what is so now.
   *
   * @param delayed messages that waited for a token of their key
   * @param dropped messages over the rate that were finished without their handler
   * @param waiting messages that wait for their turn now
   * @param shardsWaiting shards of which no more may wait
   */
  public record Rates(long delayed, long dropped, long waiting, long shardsWaiting) {
    public Rates plus(Rates other) {
      return new Rates(
          delayed + other.delayed,
          dropped + other.dropped,
          waiting + other.waiting,
          shardsWaiting + other.shardsWaiting);
    }

    /** Of a member that is gone: nothing is so now. */
    public Rates past() {
      return new Rates(delayed, dropped, 0, 0);
    }
  }

  /**
   * Where a member in mode broadcast stands.
   *
   * @param lag messages that it has not consumed, by its last fetches; null: not known yet
   * @param passedOver messages that failed so often that it went on without them
   */
  public record Broadcast(Long lag, long passedOver) {}

  JsonObject toJson() {
    JsonObject json = new JsonObject();
    if (rates != null) {
      json.put("delayed", rates.delayed)
          .put("dropped", rates.dropped)
          .put("waiting", rates.waiting)
          .put("shardsWaiting", rates.shardsWaiting);
    }
    if (broadcast != null) {
      json.put("passedOver", broadcast.passedOver).put("lag", broadcast.lag);
    }
    return json;
  }

  /** Of {@link #toJson}; null if {@code json} is. */
  static FlowTally fromJson(JsonObject json) {
    if (json == null) {
      return null;
    }
    Rates rates =
        json.getLong("dropped") == null
            ? null
            : new Rates(
                json.getLong("delayed", 0L),
                json.getLong("dropped"),
                json.getLong("waiting", 0L),
                json.getLong("shardsWaiting", 0L));
    Broadcast broadcast =
        json.getLong("passedOver") == null
            ? null
            : new Broadcast(json.getLong("lag"), json.getLong("passedOver"));
    return new FlowTally(rates, broadcast);
  }
}
