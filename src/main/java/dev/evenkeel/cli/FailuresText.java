package dev.evenkeel.cli;

import io.vertx.core.json.JsonObject;

/** What a group has of messages that failed, for people. What is unknown is a hyphen. */
final class FailuresText {
  private final JsonObject group;

  /**
   * @param group as the API tells of it
   */
  FailuresText(JsonObject group) {
    this.group = group;
  }

  /** A line; nothing if nothing has failed. */
  String line() {
    if (!group.containsKey("failures")) {
      return "";
    }
    JsonObject failures = group.getJsonObject("failures");
    if (failures == null) {
      return "\nfailures  -";
    }
    long waiting = failures.getLong("retriesWaiting");
    long parked = failures.getLong("parked");
    long shards = failures.getLong("shardsWaiting");
    long dead = failures.getLong("deadLetters");
    return waiting + parked + shards + dead == 0
        ? ""
        : String.format(
            "%nfailures  %d to be tried again, %d parked behind them, %d shards wait; %d dead letters",
            waiting, parked, shards, dead);
  }
}
