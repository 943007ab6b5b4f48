package dev.evenkeel.cli;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.gateway.ServerTls;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.util.Backoff;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** {@code evenkeel run}. With {@code --node}, each setting of a node is an option, too. */
@Command(
    name = "run",
    description = {
      "Deploys a verticle, and runs it until Ctrl-C or SIGTERM, which undeploy it. It prints"
          + " 'evenkeel running NAME instances=N' when all instances are deployed.",
      "CLASS is a verticle of evenkeel.jar or of --classpath. ADDRESS is an address of the event bus:"
          + " a consumer sends it the messages of the group and topics in --conf. A name whose last"
          + " part begins with a capital letter is a class; java:NAME and address:NAME say which it"
          + " is.",
      "The verticle runs in a Vert.x of its own, and connects to the nodes of --cluster when it needs"
          + " them: dev.evenkeel.ConsumerVerticle does, and Evenkeel.with(vertx) gives any other"
          + " verticle a client. With --member this Vert.x joins the event bus of the cluster, and"
          + " with --node a node runs in this program, too."
    },
    footer = {
      "  evenkeel run com.example.Billing --classpath billing.jar --conf billing.json",
      "  evenkeel run dev.evenkeel.ConsumerVerticle --instances 4 --conf consumer.yaml \\",
      "      --classpath 'billing.jar:lib/*' --cluster n1:5701,n2:5701",
      "  evenkeel run com.example.Billing --classpath billing.jar --member",
      "  evenkeel run orders.in --conf orders.yaml",
      "  evenkeel run com.example.Billing --classpath billing.jar --node n1 --data ./data"
    })
final class RunCommand implements Callable<Integer> {
  private static final int INSTANCES_MAX = 1_000;

  /** How long a program that has lost its cluster waits for the ends of its verticles. */
  private static final long LOST_MILLIS_MAX = 5_000;

  /** Settings of a node that a member of the event bus has, too. */
  private static final Set<String> OF_MEMBER =
      Set.of(NodeOptions.PEER_TLS.key(), NodeOptions.CLUSTER_NAME.key());

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "CLASS|ADDRESS",
      description = "Name of a verticle class, or an address of the event bus.")
  private String argument;

  private final CommandOptions flags = new CommandOptions();

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Configuration of the verticle: JSON if the name ends with .json, else YAML.")
  private Path conf;

  private final Supplier<Integer> instances =
      flags.integer("--instances", "1", 1, INSTANCES_MAX, "How many instances to deploy");

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description =
          "Jars and directories with classes, as java -cp takes them: a.jar:classes:'lib/*'.")
  private String classPath;

  @Option(
      names = "--member",
      description =
          "Join the event bus of the cluster, as a member without data. Verticles that are of no use"
              + " without it do so anyway: a consumer of an ADDRESS, ProducerVerticle,"
              + " GatewayVerticle and WebVerticle.")
  private boolean member;

  @Option(
      names = "--node-conf",
      paramLabel = "FILE",
      description = "Start a node in this program, with the settings of this file.")
  private Path nodeConf;

  @Mixin private ClusterOption cluster;

  private RunCommand() {}

  /** The command with all its options. */
  static CommandSpec spec() {
    RunCommand command = new RunCommand();
    CommandSpec spec = CommandSpec.forAnnotatedObject(command);
    command.flags.addTo(spec);
    NodeOptions.SETTINGS.all().forEach(setting -> spec.addOption(option(setting)));
    return spec;
  }

  /** The help of serve explains the settings of a node; here they would hide the other options. */
  private static OptionSpec option(Setting<?> setting) {
    OptionSpec.Builder option = ServeCommand.option(setting);
    if (setting == NodeOptions.NODE) {
      return option
          .paramLabel("ID")
          .description(
              "Start a node with this id in this program, and deploy beside it. The options of"
                  + " 'evenkeel serve' are its settings, such as --port and --data.")
          .build();
    }
    if (setting == NodeOptions.PEER_TLS) {
      return option
          .paramLabel("DIR")
          .description(
              "With --member: directory with tls.crt, tls.key and ca.crt for connections to nodes"
                  + " that have --peer-tls and --allow-bus-members.")
          .build();
    }
    return option.hidden(true).build();
  }

  @Override
  public Integer call() throws Exception {
    Logging.node();
    ParseResult parsed = spec.commandLine().getParseResult();
    Map<String, String> given = ServeCommand.given(parsed);
    boolean node = nodeConf != null || given.containsKey(NodeOptions.NODE.key());
    RunClassPath classes = RunClassPath.of(classPath);
    RunTarget target = RunTarget.of(argument, VerticleConfig.read(conf), classes);
    target.checkInstances(instances.get());
    VerticleRun run = new VerticleRun(target, instances.get(), classes.loader());
    if (node) {
      CommandFailure.refuseIf(
          member || parsed.hasMatchedOption("--cluster"),
          "--cluster and --member are for a program without a node: leave them out, or --node");
      return ServeCommand.runOn(ServeCommand.config(nodeConf, given), new Guest(run));
    }
    boolean onBus = member || target.needsBus();
    checkSettings(given.keySet(), onBus);
    List<HostPort> nodes =
        OptionFormats.of("--cluster", () -> HostPort.parseAll(cluster.options().getSeeds()));
    String name = given.getOrDefault(NodeOptions.CLUSTER_NAME.key(), ClusterDefaults.CLUSTER_NAME);
    if (!onBus) {
      return runAlone(run, name);
    }
    String directory = given.get(NodeOptions.PEER_TLS.key());
    TlsIdentity tls = NodeTls.ofBusMember(directory == null ? null : Path.of(directory));
    return runAsMember(run, nodes, name, tls);
  }

  private static void checkSettings(Set<String> given, boolean onBus) {
    Set<String> wrong = new TreeSet<>(given);
    wrong.removeAll(onBus ? OF_MEMBER : Set.of(NodeOptions.CLUSTER_NAME.key()));
    CommandFailure.refuseIf(
        !wrong.isEmpty(),
        "--%s is a setting of %s"
            .formatted(
                wrong.stream().findFirst().orElse(""),
                wrong.stream().anyMatch(OF_MEMBER::contains)
                    ? "a member of the event bus or a node: add --member, or --node ID"
                    : "a node: add --node ID to start one"));
  }

  /** Runs beside a node. */
  private record Guest(VerticleRun run) implements ServeRun.Guest {
    @Override
    public void ready(
        Vertx vertx, Integer httpPort, Teardown teardown, CompletableFuture<Void> end) {
      try {
        VerticleRun.share(vertx, ClientConnection.await(Evenkeel.with(vertx)), teardown);
        run.deploy(vertx, teardown, end, () -> run.reportEnd("the node goes on"));
      } catch (InterruptedException | RuntimeException e) {
        end.completeExceptionally(e);
      }
    }

    @Override
    public long endMillisMax() {
      return VerticleRun.STOP_MILLIS_MAX;
    }
  }

  private int runAlone(VerticleRun run, String clusterName) throws InterruptedException {
    CompletableFuture<Void> end = new CompletableFuture<>();
    StopSignal signal = stopping(end);
    Teardown teardown = new Teardown();
    int status = ExitStatus.FAILED;
    try {
      Vertx vertx = Vertx.vertx();
      teardown.add("Vert.x", vertx::close);
      ClientOptions options = cluster.options().setClusterName(clusterName);
      LocalObjects.put(vertx, ClientOptions.class, options);
      run.deploy(vertx, teardown, end, () -> end.complete(run.reportEnd("the program ends")));
      ServeRun.get(end);
      status = ExitStatus.DONE;
    } finally {
      teardown.run(VerticleRun.STOP_MILLIS_MAX);
      signal.ended(status);
    }
    return status;
  }

  private static StopSignal stopping(CompletableFuture<Void> end) {
    return StopSignal.install(() -> end.complete(null), VerticleRun.STOP_MILLIS_MAX + 3_000);
  }

  /** The event bus has lost all nodes, and does not recover. */
  private static final class Lost extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private int runAsMember(
      VerticleRun run, List<HostPort> nodes, String clusterName, TlsIdentity tls)
      throws InterruptedException {
    CompletableFuture<Void> stop = new CompletableFuture<>();
    StopSignal signal = stopping(stop);
    Logger log = LoggerFactory.getLogger(RunCommand.class);
    int status = ExitStatus.FAILED;
    try {
      int failures = 0;
      while (!stop.isDone()) {
        try {
          join(run, nodes, clusterName, tls, stop);
        } catch (Lost e) {
          log.warn("no node is in sight: joining the event bus again");
          failures = 0;
        } catch (CommandFailure e) {
          if (!run.wasDeployed()) {
            throw e;
          }
          log.warn("cannot run again yet: {}", e.getMessage());
          pause(stop, Backoff.steps(++failures));
        }
      }
      status = ExitStatus.DONE;
    } finally {
      signal.ended(status);
    }
    return status;
  }

  private static void pause(CompletableFuture<Void> stop, long millis) throws InterruptedException {
    try {
      stop.get(millis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return;
    } catch (ExecutionException e) {
      throw CommandErrors.failure(e.getCause());
    }
  }

  /**
   * Runs on one Vert.x until the program shall stop.
   *
   * @throws Lost if all nodes were lost
   * @throws CommandFailure if it cannot join or deploy
   */
  private static void join(
      VerticleRun run,
      List<HostPort> nodes,
      String clusterName,
      TlsIdentity tls,
      CompletableFuture<Void> stop)
      throws InterruptedException {
    CompletableFuture<Void> end = new CompletableFuture<>();
    stop.thenRun(() -> end.complete(null));
    Teardown teardown = new Teardown();
    long millisMax = VerticleRun.STOP_MILLIS_MAX;
    try {
      ClusterMember joined = joined(nodes, clusterName, tls, stop);
      if (joined == null) {
        return;
      }
      teardown.add("cluster", joined::close);
      Vertx vertx = joined.vertx();
      if (tls != null) {
        ServerTls watched = ServerTls.watch(vertx, "peer", tls);
        teardown.addBlocking("peer-tls", watched::close);
      }
      joined.onChange(
          change -> {
            if (change.dataMembers() == 0) {
              end.completeExceptionally(new Lost());
            }
          });
      if (joined.dataMembers() == 0) {
        // They have gone since it joined.
        millisMax = LOST_MILLIS_MAX;
        throw new Lost();
      }
      EvenkeelClient client = ClientConnection.await(Evenkeel.with(vertx));
      teardown.add("client", client::close);
      VerticleRun.share(vertx, client, teardown);
      run.deploy(vertx, teardown, end, () -> stop.complete(run.reportEnd("the program ends")));
      end.get();
    } catch (ExecutionException e) {
      millisMax = LOST_MILLIS_MAX;
      throw e.getCause() instanceof Lost lost ? lost : CommandErrors.failure(e.getCause());
    } finally {
      teardown.run(millisMax);
    }
  }

  /** The member; null if the program shall stop before. */
  private static ClusterMember joined(
      List<HostPort> nodes, String clusterName, TlsIdentity tls, CompletableFuture<Void> stop)
      throws InterruptedException {
    Future<ClusterMember> joining = ClusterMembers.lite(nodes, clusterName, tls);
    CompletableFuture<ClusterMember> member = joining.toCompletionStage().toCompletableFuture();
    try {
      CompletableFuture.anyOf(member, stop).get();
    } catch (ExecutionException e) {
      String hint =
          tls == null
              ? ": start a node with 'evenkeel serve', or name others with --cluster HOST:PORT; if"
                  + " nodes have --peer-tls, give --peer-tls DIR, too"
              : ": the nodes need --allow-bus-members, and the certificate in --peer-tls the same"
                  + " authority";
      String what = CommandErrors.describe(e.getCause()).replaceFirst("[.!]+$", "");
      throw CommandFailure.failed(what + hint, e.getCause());
    }
    joining.onSuccess(
        joined -> {
          if (stop.isDone()) {
            joined.close();
          }
        });
    return stop.isDone() ? null : member.join();
  }
}
