package dev.evenkeel.cli;

import dev.evenkeel.api.AdmitNode;
import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.ClusterStatusView.Diverged;
import dev.evenkeel.api.ClusterStatusView.Follower;
import dev.evenkeel.api.ClusterStatusView.Ineligible;
import dev.evenkeel.api.ClusterStatusView.Log;
import dev.evenkeel.api.ClusterStatusView.Node;
import dev.evenkeel.api.ClusterStatusView.NodePlace;
import dev.evenkeel.api.ClusterStatusView.Storage;
import dev.evenkeel.api.ClusterStatusView.Unanswered;
import dev.evenkeel.api.DescribeCluster;
import dev.evenkeel.api.DrainNode;
import dev.evenkeel.api.GetNodeChange;
import dev.evenkeel.api.GetReplacement;
import dev.evenkeel.api.NodeChangeView;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RemoveNode;
import dev.evenkeel.api.ReplaceNode;
import dev.evenkeel.api.ReplacementView;
import dev.evenkeel.api.UndrainNode;
import dev.evenkeel.protocol.Durations;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
      "  evenkeel cluster status",
      "  evenkeel cluster drain n4",
      "  evenkeel cluster remove n4",
      "  evenkeel cluster replace n2",
    })
final class ClusterCommand extends CommandGroup {
  private static final long POLL_MILLIS = 1_000;
  private static final int FAILURES_MAX = 30;

  private static final String LEFT = "is not in the cluster any more";

  /** What is waited for, as it was shown last. */
  private String shown = "";

  ClusterCommand() {
    super("status, admit, drain, undrain, remove, replace or pre-stop");
  }

  @Command(
      name = "status",
      description = "Shows the nodes, the leader of each log, and how far its followers are.",
      footer = "  evenkeel cluster status")
  int status(@Mixin ApiOptions options) {
    return options.ask(
        Operations.DESCRIBE_CLUSTER, new DescribeCluster(), ClusterCommand::statusText);
  }

  static String statusText(ClusterStatusView cluster) {
    Table nodes =
        Table.of(
            "NODE, ALIVE, HOST, ZONE, STATE membership, VOTES, MIB bytes, VERSION,"
                + " READS LEVEL featureLevel",
            cluster.nodes(),
            (each, json) -> json.put("bytes", mib(place(each).bytes())));
    Table logs =
        Table.of(
            "LOG group, LEADER, TERM, COMMITTED commitIndex, APPLIED appliedIndex, BEHIND",
            cluster.logs(),
            (each, json) -> json.put("behind", behind(each.followers())));
    return "cluster     %s\ndispatcher  %s\nlevel       %s\n\n%s%s%s%s\n%s%s%s%s"
        .formatted(
            cluster.cluster(),
            cluster.dispatcher() == null ? "none" : cluster.dispatcher(),
            cluster.featureLevel() == null ? "?" : cluster.featureLevel(),
            nodes.text(),
            moving(cluster.nodes()),
            unanswered(cluster.nodes()),
            fragile(cluster.nodes()),
            logs.text(),
            ineligible(cluster.logs()),
            diverged(cluster.logs()),
            lost(cluster.logs()));
  }

  /** Where a node is in the cluster; if nobody can tell, all of it is unknown. */
  private static NodePlace place(Node node) {
    return node.place() != null
        ? node.place()
        : new NodePlace(null, null, null, null, null, 0, null, null);
  }

  private static Long mib(Long bytes) {
    return bytes == null ? null : (Long) (bytes >> 20);
  }

  /** One line for each node that gets copies or gives them away; empty if there is none. */
  private static String moving(List<Node> nodes) {
    StringBuilder lines = new StringBuilder();
    for (Node each : nodes) {
      NodePlace place = place(each);
      if (place.moving() != null && !place.moving().isEmpty()) {
        boolean gives = Set.of("DRAINING", "LEAVING").contains(String.valueOf(place.membership()));
        lines.append("\n").append(each.node()).append(gives ? " gives away " : " gets ");
        lines.append(left(place.moving(), place.bytesLeft(), place.secondsLeft())).append('\n');
      } else if (place.message() != null) {
        lines.append("\n").append(each.node()).append(": ");
        lines.append(place.message()).append('\n');
      }
    }
    return lines.toString();
  }

  /** What is left to be copied, and how long that takes. */
  private static String left(Map<String, String> groups, long bytes, Long seconds) {
    String all =
        groups.entrySet().stream()
            .map(each -> each.getKey() + " (" + each.getValue() + ")")
            .collect(Collectors.joining(", "));
    return "%s, %s MiB left%s"
        .formatted(
            all, mib(bytes), seconds == null ? "" : ", about " + Durations.format(seconds * 1_000));
  }

  /** One line for each pair of nodes of which one does not answer the other. */
  private static String unanswered(List<Node> nodes) {
    StringBuilder lines = new StringBuilder();
    for (Node each : nodes) {
      if (each.unanswered() != null) {
        for (Unanswered silent : each.unanswered()) {
          lines.append(
              "\n%s has had no answer from %s for %s\n"
                  .formatted(each.node(), silent.node(), Durations.format(silent.millis())));
        }
      }
    }
    return lines.toString();
  }

  /** Says that a cluster of two nodes does not survive the loss of one. */
  private static String fragile(List<Node> nodes) {
    long members = nodes.stream().filter(each -> "MEMBER".equals(place(each).membership())).count();
    return members == 2
        ? "\nTwo nodes keep the data: one failure still stops the cluster. Add a third node with"
            + " 'evenkeel serve --join'.\n"
        : "";
  }

  /** One line for each log group and pair of nodes whose states differ; empty if there is none. */
  private static String diverged(List<Log> logs) {
    Set<String> lines = new TreeSet<>();
    for (Log log : logs) {
      for (Diverged each : log.diverged()) {
        boolean sorted = each.node().compareTo(each.from()) < 0;
        lines.add(
            "%s have different states of %s %s: replace the node that differs from all others"
                .formatted(
                    sorted
                        ? each.node() + " and " + each.from()
                        : each.from() + " and " + each.node(),
                    log.group(),
                    each.detail()));
      }
    }
    return lines.isEmpty() ? "" : '\n' + String.join("\n", lines) + '\n';
  }

  /** One line for each log group with lost messages; empty if there is none. */
  private static String lost(List<Log> logs) {
    StringBuilder lines = new StringBuilder();
    for (Log log : logs) {
      // Nodes know of them from reading, so not all of them know the same.
      long messages = 0;
      Set<String> nodes = new TreeSet<>();
      for (Storage each : log.storage()) {
        messages = Math.max(messages, each.lostMessages());
        if (each.lostMessages() > 0) {
          nodes.add(each.node());
        }
      }
      if (messages > 0) {
        lines.append(
            "\nlost messages of %s: %s. Every copy of them is damaged; the log of %s names them\n"
                .formatted(log.group(), messages, String.join(" or ", nodes)));
      }
    }
    return lines.toString();
  }

  /** One line for each node that should not lead, with the reason; empty if there is none. */
  private static String ineligible(List<Log> logs) {
    Map<Ineligible, String> groups = new LinkedHashMap<>();
    for (Log log : logs) {
      for (Ineligible each : log.ineligible()) {
        groups.merge(each, log.group(), (all, one) -> all + ", " + one);
      }
    }
    return groups.entrySet().stream()
        .map(
            each ->
                "\n%s should not lead %s: %s, %s\n"
                    .formatted(
                        each.getKey().node(),
                        each.getValue(),
                        each.getKey().reason(),
                        each.getKey().detail()))
        .collect(Collectors.joining());
  }

  private static String behind(List<Follower> followers) {
    return followers.stream()
        .map(each -> each.node() + ":" + (each.lagEntries() == null ? "?" : each.lagEntries()))
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
      footer = "  evenkeel cluster replace n2 --http http://127.0.0.1:8080")
  int replace(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the lost node.") String node)
      throws InterruptedException {
    HttpApi api = options.api();
    Object answer = api.ask(Operations.REPLACE_NODE, new ReplaceNode(node));
    ReplacementView replacement = Operations.REPLACE_NODE.readAnswer(answer);
    while (replacement.state() == ReplacementView.State.RUNNING) {
      pause(progress(replacement));
      answer = api.ask(Operations.GET_REPLACEMENT, new GetReplacement(node));
      replacement = Operations.GET_REPLACEMENT.readAnswer(answer);
    }
    String done = progress(replacement);
    if (replacement.state() != ReplacementView.State.DONE || !node.equals(replacement.node())) {
      String message = replacement.progress() == null ? null : replacement.progress().message();
      throw CommandFailure.failed(
          message == null
              ? "the node that led the replacement does so no more: run the command again"
              : message);
    }
    return options.print(answer, any -> "node " + node + " has been replaced: " + done + "\n");
  }

  /** Shows what is waited for, unless it is shown already, and waits a second. */
  private void pause(String now) throws InterruptedException {
    if (!now.equals(shown)) {
      spec.commandLine().getErr().println(now);
      spec.commandLine().getErr().flush();
      shown = now;
    }
    Thread.sleep(POLL_MILLIS);
  }

  @Command(
      name = "admit",
      mixinStandardHelpOptions = true,
      description = {
        "Lets a new node connect to the others. Needed with --peer-tls only, before the node is"
            + " started with --join."
      },
      footer = "  evenkeel cluster admit n4")
  int admit(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NODE", description = "Id of the new node.") String node) {
    return options.tell(
        Operations.ADMIT_NODE,
        new AdmitNode(node),
        "node " + node + " may join now: start it with --join");
  }

  @Command(
      name = "drain",
      description = {
        "Moves everything off a node, and returns when that is done. The node stays in the cluster"
            + " without data, until 'undrain' or 'remove'. It may be run again at any time."
      },
      footer = "  evenkeel cluster drain n4")
  int drain(@Mixin ApiOptions.OfNode of) throws InterruptedException {
    return change(
        of, of.node, Operations.DRAIN_NODE, new DrainNode(of.node), "has no data any more");
  }

  @Command(
      name = "undrain",
      description = "Gives data to a node again that was drained, and returns when it has it.",
      footer = "  evenkeel cluster undrain n4")
  int undrain(@Mixin ApiOptions.OfNode of) throws InterruptedException {
    return change(of, of.node, Operations.UNDRAIN_NODE, new UndrainNode(of.node), "has its data");
  }

  @Command(
      name = "remove",
      description = {
        "Moves everything off a node and takes it out of the cluster, and returns when that is done."
            + " The node may be down. It may be run again at any time."
      },
      footer = "  evenkeel cluster remove n4")
  int remove(@Mixin ApiOptions.OfNode of) throws InterruptedException {
    return change(of, of.node, Operations.REMOVE_NODE, new RemoveNode(of.node), LEFT);
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
      footer = "  evenkeel cluster pre-stop n2")
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
      return change(options, node, Operations.REMOVE_NODE, new RemoveNode(node), LEFT);
    }
    if (reason == PreStop.Reason.ALL_STOP) {
      spec.commandLine().getOut().println("the whole cluster stops: nothing to wait for");
      return 0;
    }
    HttpApi api = options.api();
    for (long left = waitMillis; ; left -= POLL_MILLIS) {
      Object cluster = api.ask(Operations.DESCRIBE_CLUSTER, new DescribeCluster());
      List<String> obstacles =
          PreStop.obstacles(Operations.DESCRIBE_CLUSTER.readAnswer(cluster), node);
      if (obstacles.isEmpty()) {
        return options.print(cluster, any -> "node " + node + " can be stopped\n");
      }
      String now = String.join("; ", obstacles);
      if (left <= 0) {
        throw CommandFailure.failed("node " + node + " should not be stopped: " + now);
      }
      pause("waiting: " + now);
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

  /** Begins a change, and waits for its end. Another node may go on with it meanwhile. */
  private <Q extends Record> int change(
      ApiOptions options,
      String node,
      Operation<Q, NodeChangeView> operation,
      Q question,
      String done)
      throws InterruptedException {
    HttpApi api = options.api();
    Object answer = api.ask(operation, question);
    NodeChangeView change = operation.readAnswer(answer);
    int failures = 0;
    while (change.state() == NodeChangeView.State.RUNNING) {
      String now = change.message() == null ? left(change) : change.message();
      pause("node " + node + ": " + now);
      try {
        answer = api.ask(Operations.GET_NODE_CHANGE, new GetNodeChange(node));
        change = Operations.GET_NODE_CHANGE.readAnswer(answer);
        failures = 0;
      } catch (CommandFailure e) {
        // While the leader of meta changes, nobody can tell how far the change is.
        if (++failures > FAILURES_MAX) {
          throw e;
        }
      }
    }
    return options.print(answer, any -> "node " + node + " " + done + "\n");
  }

  private static String left(NodeChangeView change) {
    NodeChangeView.Estimate estimate = change.estimate();
    return estimate == null
        ? left(change.groups(), 0, null)
        : left(change.groups(), estimate.bytesLeft(), estimate.secondsLeft());
  }

  private static String progress(ReplacementView replacement) {
    return replacement.progress() == null
        ? ""
        : new TreeMap<>(replacement.progress().groups())
            .entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue().name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
  }
}
