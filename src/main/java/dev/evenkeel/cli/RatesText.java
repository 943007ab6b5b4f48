package dev.evenkeel.cli;

import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** What the rates of a group's members do, for people. */
final class RatesText {
  private final JsonObject rates;

  /**
   * @param group as the API tells of it
   */
  RatesText(JsonObject group) {
    rates = group.getJsonObject("rates", new JsonObject());
  }

  /** A line; nothing if the members have no rates. */
  String line() {
    if (rates.getLong("dropped") == null) {
      return "";
    }
    long shards = rates.getLong("shardsWaiting");
    return String.format(
        Locale.ROOT,
        "%nrates     %d waiting now%s; %d had to wait, %d dropped",
        rates.getLong("waiting"),
        shards == 0 ? "" : " (the most in " + shards + (shards == 1 ? " shard)" : " shards)"),
        rates.getLong("delayed"),
        rates.getLong("dropped"));
  }
}
