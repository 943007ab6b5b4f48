package dev.evenkeel.chaos;

import static dev.evenkeel.Words.words;

import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import dev.evenkeel.functional.Program;
import dev.evenkeel.functional.Trio;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The machines of a run: nodes, each with a disk of its own, and clients. Whoever ends without
 * having been told to is started again, as a service manager would, and that is noted. May be used
 * from several threads.
 */
final class Machines implements AutoCloseable {
  /** All that is sent stays there, in logs, snapshots and state. */
  private static final int DISK_MEBIBYTES = 448 + (int) (16 * ChaosIT.MINUTES);

  /** Messages a second of all clients together. */
  private static final int RATE = Integer.getInteger("evenkeel.chaos.rate", 600);

  private static final long RESTART_NANOS = 5_000_000_000L;
  private static final int STATUS_OF_SIGTERM = 128 + 15;

  /** Files of the log, and of the state: what else a disk has nobody reads again. */
  private static final Pattern HOLDS_DATA = Pattern.compile("log_.*|.*\\.(sst|blob)");

  /** What every node is started with. */
  private static final List<String> SETTINGS =
      List.of(
          words(
              """
              --segment-bytes 8MiB --tail-cache-bytes 2MiB --snapshot-every-bytes 16MiB
              --disk-free-min-bytes 32MiB
              """));

  private static final List<String> SMALL_JVM =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=48m");

  private final Path directory;
  private final Network network;
  private final Map<String, Node> nodes = new LinkedHashMap<>();
  private final Map<String, Jar.Running> clients = new LinkedHashMap<>();
  private final Map<String, Integer> clientRuns = new LinkedHashMap<>();

  /** Who is down on purpose, or may end by what is done to it. */
  private final Set<String> down = new HashSet<>();

  private final Set<String> mayEnd = new HashSet<>();
  private final Map<String, Long> restartNanos = new LinkedHashMap<>();
  private final Violations violations;
  private final int diskMebibytes;
  private final int heapMebibytes;
  private final Trio trio;

  /** Three nodes and three clients. */
  Machines(Path directory, Network network, Violations violations) {
    this(directory, network, violations, Schedule.CLIENTS, DISK_MEBIBYTES, 256);
  }

  Machines(
      Path directory,
      Network network,
      Violations violations,
      List<String> clients,
      int diskMebibytes,
      int heapMebibytes) {
    this.directory = directory;
    this.network = network;
    this.violations = violations;
    this.diskMebibytes = diskMebibytes;
    this.heapMebibytes = heapMebibytes;
    Schedule.NODES.forEach(this::make);
    network.hosts(clients.toArray(String[]::new));
    trio = new Trio(directory, List.copyOf(nodes.values()), SETTINGS.toArray(String[]::new));
  }

  private Node make(String name) {
    Host host = network.host(name);
    Path own = directory.resolve(name);
    if (nodes.containsKey(name)) {
      wipe(name);
    } else {
      host.disk(own.resolve("data"), diskMebibytes);
    }
    Node node = Node.at(own, host.address(), host.surroundings(preloaded(own)));
    nodes.put(name, node.inJvm(jvm(heapMebibytes)));
    return node;
  }

  /** Starts a further node, or one that has left, with an empty disk: the others take it in. */
  synchronized Node join(String name) {
    Node node = make(name).with("--node", name, "--join", trio.cluster());
    node.with(SETTINGS.toArray(String[]::new)).begin().mayPause();
    down.remove(name);
    return node;
  }

  /** All nodes, by name. */
  Map<String, Node> nodes() {
    return nodes;
  }

  private static List<String> jvm(int heapMebibytes) {
    List<String> options = new ArrayList<>(SMALL_JVM);
    options.add("-Xmx" + heapMebibytes + "m");
    return options;
  }

  private Map<String, String> preloaded(Path own) {
    if (network.noDelay().isPresent()) {
      return Map.of();
    }
    setFaults(own, 0, 0, 0);
    return Map.of(
        "LD_PRELOAD",
        network.programs().faults().toString(),
        "CHAOS_FAULTS",
        own.resolve("faults").toString());
  }

  /** See faults.c. */
  private static void setFaults(Path own, long clockNanos, long fsyncMillis, long fsyncError) {
    ByteBuffer bytes = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
    bytes.putLong(clockNanos).putLong(fsyncMillis).putLong(fsyncError).flip();
    try (FileChannel file =
        FileChannel.open(
            own.resolve("faults"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      file.write(bytes, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void setFaults(String node, long clockNanos, long fsyncMillis, long fsyncError) {
    setFaults(nodes.get(node).directory, clockNanos, fsyncMillis, fsyncError);
  }

  Trio trio() {
    return trio;
  }

  Node node(String name) {
    return nodes.get(name);
  }

  Network network() {
    return network;
  }

  void startNodes() {
    nodes.values().forEach(node -> node.begin().mayPause());
    nodes.values().forEach(node -> node.awaitReady(trio.nodes));
  }

  // Clients

  synchronized void startClient(String name) {
    int run = clientRuns.merge(name, 1, Integer::sum);
    Host host = network.host(name);
    List<String> jvm = jvm(128);
    jvm.add("-Devenkeel.test.log=INFO");
    Jar.Running client =
        Program.startFedWithJar(
            host.surroundings(),
            directory.resolve(name),
            "run-" + run,
            jvm,
            testClasses(),
            ChaosClient.class.getName(),
            trio.cluster(),
            name,
            name + "." + run,
            String.valueOf(RATE / Schedule.CLIENTS.size()),
            directory.resolve(name).resolve("events-" + run).toString());
    clients.put(name, client.mayPause());
    down.remove(name);
  }

  static Path testClasses() {
    try {
      return Path.of(Machines.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  synchronized void tell(String client, String command) {
    try {
      OutputStream in = clients.get(client).process.getOutputStream();
      in.write((command + "\n").getBytes(StandardCharsets.US_ASCII));
      in.flush();
    } catch (IOException e) {
      violations.add("a client ended by itself", client + " does not hear '" + command + "'");
    }
  }

  /** How often the present run of a client has printed a line. */
  synchronized long told(String client, String line) {
    return clients.get(client).out().lines().filter(line::equals).count();
  }

  synchronized Jar.Running client(String name) {
    return clients.get(name);
  }

  /** All files that clients wrote events to. */
  List<Path> events() throws IOException {
    try (Stream<Path> files = Files.walk(directory, 2)) {
      return files.filter(file -> file.getFileName().toString().startsWith("events")).toList();
    }
  }

  /** All that clients printed, by the names of their runs. */
  Map<String, List<String>> clientOutput() throws IOException {
    Map<String, List<String>> output = new LinkedHashMap<>();
    for (String client : Schedule.CLIENTS) {
      for (int run = 1; run <= clientRuns.get(client); run++) {
        Path file = directory.resolve(client).resolve("run-" + run + ".out");
        output.put(client + "." + run, Files.readAllLines(file, StandardCharsets.ISO_8859_1));
      }
    }
    return output;
  }

  // Processes

  private Jar.Running running(String name) {
    return nodes.containsKey(name) ? nodes.get(name).process() : clients.get(name);
  }

  synchronized void signal(String name, String signal) {
    Process process = running(name).process;
    Commands.Result sent = Commands.tryRun("kill -" + signal + " " + process.pid());
    if (sent.status() != 0 && process.isAlive()) {
      violations.add("a signal did not come through", name + " " + signal + ": " + sent.output());
    }
  }

  /** SIGKILL; it is not started again until it is told to. */
  synchronized void kill(String name) {
    down.add(name);
    running(name).process.destroyForcibly().onExit().join();
  }

  /** SIGTERM; it must end in good order. */
  void stop(String name) {
    Jar.Running running;
    synchronized (this) {
      down.add(name);
      running = running(name);
    }
    if (nodes.containsKey(name)) {
      running.process.destroy();
    } else {
      tell(name, "leave");
    }
    if (!Conditions.within(90, () -> !running.process.isAlive())) {
      violations.add("a program did not stop", name);
      running.process.destroyForcibly().onExit().join();
    } else if (running.process.exitValue() != 0 && !isStoppedBeforeItBegan(running)) {
      int status = running.process.exitValue();
      violations.add("a program did not stop well", name + " status " + status);
    }
  }

  /** A JVM that has just been started has nothing to end yet, and nobody who hears the signal. */
  private static boolean isStoppedBeforeItBegan(Jar.Running running) {
    return running.process.exitValue() == STATUS_OF_SIGTERM
        && running.out().isEmpty()
        && running.err().isEmpty();
  }

  synchronized void start(String name) {
    if (running(name).process.isAlive()) {
      return;
    }
    if (nodes.containsKey(name)) {
      down.remove(name);
      nodes.get(name).begin().mayPause();
    } else {
      startClient(name);
    }
  }

  synchronized boolean isUp(String name) {
    return running(name).process.isAlive();
  }

  /** Whether it has ended although nothing was done to it that explains that. */
  synchronized boolean isLost(String name) {
    return !down.contains(name) && !mayEnd.contains(name) && !isUp(name);
  }

  /** It is about to end in good order. */
  synchronized void leaves(String name) {
    down.add(name);
  }

  /** From now on it may end by itself, or may not any more. */
  synchronized void mayEnd(String name, boolean may) {
    if (may) {
      mayEnd.add(name);
    } else {
      mayEnd.remove(name);
    }
  }

  /** Starts again who has ended by itself. */
  synchronized void supervise(long nowNanos, String since) {
    for (String name : Stream.concat(nodes.keySet().stream(), clients.keySet().stream()).toList()) {
      Jar.Running running = running(name);
      boolean due =
          nowNanos - restartNanos.getOrDefault(name, nowNanos - RESTART_NANOS) >= RESTART_NANOS;
      if (!down.contains(name) && !running.process.isAlive() && due) {
        String last = running.err().strip();
        String what =
            since
                + " "
                + name
                + " status "
                + running.process.exitValue()
                + ": "
                + last.substring(Math.max(0, last.length() - 400));
        if (mayEnd.contains(name)) {
          System.out.println("ended by its fault, starts again: " + what);
        } else {
          violations.add("a program ended by itself", what);
        }
        restartNanos.put(name, nowNanos);
        start(name);
      }
    }
  }

  // Disks

  /** Copies what is on the nodes' disks, which are memory, to {@code data-kept} beside each. */
  void keepData() {
    for (String node : nodes.keySet()) {
      Commands.run("cp -a " + data(node) + " " + data(node).resolveSibling("data-kept"));
    }
  }

  private Path data(String node) {
    return nodes.get(node).directory.resolve("data");
  }

  /** Leaves so much room on the node's disk. */
  void fill(String node, long mebibytes) {
    // No disk becomes smaller than what is on it by now, and the node goes on to write.
    for (int tries = 0; !Host.resized(data(node), used(node) + (mebibytes << 10)); tries++) {
      if (tries == 100) {
        throw new IllegalStateException("the disk of " + node + " does not get smaller");
      }
    }
  }

  /** In KiB. A disk of this size is full: nobody has to write what fills it. */
  private long used(String node) {
    try {
      FileStore disk = Files.getFileStore(data(node));
      return Math.max(1, (disk.getTotalSpace() - disk.getUsableSpace()) >> 10);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The disk has all its room again. */
  void makeRoom(String node) {
    if (!Host.resized(data(node), diskMebibytes << 10)) {
      throw new IllegalStateException("the disk of " + node + " does not get larger");
    }
  }

  /** The node must be down. */
  void wipe(String node) {
    try (Stream<Path> files = Files.walk(data(node))) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!file.equals(data(node))) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Changes a byte of so many files of logs and state. The node must be down. */
  void rot(String node, int bytes, Random random) {
    try (Stream<Path> files = Files.walk(data(node))) {
      List<Path> all =
          files
              .filter(file -> HOLDS_DATA.matcher(file.getFileName().toString()).matches())
              .filter(file -> file.toFile().length() > 4_096)
              .sorted()
              .toList();
      for (int i = 0; i < bytes && !all.isEmpty(); i++) {
        Path file = all.get(random.nextInt(all.size()));
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          long place = (long) (random.nextDouble() * channel.size());
          ByteBuffer one = ByteBuffer.allocate(1);
          channel.read(one, place);
          one.put(0, (byte) (one.get(0) ^ 1 << random.nextInt(8))).rewind();
          channel.write(one, place);
          System.out.println("  damaged byte " + place + " of " + file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    clients.values().forEach(client -> client.process.destroyForcibly());
    try {
      trio.close();
    } finally {
      nodes.values().forEach(Node::close);
    }
  }
}
