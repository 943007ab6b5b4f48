package dev.evenkeel.cli;

import io.vertx.core.json.JsonObject;

/** The status of a group in words for people, the same as on the page; JSON has the names. */
final class StatusText {
  private StatusText() {}

  /** Null if it is unknown; a status that this program does not know keeps its name. */
  static String of(JsonObject group) {
    String status = group.getString("status");
    Integer members = GroupCommand.members(group);
    if (status == null) {
      return null;
    }
    if (members != null && members == 0) {
      return "no members";
    }
    return switch (status) {
      case "UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS" -> "shards free, members idle";
      case "UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS" -> "shards free";
      case "HEAVY_LOAD_BALANCE_NEEDED" -> "rebalancing";
      case "HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED" -> "rebalancing, members idle";
      default -> status;
    };
  }
}
