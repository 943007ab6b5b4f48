package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
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
    mixinStandardHelpOptions = true,
    description = {
      "Shows who would own the shards of a group after a change, and changes nothing.",
      "The plan is made by the planner that also makes the real ones. Without options it shows what"
          + " is about to move now."
    },
    footer = {
      "",
      "Examples:",
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
    JsonObject body = new JsonObject();
    if (add != 0) {
      body.put("add", add);
    }
    if (!remove.isEmpty()) {
      body.put("remove", new JsonArray(List.copyOf(remove)));
    }
    if (kill != null) {
      body.put("kill", kill);
    }
    if (assignor != null) {
      body.put("assignor", assignor);
    }
    if (!shards.isEmpty()) {
      body.put("shards", new JsonObject(new TreeMap<String, Object>(shards)));
    }
    return options.call(
        "POST", "/api/groups/" + HttpApi.segment(group) + "/plan", body, GroupPlanCommand::text);
  }

  private static String text(JsonObject plan) {
    JsonArray owners = new JsonArray();
    for (Map.Entry<String, Object> each : plan.getJsonObject("loads", new JsonObject())) {
      owners.add(((JsonObject) each.getValue()).copy().put("owner", each.getKey()));
    }
    JsonArray moves = plan.getJsonArray("moves");
    String loads =
        Table.of(
                "OWNER owner, SHARDS shards, LAG lag, BUSY busy, BYTES/S bytesPerSecond",
                owners,
                GroupPlanCommand::round)
            .text();
    return loads
        + (moves.isEmpty()
            ? "no shard moves\n"
            : "\n" + Table.of("TOPIC topic, SHARD shard, FROM from, TO to", moves).text());
  }

  private static void round(JsonObject load) {
    Double busy = load.getDouble("busy");
    Double bytes = load.getDouble("bytesPerSecond");
    load.put("busy", busy == null ? null : Math.round(busy * 100) / 100.0)
        .put("bytesPerSecond", bytes == null ? null : Math.round(bytes));
  }
}
