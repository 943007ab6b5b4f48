package dev.evenkeel.cli;

import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel group}. */
@Command(
    name = "group",
    mixinStandardHelpOptions = true,
    description = "Shows, resets and deletes consumer groups, over the HTTP API.",
    footer = {
      "",
      "Examples:",
      "  evenkeel group list",
      "  evenkeel group describe billing",
      "  evenkeel group describe billing --format json",
      "  evenkeel group rebalances billing --limit 20",
      "  evenkeel group reset billing --to earliest",
      "  evenkeel group dead-letters list billing",
      "  evenkeel group delete billing --topic old-orders --dry-run"
    },
    subcommands = {GroupResetCommand.class, GroupDeleteCommand.class, DeadLettersCommand.class})
final class GroupCommand extends CommandGroup {
  GroupCommand() {
    super("list, describe, rebalances, reset, delete or dead-letters");
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Lists all groups.",
      footer = {"", "Example:", "  evenkeel group list"})
  int list(@Mixin ApiOptions options) {
    return options.print(
        options.api().get("/api/groups"),
        answer ->
            new Table("GROUP", "MODE", "STATUS", "MEMBERS", "LAG")
                .rows((JsonArray) answer, GroupCommand::cells)
                .text());
  }

  private static Object[] cells(JsonObject group) {
    return new Object[] {
      group.getString("group"),
      group.getString("mode"),
      StatusText.of(group),
      members(group),
      group.getLong("lag")
    };
  }

  @Command(
      name = "describe",
      mixinStandardHelpOptions = true,
      description = "Shows members and shards of a group.",
      footer = {"", "Example:", "  evenkeel group describe billing"})
  int describe(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "GROUP", description = "Name of the group.") String name) {
    return options.print(
        options.api().get("/api/groups/" + HttpApi.segment(name)),
        answer -> text((JsonObject) answer));
  }

  @Command(
      name = "rebalances",
      mixinStandardHelpOptions = true,
      description = "Shows which shards of a group moved, newest first.",
      footer = {"", "Example:", "  evenkeel group rebalances billing --limit 20"})
  int rebalances(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "GROUP", description = "Name of the group.") String name,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "50",
              description = "Most moves, 1 to 2,000 (default: ${DEFAULT-VALUE}).")
          int limit) {
    if (limit < 1 || limit > Limits.MOVES_KEPT_MAX) {
      throw CommandFailure.usage("--limit " + limit + ": use 1 to " + Limits.MOVES_KEPT_MAX);
    }
    String query = "?group=" + HttpApi.segment(name) + "&limit=" + limit;
    return options.print(
        options.api().get("/api/rebalances" + query), answer -> moves((JsonArray) answer));
  }

  private static String moves(JsonArray moves) {
    return new Table(
            "TIME",
            "TOPIC",
            "SHARD",
            "FROM",
            "TO",
            "REASON",
            "PAUSE MS",
            "RELEASE MS",
            "REDELIVERED",
            "CAP HIT",
            "EPOCH")
        .rows(moves, GroupCommand::moveCells)
        .text();
  }

  private static Object[] moveCells(JsonObject move) {
    Boolean capped = move.getBoolean("capped");
    return new Object[] {
      move.getString("time"),
      move.getString("topic"),
      move.getInteger("shard"),
      move.getString("from"),
      move.getString("to"),
      move.getString("reason"),
      move.getLong("pauseMs"),
      move.getLong("releaseMs"),
      move.getLong("redelivered"),
      capped == null ? null : capped ? "yes" : "no",
      move.getLong("epoch")
    };
  }

  static String text(JsonObject group) {
    LevelText level = new LevelText(group);
    boolean broadcast = "broadcast".equals(group.getString("mode"));
    Table members =
        level.applies()
            ? levelMembers(group, level)
            : broadcast
                ? broadcastMembers(group.getJsonArray("members"))
                : members(group.getJsonArray("members"));
    Table shards =
        new Table("TOPIC", "SHARD", "OWNER", "NEXT", "STATE", "EPOCH", "COMMITTED", "END", "LAG")
            .rows(
                group.getJsonArray("shards"),
                "topic",
                "shard",
                "owner",
                "nextOwner",
                "state",
                "epoch",
                "committed",
                "end",
                "lag");
    return "group     "
        + group.getString("group")
        + "\nmode      "
        + group.getString("mode")
        + "\nassignor  "
        + (group.getString("assignor") == null ? "-" : group.getString("assignor"))
        + "\nstatus    "
        + StatusText.of(group)
        + leader(group)
        + level.lines()
        + new DedupText(group).lines()
        + new RatesText(group).line()
        + new FailuresText(group).lines()
        + "\n\n"
        + members.text()
        + "\n"
        + shards.text();
  }

  /** A line in mode singleton; nothing in another. */
  private static String leader(JsonObject group) {
    if (!"singleton".equals(group.getString("mode"))) {
      return "";
    }
    JsonObject singleton = group.getJsonObject("singleton", new JsonObject());
    return singleton.getString("leader") == null
        ? "\nleader    -"
        : "\nleader    " + singleton.getString("leader") + " at term " + singleton.getLong("term");
  }

  private static Table members(JsonArray members) {
    return new Table("MEMBER", "HOST", "NODE", "SHARDS", "CONSUMED", "HEARTBEAT", "STUCK")
        .rows(
            members,
            member ->
                new Object[] {
                  member.getString("member"),
                  member.getString("host"),
                  member.getString("node"),
                  member.getJsonArray("shards", new JsonArray()).size(),
                  member.getLong("consumed"),
                  heard(member),
                  stuck(member)
                });
  }

  /** They own no shards: what counts is how level they are. */
  private static Table levelMembers(JsonObject group, LevelText level) {
    return new Table("MEMBER", "HOST", "NODE", "FINISHED", "IN HAND", "CONSUMED", "HEARTBEAT")
        .rows(
            group.getJsonArray("members"),
            member ->
                new Object[] {
                  member.getString("member"),
                  member.getString("host"),
                  member.getString("node"),
                  level.finished(member.getString("member")),
                  level.inHand(member.getString("member")),
                  member.getLong("consumed"),
                  heard(member)
                });
  }

  /** Each has all shards, and offsets of its own. */
  private static Table broadcastMembers(JsonArray members) {
    return new Table("MEMBER", "HOST", "NODE", "CONSUMED", "LAG", "PASSED OVER", "HEARTBEAT")
        .rows(
            members,
            member ->
                new Object[] {
                  member.getString("member"),
                  member.getString("host"),
                  member.getString("node"),
                  member.getLong("consumed"),
                  member.getLong("lag"),
                  member.getLong("passedOver"),
                  heard(member)
                });
  }

  private static String heard(JsonObject member) {
    Long silent = member.getLong("lastHeartbeatMs");
    return silent == null ? null : silent + " ms ago";
  }

  /** On which shards a member finishes nothing, and for how long; null if unknown. */
  private static String stuck(JsonObject member) {
    JsonArray shards = member.getJsonArray("stuck");
    Long millis = member.getLong("stuckMs");
    if (shards == null || millis == null) {
      return null;
    }
    if (shards.isEmpty()) {
      return "no";
    }
    return String.join(" ", shards.stream().map(String::valueOf).toList())
        + " for "
        + millis / 1000
        + " s";
  }

  /** A number, or the list of them. */
  static Integer members(JsonObject group) {
    Object members = group.getValue("members");
    if (members instanceof JsonArray array) {
      return array.size();
    }
    return members instanceof Number number ? number.intValue() : null;
  }
}
