package dev.evenkeel.cli;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel group}. */
@Command(
    name = "group",
    description = "Shows, plans, pauses, resets and deletes consumer groups, over the HTTP API.",
    footer = {
      "",
      "Examples:",
      "  evenkeel group list",
      "  evenkeel group describe billing",
      "  evenkeel group describe billing --format json",
      "  evenkeel group rebalances billing --limit 20",
      "  evenkeel group plan billing --add 2",
      "  evenkeel group pause billing",
      "  evenkeel group resume billing",
      "  evenkeel group reset billing --to earliest",
      "  evenkeel group dead-letters list billing",
      "  evenkeel group delete billing --topic old-orders --dry-run"
    },
    subcommands = {DeadLettersCommand.class, GroupPlanCommand.class})
final class GroupCommand extends CommandGroup {
  /** What is paused or resumed. */
  private static final class Scope {
    @Parameters(paramLabel = "GROUP", description = "Name of the group.")
    private String group;

    @Option(
        names = "--topic",
        paramLabel = "TOPIC",
        description = "Only this topic (default: all that the group reads).")
    private String topic;

    @Option(
        names = "--shard",
        paramLabel = "N",
        converter = OptionFormats.ShardNumber.class,
        description = "Only this shard of the topic (default: all).")
    private Integer shard;
  }

  GroupCommand() {
    super("list, describe, rebalances, plan, pause, resume, reset, delete or dead-letters");
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Lists all groups.",
      footer = {"", "Example:", "  evenkeel group list"})
  int list(@Mixin ApiOptions options) {
    return options.get(
        "/api/groups",
        (JsonArray groups) ->
            Table.of(
                    "GROUP group, MODE mode, STATUS status, MEMBERS members, LAG lag",
                    groups,
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
    return options.get("/api/groups/" + HttpApi.segment(name), GroupText::of);
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
              converter = OptionFormats.MovesLimit.class,
              description = "Most moves, 1 to 2,000 (default: ${DEFAULT-VALUE}).")
          int limit) {
    String query = "?group=" + HttpApi.segment(name) + "&limit=" + limit;
    return options.get("/api/rebalances" + query, GroupCommand::moves);
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

  @Command(
      name = "pause",
      mixinStandardHelpOptions = true,
      description = {
        "Pauses a group: its members get no more messages until 'group resume'.",
        "They keep their shards, and finish the messages that they have. The pause stays when nodes"
            + " and members start anew."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel group pause billing",
        "  evenkeel group pause billing --topic orders",
        "  evenkeel group pause billing --topic orders --shard 2"
      })
  int pause(@Mixin ApiOptions options, @Mixin Scope scope) {
    return pausing(options, "pause", scope);
  }

  @Command(
      name = "resume",
      mixinStandardHelpOptions = true,
      description = {
        "Resumes a group: its members get messages again.",
        "This ends all pauses of the group, or of the topic, those of single shards too."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel group resume billing",
        "  evenkeel group resume billing --topic orders --shard 2"
      })
  int resume(@Mixin ApiOptions options, @Mixin Scope scope) {
    return pausing(options, "resume", scope);
  }

  private static int pausing(ApiOptions options, String action, Scope scope) {
    String group = scope.group;
    String topic = scope.topic;
    Integer shard = scope.shard;
    if (shard != null && topic == null) {
      throw CommandFailure.usage("--shard " + shard + " needs --topic: name the shard's topic");
    }
    JsonObject body = new JsonObject().put("topic", topic).put("shard", shard);
    body.getMap().values().removeIf(Objects::isNull);
    String part =
        topic == null ? "" : shard == null ? topic + " of " : topic + "/" + shard + " of ";
    return options.call(
        "POST",
        "/api/groups/" + HttpApi.segment(group) + "/" + action,
        body,
        answer -> action + "d " + part + "group " + group + "\n");
  }

  @Command(
      name = "reset",
      mixinStandardHelpOptions = true,
      description = {
        "Moves the committed offsets of a group: it consumes messages again, or skips some.",
        "Refused while a consumer owns one of the shards. It deletes state and retries, and keeps"
            + " dead letters."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel group reset billing --to earliest --dry-run",
        "  evenkeel group reset billing --to 2026-01-31T12:00:00Z",
        "  evenkeel group reset billing --to 12345 --shard 2 --force"
      })
  int reset(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "GROUP", description = "Name of the group.") String group,
      @Option(
              names = "--to",
              paramLabel = "earliest|latest|OFFSET|TIME",
              required = true,
              description =
                  "The new position: the earliest message, the end, an offset like 12345, or the"
                      + " first message at or after a time like 2026-01-31T12:00:00Z.")
          String to,
      @Option(
              names = "--topic",
              paramLabel = "TOPIC",
              description = "Only shards of this topic (default: of all that the group reads).")
          String topic,
      @Option(
              names = "--shard",
              paramLabel = "N",
              converter = OptionFormats.ShardNumber.class,
              description = "Only this shard (default: all).")
          Integer shard,
      @Option(
              names = "--force",
              description =
                  "Reset even while consumers own the shards. They release the shards first, and"
                      + " get them again.")
          boolean force,
      @Option(names = "--dry-run", description = "Only show the offsets before and after.")
          boolean dryRun) {
    try {
      StartAt.parse(to);
    } catch (RefusedException e) {
      throw CommandFailure.usage("--to " + e.getMessage());
    }
    JsonObject body =
        new JsonObject()
            .put("to", to)
            .put("force", force)
            .put("dryRun", dryRun)
            .put("topic", topic)
            .put("shard", shard);
    body.getMap().values().removeIf(Objects::isNull);
    JsonObject answer =
        options.api().call("POST", "/api/groups/" + HttpApi.segment(group) + "/offsets", body);
    options.print(
        answer,
        reset ->
            Table.of(
                    "TOPIC topic, SHARD shard, OWNER owner, FROM from, TO to, STATE state",
                    reset.getJsonArray("shards"))
                .text());
    List<JsonObject> pending =
        answer.getJsonArray("shards").stream()
            .map(JsonObject.class::cast)
            .filter(each -> "PENDING".equals(each.getString("state")))
            .toList();
    if (!pending.isEmpty()) {
      throw CommandFailure.failed(
          String.format(
              "%s shards are not reset yet, and are when they are free: see 'group describe %s';"
                  + " %s",
              pending.size(), group, waits(pending.get(0))));
    }
    return ExitStatus.DONE;
  }

  private static String waits(JsonObject shard) {
    return "%s/%s: %s"
        .formatted(
            shard.getString("topic"),
            shard.getInteger("shard"),
            shard.getString("waitsFor", "no answer yet"));
  }

  @Command(
      name = "delete",
      mixinStandardHelpOptions = true,
      description = {
        "Deletes a group, or one topic of it, with committed offsets, state, retries and dead"
            + " letters.",
        "Refused while a member reads the group or topic. The next retention run deletes messages"
            + " that no other group needs."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel group delete billing --dry-run",
        "  evenkeel group delete billing --topic old-orders",
        "  evenkeel group delete billing"
      })
  int delete(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "GROUP", description = "Name of the group.") String group,
      @Option(
              names = "--topic",
              paramLabel = "TOPIC",
              description = "Delete only this topic from the group (default: the whole group).")
          String topic,
      @Option(names = "--dry-run", description = "Only show what would be deleted.")
          boolean dryRun) {
    String query = "?dryRun=" + dryRun + (topic == null ? "" : "&topic=" + HttpApi.segment(topic));
    String what = topic == null ? "group " + group : "topic " + topic + " of group " + group;
    return options.call(
        "DELETE",
        "/api/groups/" + HttpApi.segment(group) + query,
        null,
        (JsonObject answer) -> deleted(answer, what, dryRun));
  }

  private static String deleted(JsonObject answer, String what, boolean dryRun) {
    String table =
        Table.of(
                "TOPIC topic, SHARD shard, COMMITTED committed, END end, LAG lag, "
                    + "DEAD LETTERS deadLetters, RETRIES retries, BYTES FREED bytesFreed",
                answer.getJsonArray("shards"))
            .text();
    if (!dryRun) {
      return table + "deleted " + what + "\n";
    }
    String refused = answer.getString("refused");
    return table
        + (refused == null
            ? "nothing was changed: without --dry-run, " + what + " is deleted\n"
            : "nothing was changed, and now it would be refused: " + refused + "\n");
  }
}
