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
            Table.of(
                    "GROUP group, MODE mode, STATUS status, MEMBERS members, LAG lag",
                    (JsonArray) answer,
                    group ->
                        group
                            .put("status", GroupText.status(group))
                            .put("members", GroupText.memberCount(group)))
                .text());
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
        answer -> GroupText.of((JsonObject) answer));
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
    return Table.of(
            "TIME time, TOPIC topic, SHARD shard, FROM from, TO to, REASON reason, "
                + "PAUSE MS pauseMs, RELEASE MS releaseMs, REDELIVERED redelivered, "
                + "CAP HIT capped, EPOCH epoch",
            moves,
            move -> {
              Boolean capped = move.getBoolean("capped");
              move.put("capped", capped == null ? null : capped ? "yes" : "no");
            })
        .text();
  }
}
