package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code evenkeel cluster}. */
@Command(
    name = "cluster",
    description = "Shows the nodes and replaces a lost one, over the HTTP API.",
    footer = {
      "",
      "Examples:",
      "  evenkeel cluster status",
      "  evenkeel cluster replace n2",
    })
final class ClusterCommand extends CommandGroup {
  private static final long POLL_MILLIS = 1_000;

  ClusterCommand() {
    super("status or replace");
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description = "Shows the nodes, the leader of each log, and how far its followers are.",
      footer = {"", "Example:", "  evenkeel cluster status"})
  int status(@Mixin ApiOptions options) {
    return options.get("/api/cluster", ClusterCommand::statusText);
  }

  static String statusText(JsonObject cluster) {
    Table nodes =
        Table.of(
            "NODE node, ALIVE alive, HOST host, READS LEVEL featureLevel",
            cluster.getJsonArray("nodes"));
    Table logs =
        Table.of(
            "LOG group, LEADER leader, TERM term, COMMITTED commitIndex, APPLIED appliedIndex,"
                + " BEHIND behind",
            cluster.getJsonArray("logs"),
            log -> log.put("behind", behind(log.getJsonArray("followers", new JsonArray()))));
    return "cluster     %s\ndispatcher  %s\nlevel       %s\n\n%s\n%s%s%s%s"
        .formatted(
            cluster.getString("cluster"),
            cluster.getString("dispatcher", "none"),
            cluster.getInteger("featureLevel") == null ? "?" : cluster.getInteger("featureLevel"),
            nodes.text(),
            logs.text(),
            ineligible(cluster.getJsonArray("logs")),
            diverged(cluster.getJsonArray("logs")),
            lost(cluster.getJsonArray("logs")));
  }

  /** One line for each log group and pair of nodes whose states differ; empty if there is none. */
  private static String diverged(JsonArray logs) {
    Set<String> lines = new TreeSet<>();
    for (Object each : logs) {
      JsonObject log = (JsonObject) each;
      for (Object found : log.getJsonArray("diverged", new JsonArray())) {
        String node = ((JsonObject) found).getString("node");
        String other = ((JsonObject) found).getString("from");
        boolean sorted = node.compareTo(other) < 0;
        lines.add(
            "%s have different states of %s %s: replace the node that differs from all others"
                .formatted(
                    sorted ? node + " and " + other : other + " and " + node,
                    log.getString("group"),
                    ((JsonObject) found).getString("detail")));
      }
    }
    return lines.isEmpty() ? "" : '\n' + String.join("\n", lines) + '\n';
  }

  /** One line for each log group with lost messages; empty if there is none. */
  private static String lost(JsonArray logs) {
    StringBuilder lines = new StringBuilder();
    for (Object each : logs) {
      JsonObject log = (JsonObject) each;
      // Nodes know of them from reading, so not all of them know the same.
      long messages = 0;
      Set<String> nodes = new TreeSet<>();
      for (Object found : log.getJsonArray("storage", new JsonArray())) {
        long known = ((JsonObject) found).getLong("lostMessages", 0L);
        messages = Math.max(messages, known);
        if (known > 0) {
          nodes.add(((JsonObject) found).getString("node"));
        }
      }
      if (messages > 0) {
        lines.append(
            "\nlost messages of %s: %s. Every copy of them is damaged; the log of %s names them\n"
                .formatted(log.getString("group"), messages, String.join(" or ", nodes)));
      }
    }
    return lines.toString();
  }

  /** One line for each node that should not lead, with the reason; empty if there is none. */
  private static String ineligible(JsonArray logs) {
    Map<JsonObject, String> groups = new LinkedHashMap<>();
    for (Object each : logs) {
      JsonObject log = (JsonObject) each;
      for (Object found : log.getJsonArray("ineligible", new JsonArray())) {
        groups.merge((JsonObject) found, log.getString("group"), (all, one) -> all + ", " + one);
      }
    }
    return groups.entrySet().stream()
        .map(
            each ->
                "\n%s should not lead %s: %s, %s\n"
                    .formatted(
                        each.getKey().getString("node"),
                        each.getValue(),
                        each.getKey().getString("reason"),
                        each.getKey().getString("detail")))
        .collect(Collectors.joining());
  }

  private static String behind(JsonArray followers) {
    return followers.stream()
        .map(JsonObject.class::cast)
        .map(
            follower ->
                "%s:%s"
                    .formatted(
                        follower.getString("node"),
                        follower.getLong("lagEntries") == null
                            ? "?"
                            : follower.getLong("lagEntries")))
        .collect(Collectors.joining(" "));
  }

  @Command(
      name = "replace",
      mixinStandardHelpOptions = true,
      description = {
        "Replaces a lost node by an empty one with the same id. First start the node with an empty"
            + " --data, then run this against any running node. To finish an interrupted"
            + " replacement, run it again."
      },
      footer = {"", "Example:", "  evenkeel cluster replace n2 --http http://127.0.0.1:8080"})
  int replace(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the lost node.") String node)
      throws InterruptedException {
    HttpApi api = options.api();
    String path = "/api/cluster/nodes/" + HttpApi.segment(node) + "/replace";
    JsonObject answer = api.call("POST", path, null);
    String shown = "";
    while ("RUNNING".equals(answer.getString("state"))) {
      String now = progress(answer);
      if (!now.equals(shown)) {
        spec.commandLine().getErr().println(now);
        spec.commandLine().getErr().flush();
        shown = now;
      }
      Thread.sleep(POLL_MILLIS);
      answer = api.get(path);
    }
    if (!"DONE".equals(answer.getString("state")) || !node.equals(answer.getString("node"))) {
      String message = answer.getString("message");
      throw CommandFailure.failed(
          message == null
              ? "the node that led the replacement does so no more: run the command again"
              : message);
    }
    return options.print(
        answer, done -> "node " + node + " has been replaced: " + progress(done) + "\n");
  }

  private static String progress(JsonObject answer) {
    return answer.getJsonObject("groups", new JsonObject()).getMap().entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(each -> each.getKey() + " " + String.valueOf(each.getValue()).toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
  }
}
