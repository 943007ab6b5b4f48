package dev.evenkeel.bench;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OwnProgram;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One node in a JVM of its own, which can be killed and started again on the same data. */
final class OwnNode {
  private static final long READY_SECONDS_MAX = 180;
  private static final long KILL_SECONDS_MAX = 20;
  private static final int ERROR_LINES_SHOWN_MAX = 5;

  private final String id;
  private final int port;
  private final List<String> peers;
  private final Path directory;
  private final List<String> jvmOptions;
  private ChildProcess process;
  private CompletableFuture<String> ready;

  /**
   * @param peers all nodes as ID@HOST:PORT, this one too
   */
  OwnNode(String id, int port, List<String> peers, Path directory, List<String> jvmOptions) {
    this.id = id;
    this.port = port;
    this.peers = peers;
    this.directory = directory;
    this.jvmOptions = jvmOptions;
  }

  String id() {
    return id;
  }

  int port() {
    return port;
  }

  /** Starts it, and returns at once. */
  void begin() {
    List<String> command = new ArrayList<>(OwnProgram.command(jvmOptions));
    command.addAll(List.of("serve", "--node", id, "--port", String.valueOf(port)));
    command.addAll(List.of("--http-port", "0", "--data", directory.resolve("data").toString()));
    if (peers.size() > 1) {
      command.addAll(List.of("--peers", String.join(",", peers)));
    }
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot start node " + id + ": " + e.getMessage(), e);
    }
    CompletableFuture<String> told = new CompletableFuture<>();
    ready = told;
    process =
        ChildProcess.start(
            "node " + id,
            command,
            ProcessBuilder.Redirect.appendTo(errors().toFile()),
            line -> {
              if (line == null) {
                told.completeExceptionally(new IOException("it ended before it was ready"));
              } else if (line.startsWith("evenkeel ready")) {
                told.complete(line);
              }
            });
    process.closeInput();
  }

  /** Waits for its ready line. */
  void awaitReady() {
    try {
      ready.get(READY_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw CommandFailure.failed(
          "node "
              + id
              + " was not ready within "
              + READY_SECONDS_MAX
              + " s; it said: "
              + String.join(" | ", lastErrors()),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted", e);
    }
  }

  /** What the node says of its heap, garbage included; NaN if it does not answer. */
  double heapBytes() {
    String line = ready.getNow("");
    String port = line.substring(line.indexOf("http=") + "http=".length()).trim();
    try (InputStream in = new URL("http://127.0.0.1:" + port + "/metrics").openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(each -> each.startsWith("jvm_memory_used_bytes{area=\"heap\""))
          .mapToDouble(each -> Double.parseDouble(each.substring(each.lastIndexOf(' ') + 1)))
          .sum();
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /** SIGKILL, and waits for the end. */
  void kill() {
    if (process == null) {
      return;
    }
    process.kill();
    try {
      process.awaitEnd(TimeUnit.SECONDS.toMillis(KILL_SECONDS_MAX));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Path errors() {
    return directory.resolve("node.err");
  }

  private List<String> lastErrors() {
    try {
      List<String> lines = Files.readAllLines(errors(), StandardCharsets.ISO_8859_1);
      return lines.subList(Math.max(0, lines.size() - ERROR_LINES_SHOWN_MAX), lines.size());
    } catch (IOException e) {
      return List.of("nothing that could be read: " + e.getMessage());
    }
  }
}
