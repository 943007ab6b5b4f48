package dev.evenkeel.bus;

import io.vertx.core.json.JsonObject;

/**
 * What a member tells of its own pace.
 *
 * @param rates what its rates have done since its run began: {@link GroupFigure.Section#RATES};
 *     none if it has no rates
 * @param broadcast mode broadcast: where it stands; null in other modes
 */
public record FlowTally(Figures rates, Broadcast broadcast) {
  /**
   * Where a member in mode broadcast stands.
   *
   * @param lag messages that it has not consumed, by its last fetches; null: not known yet
   * @param passedOver messages that failed so often that it went on without them
   */
  public record Broadcast(Long lag, long passedOver) {}

  JsonObject toJson() {
    JsonObject json = rates.write(GroupFigure.Section.RATES, new JsonObject());
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
    Long passedOver = json.getLong("passedOver");
    return new FlowTally(
        Figures.read(GroupFigure.Section.RATES, json),
        passedOver == null ? null : new Broadcast(json.getLong("lag"), passedOver));
  }
}
