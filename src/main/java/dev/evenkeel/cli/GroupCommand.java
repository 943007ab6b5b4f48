package dev.evenkeel.cli;

import dev.evenkeel.api.DeleteGroup;
import dev.evenkeel.api.DeleteGroup.GroupDeletion;
import dev.evenkeel.api.DescribeGroup;
import dev.evenkeel.api.ListGroups;
import dev.evenkeel.api.ListRebalances;
import dev.evenkeel.api.MoveView;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PauseGroup;
import dev.evenkeel.api.ResetGroup;
import dev.evenkeel.api.ResetGroup.ResetShard;
import dev.evenkeel.api.ResumeGroup;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code evenkeel group}. */
@Command(
    name = "group",
    description = "Shows, plans, pauses, resets and deletes consumer groups, over the HTTP API.",
    footer = {
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

    private void check() {
      CommandFailure.refuseIf(
          shard != null && topic == null,
          "--shard " + shard + " needs --topic: name the shard's topic");
    }

    private String words(String group) {
      String part =
          topic == null ? "" : shard == null ? topic + " of " : topic + "/" + shard + " of ";
      return part + "group " + group;
    }
  }

  GroupCommand() {
    super("list, describe, rebalances, plan, pause, resume, reset, delete or dead-letters");
  }

  @Command(name = "list", description = "Lists all groups.", footer = "  evenkeel group list")
  int list(@Mixin ApiOptions options) {
    return options.ask(
        Operations.LIST_GROUPS,
        new ListGroups(),
        groups ->
            Table.of(
                    "GROUP, MODE, STATUS, MEMBERS, LAG",
                    groups,
                    (group, json) -> json.put("status", GroupText.status(group)))
                .text());
  }

  @Command(
      name = "describe",
      description = "Shows members and shards of a group.",
      footer = "  evenkeel group describe billing")
  int describe(@Mixin ApiOptions.OfGroup of) {
    return of.ask(Operations.DESCRIBE_GROUP, new DescribeGroup(of.group), GroupText::of);
  }

  @Command(
      name = "rebalances",
      mixinStandardHelpOptions = true,
      description = "Shows which shards of a group moved, newest first.",
      footer = "  evenkeel group rebalances billing --limit 20")
  int rebalances(
      @Mixin ApiOptions.OfGroup of,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "50",
              converter = OptionFormats.MovesLimit.class,
              description = "Most moves, 1 to 2,000 (default: ${DEFAULT-VALUE}).")
          int limit) {
    return of.ask(
        Operations.LIST_REBALANCES, new ListRebalances(of.group, limit), GroupCommand::moves);
  }

  private static String moves(List<MoveView> moves) {
    return Table.of(
            "TIME, TOPIC, SHARD, FROM, TO, REASON, PAUSE MS, RELEASE MS, REDELIVERED, CAP HIT"
                + " capped, EPOCH",
            moves,
            (move, json) -> json.put("capped", move.capped() ? "yes" : "no"))
        .text();
  }

  @Command(
      name = "pause",
      description = {
        "Pauses a group: its members get no more messages until 'group resume'.",
        "They keep their shards, and finish the messages that they have. The pause stays when nodes"
            + " and members start anew."
      },
      footer = {
        "  evenkeel group pause billing",
        "  evenkeel group pause billing --topic orders",
        "  evenkeel group pause billing --topic orders --shard 2"
      })
  int pause(@Mixin ApiOptions.OfGroup of, @Mixin Scope scope) {
    scope.check();
    return of.tell(
        Operations.PAUSE_GROUP,
        new PauseGroup(of.group, scope.topic, scope.shard),
        "paused " + scope.words(of.group));
  }

  @Command(
      name = "resume",
      description = {
        "Resumes a group: its members get messages again.",
        "This ends all pauses of the group, or of the topic, those of single shards too."
      },
      footer = {
        "  evenkeel group resume billing",
        "  evenkeel group resume billing --topic orders --shard 2"
      })
  int resume(@Mixin ApiOptions.OfGroup of, @Mixin Scope scope) {
    scope.check();
    return of.tell(
        Operations.RESUME_GROUP,
        new ResumeGroup(of.group, scope.topic, scope.shard),
        "resumed " + scope.words(of.group));
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
        "  evenkeel group reset billing --to earliest --dry-run",
        "  evenkeel group reset billing --to 2026-01-31T12:00:00Z",
        "  evenkeel group reset billing --to 12345 --shard 2 --force"
      })
  int reset(
      @Mixin ApiOptions.OfGroup of,
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
    ResetGroup question = new ResetGroup(of.group, to, topic, shard, force, dryRun);
    Object json = of.api().ask(Operations.RESET_GROUP, question);
    List<ResetShard> shards = Operations.RESET_GROUP.readAnswer(json).shards();
    of.print(json, any -> Table.of("TOPIC, SHARD, OWNER, FROM, TO, STATE", shards).text());
    List<ResetShard> pending =
        shards.stream().filter(each -> each.state().equals("PENDING")).toList();
    if (!pending.isEmpty()) {
      throw CommandFailure.failed(
          "%s shards are not reset yet, and are when they are free: see 'group describe %s'; %s"
              .formatted(pending.size(), of.group, waits(pending.get(0))));
    }
    return ExitStatus.DONE;
  }

  private static String waits(ResetShard shard) {
    String what = shard.waitsFor() == null ? "no answer yet" : shard.waitsFor();
    return shard.topic() + "/" + shard.shard() + ": " + what;
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
        "  evenkeel group delete billing --dry-run",
        "  evenkeel group delete billing --topic old-orders",
        "  evenkeel group delete billing"
      })
  int delete(
      @Mixin ApiOptions.OfGroup of,
      @Option(
              names = "--topic",
              paramLabel = "TOPIC",
              description = "Delete only this topic from the group (default: the whole group).")
          String topic,
      @Option(names = "--dry-run", description = "Only show what would be deleted.")
          boolean dryRun) {
    String what = (topic == null ? "" : "topic " + topic + " of ") + "group " + of.group;
    return of.ask(
        Operations.DELETE_GROUP,
        new DeleteGroup(of.group, topic, dryRun),
        answer -> deleted(answer, what));
  }

  private static String deleted(GroupDeletion deletion, String what) {
    Table table =
        Table.of(
            "TOPIC, SHARD, COMMITTED, END, LAG, DEAD LETTERS, RETRIES, BYTES FREED",
            deletion.shards());
    if (!deletion.dryRun()) {
      return table.text() + "deleted " + what + "\n";
    }
    return table.text()
        + (deletion.refused() == null
            ? "nothing was changed: without --dry-run, " + what + " is deleted\n"
            : "nothing was changed, and now it would be refused: " + deletion.refused() + "\n");
  }
}
