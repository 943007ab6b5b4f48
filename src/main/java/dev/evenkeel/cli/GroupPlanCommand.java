package dev.evenkeel.cli;

import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.PlanGroup.GroupPlan;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel group plan}. */
@Command(
    name = "plan",
    description = {
      "Shows who would own the shards of a group after a change, and changes nothing.",
      "The plan is made by the planner that also makes the real ones. Without options it shows what"
          + " is about to move now."
    },
    footer = {
      "  evenkeel group plan billing --add 2",
      "  evenkeel group plan billing --add 1 --remove c1 --format json",
      "  evenkeel group plan billing --kill n2",
      "  evenkeel group plan billing --assignor load",
      "  evenkeel group plan billing --shards orders=12"
    })
final class GroupPlanCommand implements Callable<Integer> {
  @Mixin private ApiOptions options;

  @Parameters(paramLabel = "GROUP", description = "Name of the group.")
  private String group;

  @Option(
      names = "--add",
      paramLabel = "N",
      description =
          "So many members join, 0 to 1,000. They read all topics of the group, and are called"
              + " new-1, new-2 and so on.")
  private int add;

  @Option(
      names = "--remove",
      paramLabel = "MEMBER",
      description = "This member leaves. Repeatable.")
  private List<String> remove = List.of();

  @Option(
      names = "--kill",
      paramLabel = "NODE",
      description =
          "This node ends, with the members that run on it. Other programs keep their shards: they"
              + " connect to another node.")
  private String kill;

  @Option(
      names = "--assignor",
      paramLabel = "NAME",
      description = "This assignor decides, for example sticky or load.")
  private String assignor;

  @Option(
      names = "--shards",
      paramLabel = "TOPIC=N",
      description = "The topic has N shards, and its former ones have been consumed. Repeatable.")
  private Map<String, Integer> shards = Map.of();

  @Override
  public Integer call() {
    PlanGroup change =
        new PlanGroup(
            group,
            add == 0 ? null : (Integer) add,
            remove.isEmpty() ? null : remove,
            kill,
            assignor,
            shards.isEmpty() ? null : new TreeMap<>(shards));
    return options.ask(Operations.PLAN_GROUP, change, GroupPlanCommand::text);
  }

  private static String text(GroupPlan plan) {
    Table loads = new Table("OWNER", "SHARDS", "LAG", "BUSY", "BYTES/S");
    plan.loads()
        .forEach(
            (owner, load) ->
                loads.row(
                    owner,
                    load.shards(),
                    load.lag(),
                    load.busy() == null ? null : Math.round(load.busy() * 100) / 100.0,
                    load.bytesPerSecond() == null ? null : Math.round(load.bytesPerSecond())));
    Table moves = new Table("TOPIC", "SHARD", "FROM", "TO");
    plan.moves().forEach(each -> moves.row(each.topic(), each.shard(), each.from(), each.to()));
    return loads.text() + (plan.moves().isEmpty() ? "no shard moves\n" : "\n" + moves.text());
  }
}
