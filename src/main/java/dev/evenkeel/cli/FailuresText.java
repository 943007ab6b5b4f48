package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** What a group has of messages that failed, for people. What is unknown is a hyphen. */
final class FailuresText {
  private final JsonObject group;

  /**
   * @param group as the API tells of it
   */
  FailuresText(JsonObject group) {
    this.group = group;
  }

  /** Some lines; nothing if nothing has failed. */
  String lines() {
    return counts() + breakers();
  }

  private String counts() {
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

  private String breakers() {
    List<String> open = new ArrayList<>();
    for (Object each : group.getJsonArray("members", new JsonArray())) {
      JsonObject member = (JsonObject) each;
      if ("open".equals(member.getString("breaker"))) {
        open.add(member.getString("member"));
      }
    }
    return open.isEmpty()
        ? ""
        : "\nbreaker   open: most messages fail at "
            + String.join(", ", open)
            + ", where one at a time is tried";
  }
}
