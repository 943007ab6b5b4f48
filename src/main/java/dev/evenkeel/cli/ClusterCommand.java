package dev.evenkeel.cli;

import dev.evenkeel.protocol.Durations;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel cluster}. */
@Command(
    name = "cluster",
    description = "Shows, adds, drains, removes and replaces nodes, over the HTTP API.",
    footer = {
      "",
      "Examples:",
      "  evenkeel cluster status",
      "  evenkeel cluster drain n4",
      "  evenkeel cluster remove n4",
      "  evenkeel cluster replace n2",
    })
final class ClusterCommand extends CommandGroup {
  private static final long POLL_MILLIS = 1_000;
  private static final int FAILURES_MAX = 30;

  ClusterCommand() {
    super("status, admit, drain, undrain, remove, replace or pre-stop");
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
            "NODE node, ALIVE alive, HOST host, ZONE zone, STATE membership, VOTES votes, MIB mib,"
                + " VERSION version, READS LEVEL featureLevel",
            cluster.getJsonArray("nodes"),
            node -> node.put("mib", mib(node.getLong("bytes"))));
    Table logs =
        Table.of(
            "LOG group, LEADER leader, TERM term, COMMITTED commitIndex, APPLIED appliedIndex,"
                + " BEHIND behind",
            cluster.getJsonArray("logs"),
            log -> log.put("behind", behind(log.getJsonArray("followers", new JsonArray()))));
    return "cluster     %s\ndispatcher  %s\nlevel       %s\n\n%s%s%s%s\n%s%s%s%s"
        .formatted(
            cluster.getString("cluster"),
            cluster.getString("dispatcher", "none"),
            cluster.getInteger("featureLevel") == null ? "?" : cluster.getInteger("featureLevel"),
            nodes.text(),
            moving(cluster.getJsonArray("nodes")),
            unanswered(cluster.getJsonArray("nodes")),
            fragile(cluster.getJsonArray("nodes")),
            logs.text(),
            ineligible(cluster.getJsonArray("logs")),
            diverged(cluster.getJsonArray("logs")),
            lost(cluster.getJsonArray("logs")));
  }

  private static Long mib(Long bytes) {
    return bytes == null ? null : (Long) (bytes >> 20);
  }

  /** One line for each node that gets copies or gives them away; empty if there is none. */
  private static String moving(JsonArray nodes) {
    StringBuilder lines = new StringBuilder();
    for (Object each : nodes) {
      JsonObject node = (JsonObject) each;
      JsonObject left = node.getJsonObject("moving", new JsonObject());
      if (!left.isEmpty()) {
        lines.append("\n").append(node.getString("node")).append(' ');
        lines.append(gives(node) ? "gives away " : "gets ").append(left(node, left)).append('\n');
      } else if (node.getString("message") != null) {
        lines.append("\n").append(node.getString("node")).append(": ");
        lines.append(node.getString("message")).append('\n');
      }
    }
    return lines.toString();
  }

  private static boolean gives(JsonObject node) {
    return List.of("DRAINING", "LEAVING").contains(node.getString("membership", ""));
  }

  /** What is left to be copied, and how long that takes. */
  private static String left(JsonObject node, JsonObject groups) {
    Long seconds = node.getLong("secondsLeft");
    String all =
        groups.getMap().entrySet().stream()
            .map(each -> each.getKey() + " (" + each.getValue() + ")")
            .collect(Collectors.joining(", "));
    return "%s, %s MiB left%s"
        .formatted(
            all,
            mib(node.getLong("bytesLeft", 0L)),
            seconds == null ? "" : ", about " + Durations.format(seconds * 1_000));
  }

  /** One line for each pair of nodes of which one does not answer the other. */
  private static String unanswered(JsonArray nodes) {
    StringBuilder lines = new StringBuilder();
    for (Object each : nodes) {
      JsonObject node = (JsonObject) each;
      JsonArray silentOnes = node.getJsonArray("unanswered");
      for (Object silent : silentOnes == null ? new JsonArray() : silentOnes) {
        lines.append(
            "\n%s has had no answer from %s for %s\n"
                .formatted(
                    node.getString("node"),
                    ((JsonObject) silent).getString("node"),
                    Durations.format(((JsonObject) silent).getLong("millis"))));
      }
    }
    return lines.toString();
  }

  /** Says that a cluster of two nodes does not survive the loss of one. */
  private static String fragile(JsonArray nodes) {
    long members =
        nodes.stream()
            .map(each -> ((JsonObject) each).getString("membership"))
            .filter("MEMBER"::equals)
            .count();
    return members == 2
        ? "\nTwo nodes keep the data: one failure still stops the cluster. Add a third node with"
            + " 'evenkeel serve --join'.\n"
        : "";
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

  @Command(
      name = "admit",
      mixinStandardHelpOptions = true,
      description = {
        "Lets a new node connect to the others. Needed with --peer-tls only, before the node is"
            + " started with --join."
      },
      footer = {"", "Example:", "  evenkeel cluster admit n4"})
  int admit(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the new node.") String node) {
    return options.print(
        options.api().call("POST", path(node) + "/admit", null),
        done -> "node " + node + " may join now: start it with --join\n");
  }

  @Command(
      name = "drain",
      mixinStandardHelpOptions = true,
      description = {
        "Moves everything off a node, and returns when that is done. The node stays in the cluster"
            + " without data, until 'undrain' or 'remove'. It may be run again at any time."
      },
      footer = {"", "Example:", "  evenkeel cluster drain n4"})
  int drain(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the node.") String node)
      throws InterruptedException {
    return change(options, node, "drain", "node " + node + " has no data any more");
  }

  @Command(
      name = "undrain",
      mixinStandardHelpOptions = true,
      description = "Gives data to a node again that was drained, and returns when it has it.",
      footer = {"", "Example:", "  evenkeel cluster undrain n4"})
  int undrain(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the node.") String node)
      throws InterruptedException {
    return change(options, node, "undrain", "node " + node + " has its data");
  }

  @Command(
      name = "remove",
      mixinStandardHelpOptions = true,
      description = {
        "Moves everything off a node and takes it out of the cluster, and returns when that is done."
            + " The node may be down. It may be run again at any time."
      },
      footer = {"", "Example:", "  evenkeel cluster remove n4"})
  int remove(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the node.") String node)
      throws InterruptedException {
    return change(options, node, "remove", "node " + node + " is not in the cluster any more");
  }

  @Command(
      name = "pre-stop",
      mixinStandardHelpOptions = true,
      description = {
        "Returns when a node can be stopped: no log group would lose its majority. Run it before"
            + " each node of a rolling restart.",
        "With --stateful-set it is for a pre-stop hook on Kubernetes: if the StatefulSet has been"
            + " scaled down and does not keep the pod, the node is removed from the cluster first."
            + " If it was scaled to 0, the whole cluster stops, and no node is removed."
      },
      footer = {"", "Example:", "  evenkeel cluster pre-stop n2"})
  int preStop(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the node; on Kubernetes, of the pod.")
          String node,
      @Option(
              names = "--wait",
              paramLabel = "TIME",
              defaultValue = "5m",
              converter = OptionFormats.Time.class,
              description = "How long to wait at most (default: ${DEFAULT-VALUE}).")
          long waitMillis,
      @Option(
              names = "--stateful-set",
              paramLabel = "NAMESPACE/NAME",
              description = "The StatefulSet of the pod.")
          String statefulSet,
      @Option(
              names = "--kubernetes",
              paramLabel = "URL",
              defaultValue = "https://kubernetes.default.svc",
              description = "Address of the API of Kubernetes (default: ${DEFAULT-VALUE}).")
          String kubernetes,
      @Option(
              names = "--service-account",
              paramLabel = "DIR",
              defaultValue = "/var/run/secrets/kubernetes.io/serviceaccount",
              description = "Where token and ca.crt for that API are (default: ${DEFAULT-VALUE}).")
          Path account)
      throws InterruptedException {
    PreStop.Reason reason =
        statefulSet == null
            ? PreStop.Reason.COMES_BACK
            : reason(kubernetes, account, statefulSet, node);
    if (reason == PreStop.Reason.IS_LEFT_OUT) {
      return remove(options, node);
    }
    if (reason == PreStop.Reason.ALL_STOP) {
      spec.commandLine().getOut().println("the whole cluster stops: nothing to wait for");
      return 0;
    }
    HttpApi api = options.api();
    String shown = "";
    for (long left = waitMillis; ; left -= POLL_MILLIS) {
      JsonObject cluster = api.get("/api/cluster");
      List<String> obstacles = PreStop.obstacles(cluster, node);
      if (obstacles.isEmpty()) {
        return options.print(cluster, any -> "node " + node + " can be stopped\n");
      }
      String now = String.join("; ", obstacles);
      if (left <= 0) {
        throw CommandFailure.failed("node " + node + " should not be stopped: " + now);
      }
      if (!now.equals(shown)) {
        spec.commandLine().getErr().println("waiting: " + now);
        spec.commandLine().getErr().flush();
        shown = now;
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** If Kubernetes cannot tell, the pod counts as one that comes back: nothing is lost by that. */
  private PreStop.Reason reason(String kubernetes, Path account, String statefulSet, String pod) {
    try {
      return PreStop.reason(PreStop.statefulSet(kubernetes, account, statefulSet), pod);
    } catch (CommandFailure e) {
      if (e.exitStatus() == ExitStatus.WRONG_USAGE) {
        throw e;
      }
      spec.commandLine()
          .getErr()
          .println("it is not known whether " + pod + " comes back: " + e.getMessage());
      return PreStop.Reason.COMES_BACK;
    }
  }

  private static String path(String node) {
    return "/api/cluster/nodes/" + HttpApi.segment(node);
  }

  /** Begins a change, and waits for its end. Another node may go on with it meanwhile. */
  private int change(ApiOptions options, String node, String action, String done)
      throws InterruptedException {
    HttpApi api = options.api();
    JsonObject answer = api.call("POST", path(node) + "/" + action, null);
    String shown = "";
    int failures = 0;
    while ("RUNNING".equals(answer.getString("state"))) {
      JsonObject left = answer.getJsonObject("groups", new JsonObject());
      String message = answer.getString("message");
      String now = message == null ? left(answer, left) : message;
      if (!now.equals(shown)) {
        spec.commandLine().getErr().println("node " + node + ": " + now);
        spec.commandLine().getErr().flush();
        shown = now;
      }
      Thread.sleep(POLL_MILLIS);
      try {
        answer = api.get(path(node));
        failures = 0;
      } catch (CommandFailure e) {
        // While the leader of meta changes, nobody can tell how far the change is.
        if (++failures > FAILURES_MAX) {
          throw e;
        }
      }
    }
    return options.print(answer, any -> done + "\n");
  }

  private static String progress(JsonObject answer) {
    return answer.getJsonObject("groups", new JsonObject()).getMap().entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(each -> each.getKey() + " " + String.valueOf(each.getValue()).toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
  }
}
