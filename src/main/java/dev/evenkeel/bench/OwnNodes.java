package dev.evenkeel.bench;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.ChildProcesses;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.FreePorts;
import dev.evenkeel.cli.OwnProgram;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Nodes that a benchmark starts: each is a JVM of its own with this jar, on the loopback interface.
 * Their data is removed at the end.
 */
final class OwnNodes implements AutoCloseable {
  private static final long READY_SECONDS_MAX = 180;
  private static final int ERROR_LINES_SHOWN_MAX = 5;
  private static final String HOST = FreePorts.HOST;
  private static final Pattern SNAPSHOT = Pattern.compile("snapshot\\.\\d+_(\\d+)");

  private final BenchOptions options;
  private final Path directory;
  private final List<OwnNode> nodes = new ArrayList<>();
  private final ChildProcesses processes;

  private OwnNodes(BenchOptions options, Path directory) {
    this.options = options;
    this.directory = directory;
    processes = new ChildProcesses(directory, "bench-end");
  }

  /** Starts as many nodes as the options say, and waits until all can serve. */
  static OwnNodes start(BenchOptions options) {
    OwnNodes own;
    try {
      Files.createDirectories(options.data());
      own = new OwnNodes(options, Files.createTempDirectory(options.data(), "evenkeel-bench-"));
    } catch (IOException e) {
      throw CommandFailure.failed("cannot keep data in " + options.data() + ": " + e, e);
    }
    try {
      List<Integer> ports = FreePorts.find(options.nodes());
      for (int port : ports) {
        own.nodes.add(own.new OwnNode("n" + (own.nodes.size() + 1), port));
      }
      own.nodes.forEach(node -> node.begin());
      own.nodes.forEach(OwnNode::awaitReady);
      return own;
    } catch (RuntimeException e) {
      own.close();
      throw e;
    }
  }

  int count() {
    return nodes.size();
  }

  List<String> seeds() {
    return nodes.stream().map(node -> HOST + ":" + node.port).toList();
  }

  /** The HTTP addresses of the nodes. */
  List<String> urls() {
    return nodes.stream().map(OwnNode::url).toList();
  }

  /** The heap of all nodes, including garbage; NaN if one does not answer. */
  double heapBytes() {
    try {
      return urls().stream().mapToDouble(url -> NodeMetrics.read(url).heapBytes()).sum();
    } catch (CommandFailure e) {
      return Double.NaN;
    }
  }

  List<OwnNode> all() {
    return List.copyOf(nodes);
  }

  OwnNode node(String id) {
    return nodes.stream().filter(node -> node.id.equals(id)).findFirst().orElseThrow();
  }

  @Override
  public void close() {
    // Their data is removed, so they need not stop cleanly.
    processes.close();
  }

  /** One node in a JVM of its own, which can be killed and started again on the same data. */
  final class OwnNode {

    private final String id;
    private final int port;
    private ChildProcess process;
    private CompletableFuture<String> ready;

    private OwnNode(String id, int port) {
      this.id = id;
      this.port = port;
    }

    /**
     * Starts the node; returns at once.
     *
     * @param settings more arguments of {@code serve}
     */
    void begin(String... settings) {
      List<String> command = new ArrayList<>(OwnProgram.command(options.nodeJvmOptions()));
      command.addAll(List.of("serve", "--node", id, "--port", String.valueOf(port)));
      command.addAll(List.of("--http-port", "0", "--data", data().toString()));
      command.addAll(List.of(settings));
      if (nodes.size() > 1) {
        command.add("--peers");
        command.add(
            nodes.stream()
                .map(node -> node.id + "@" + HOST + ":" + node.port)
                .collect(Collectors.joining(",")));
      }
      try {
        Files.createDirectories(directory());
      } catch (IOException e) {
        throw CommandFailure.failed("cannot start node " + id + ": " + e.getMessage(), e);
      }
      CompletableFuture<String> reported = new CompletableFuture<>();
      ready = reported;
      process =
          processes.start(
              "node " + id,
              command,
              ProcessBuilder.Redirect.appendTo(errors().toFile()),
              line -> {
                if (line == null) {
                  reported.completeExceptionally(new IOException("it ended before it was ready"));
                } else if (line.startsWith("evenkeel ready")) {
                  reported.complete(line);
                }
              });
    }

    /** Waits until the node reports that it is ready. */
    void awaitReady() {
      try {
        ready.get(READY_SECONDS_MAX, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw CommandFailure.failed(
            "node %s was not ready within %s s; it said: %s"
                .formatted(id, READY_SECONDS_MAX, String.join(" | ", lastErrors())),
            e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw CommandFailure.failed("interrupted", e);
      }
    }

    /** Its HTTP address, once it is ready. */
    String url() {
      String line = ready.getNow("");
      return "http://"
          + HOST
          + ":"
          + line.substring(line.indexOf("http=") + "http=".length()).trim();
    }

    /** Kills the node with SIGKILL, and waits for its end. */
    void kill() {
      if (process != null) {
        ChildProcesses.kill(List.of(process));
      }
    }

    /** The data directory. */
    Path data() {
      return directory().resolve("data");
    }

    /**
     * The index of the last entry in the newest snapshot of each log group, by the directory of the
     * group.
     */
    Map<Path, Long> snapshots() {
      Map<Path, Long> newest = new HashMap<>();
      try {
        for (Path group : DurableFiles.list(data().resolve("raft/raft"))) {
          for (Path each : DurableFiles.list(group.resolve("sm"))) {
            Matcher name = SNAPSHOT.matcher(each.getFileName().toString());
            if (name.matches()) {
              newest.merge(group, Long.parseLong(name.group(1)), Math::max);
            }
          }
        }
      } catch (IOException e) {
        throw CommandFailure.failed("cannot read the snapshots of node " + id + ": " + e, e);
      }
      return newest;
    }

    private Path directory() {
      return OwnNodes.this.directory.resolve(id);
    }

    private Path errors() {
      return directory().resolve("node.err");
    }

    private List<String> lastErrors() {
      try {
        List<String> lines = Files.readAllLines(errors(), StandardCharsets.ISO_8859_1);
        return lines.subList(Math.max(0, lines.size() - ERROR_LINES_SHOWN_MAX), lines.size());
      } catch (IOException e) {
        return List.of("no readable output: " + e.getMessage());
      }
    }
  }
}
