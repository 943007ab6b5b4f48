package dev.evenkeel.bench;

import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.ChildProcesses;
import dev.evenkeel.cli.FreePorts;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.NodePorts;
import examples.OwnVertxExample;
import io.vertx.core.Vertx;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three nodes of ours and three plain Hazelcast members, each in a JVM of its own, and the programs
 * in this JVM that use them.
 */
final class ServiceClusters implements AutoCloseable {
  /** Programs of each kind. */
  static final int PROGRAMS = 3;

  private static final int NODES = 3;
  private static final long READY_SECONDS_MAX = 180;
  private static final String HEAP = "-Xmx512m";

  private final Path directory;
  private final ChildProcesses processes;
  private final List<Integer> nodePorts = FreePorts.find(NODES);
  private final List<Integer> memberPorts = FreePorts.find(NODES);
  private final List<EvenkeelClient> sessions = new ArrayList<>();
  private final List<EvenkeelClient> members = new ArrayList<>();
  private final List<HazelcastInstance> clients = new ArrayList<>();
  private final List<HazelcastInstance> lites = new ArrayList<>();
  private final List<Vertx> vertxes = new ArrayList<>();

  private ServiceClusters(Path data) throws IOException {
    Files.createDirectories(data);
    directory = Files.createTempDirectory(data, "services-");
    processes = new ChildProcesses(directory, "services-end");
  }

  static ServiceClusters start(Path data, Path jar) throws Exception {
    ServiceClusters clusters = new ServiceClusters(data);
    try {
      clusters.startNodes(jar);
      clusters.startPrograms();
      return clusters;
    } catch (Exception e) {
      clusters.close();
      throw e;
    }
  }

  private void startNodes(Path jar) throws Exception {
    String peers =
        IntStream.range(0, NODES)
            .mapToObj(i -> "n%d@%s:%d".formatted(i + 1, HazelcastNode.HOST, nodePorts.get(i)))
            .collect(Collectors.joining(","));
    List<CompletableFuture<?>> ready = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      String id = "n" + (i + 1);
      String port = String.valueOf(nodePorts.get(i));
      Path own = directory.resolve(id);
      List<String> command = java(HEAP, "-jar", jar.toString(), "serve", "--node", id);
      command.addAll(List.of("--port", port, "--http-port", "0", "--peers", peers));
      command.addAll(List.of("--data", own.resolve("data").toString()));
      ready.add(begin("node " + id, command, "evenkeel ready"));
    }
    for (Integer port : memberPorts) {
      List<String> command = program(HazelcastNode.class, port.toString(), hazelcastPorts());
      ready.add(begin("member " + port, command, "ready"));
    }
    for (CompletableFuture<?> each : ready) {
      each.get(READY_SECONDS_MAX, TimeUnit.SECONDS);
    }
  }

  private void startPrograms() {
    String node = HazelcastNode.HOST + ":" + NodePorts.hazelcast(nodePorts.get(0));
    for (int i = 0; i < PROGRAMS; i++) {
      sessions.add(session(seeds()));
      Vertx own = ServiceLoad.await(OwnVertxExample.clusteredVertx(node));
      vertxes.add(own);
      members.add(ServiceLoad.await(Evenkeel.with(own)));
      clients.add(HazelcastNode.client(hazelcastPorts()));
      HazelcastClusterManager manager =
          new HazelcastClusterManager(HazelcastNode.lite(hazelcastPorts()));
      vertxes.add(ServiceLoad.await(Vertx.builder().withClusterManager(manager).buildClustered()));
      lites.add(manager.getHazelcastInstance());
    }
  }

  /** Begins a process; completes when it prints a line that begins so. */
  private CompletableFuture<String> begin(String what, List<String> command, String beginning) {
    CompletableFuture<String> ready = new CompletableFuture<>();
    start(
        what,
        command,
        line -> {
          if (line == null) {
            ready.completeExceptionally(new IOException(what + " has ended: see " + directory));
          } else if (line.startsWith(beginning)) {
            ready.complete(line);
          }
        });
    return ready;
  }

  /**
   * Starts a process that this run ends.
   *
   * @param lines gets each line that it prints, then null
   */
  ChildProcess start(String what, List<String> command, Consumer<String> lines) {
    Path errors = directory.resolve(what.replace(' ', '-') + ".err");
    return processes.start(what, command, ProcessBuilder.Redirect.appendTo(errors.toFile()), lines);
  }

  private static List<String> java(String... args) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(args));
    return command;
  }

  /** The command line of a program of this folder. */
  static List<String> program(Class<?> main, String... args) {
    List<String> command = java(HEAP, "-cp", System.getProperty("java.class.path"), main.getName());
    command.addAll(List.of(args));
    return command;
  }

  /** Nodes of ours, HOST:PORT each with commas. */
  String seeds() {
    return nodePorts.stream()
        .map(port -> HazelcastNode.HOST + ":" + port)
        .collect(Collectors.joining(","));
  }

  /** Ports of the Hazelcast members, with commas. */
  String hazelcastPorts() {
    return memberPorts.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /** A session client of ours, connected to nodes with commas. */
  static EvenkeelClient session(String seeds) {
    ClientOptions options = new ClientOptions().setSeeds(List.of(seeds.split(",")));
    return ServiceLoad.await(Evenkeel.connect(options));
  }

  /** Programs that use ours: members of the event bus, or session clients. */
  List<EvenkeelClient> ours(boolean member) {
    return member ? members : sessions;
  }

  /** Programs that use Hazelcast: members without data, or clients. */
  List<HazelcastInstance> theirs(boolean member) {
    return member ? lites : clients;
  }

  /** A program that is a lite member of the Hazelcast cluster by its Vert.x. */
  Vertx vertx(int program) {
    return vertxes.get(2 * program + 1);
  }

  @Override
  public void close() {
    // The nodes end with all that they have, so the programs have nothing to give back.
    processes.close();
  }
}
