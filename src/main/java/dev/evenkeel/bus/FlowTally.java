package dev.evenkeel.bus;

import io.vertx.core.json.JsonObject;

/**
 * How fast a member may and does consume.
 *
 * @param rates what its rate limits have done in this run: {@link GroupFigure.Section#RATES}; none
 *     if it has no limits
 * @param broadcast its progress in mode broadcast; null in other modes
 * @param filtered messages that its filter passed over in this run; null if it has no filter
 */
public record FlowTally(Figures rates, Broadcast broadcast, Long filtered) {
  /**
   * The progress of a member in mode broadcast.
   *
   * @param lag messages that it has not consumed, according to its last fetches; null: not known
   *     yet
   * @param passedOver messages that it gave up after their last attempt
   */
  public record Broadcast(Long lag, long passedOver) {}

  JsonObject toJson() {
    JsonObject json = rates.write(GroupFigure.Section.RATES, new JsonObject());
    if (broadcast != null) {
      json.put("passedOver", broadcast.passedOver).put("lag", broadcast.lag);
    }
    return filtered == null ? json : json.put("filtered", filtered);
  }

  /** Of {@link #toJson}; null if {@code json} is. */
  static FlowTally fromJson(JsonObject json) {
    if (json == null) {
      return null;
    }
    Long passedOver = json.getLong("passedOver");
    return new FlowTally(
        Figures.read(GroupFigure.Section.RATES, json),
        passedOver == null ? null : new Broadcast(json.getLong("lag"), passedOver),
        json.getLong("filtered"));
  }
}
