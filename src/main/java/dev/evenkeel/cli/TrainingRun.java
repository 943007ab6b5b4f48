package dev.evenkeel.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Runs a node and commands that use it, to see which classes they load. */
final class TrainingRun implements AutoCloseable {
  private static final long NODE_SECONDS_MAX = 180;
  private static final long COMMAND_MILLIS_MAX = 60_000;

  private final Path directory;
  private final ChildProcesses processes;

  TrainingRun() {
    try {
      directory = Files.createTempDirectory("evenkeel-classes-");
    } catch (IOException e) {
      throw CommandFailure.failed("cannot make a temporary directory: " + e, e);
    }
    processes = new ChildProcesses(directory, "training-end");
  }

  /** A directory for the caller's files, too. {@link #close} removes it. */
  Path directory() {
    return directory;
  }

  /**
   * The lines of the JVM's lists of loaded classes.
   *
   * @throws CommandFailure if the node or a command does not work
   */
  List<String> classes() throws InterruptedException {
    try {
      int port = FreePorts.find(1).get(0);
      CompletableFuture<String> ready = new CompletableFuture<>();
      ChildProcess node =
          start(
              "serve",
              line -> {
                if (line == null) {
                  ready.completeExceptionally(new IOException("the node ended"));
                } else if (line.startsWith("evenkeel ready")) {
                  ready.complete("http://" + FreePorts.HOST + ":" + line.split("http=")[1].trim());
                }
              },
              "--port",
              String.valueOf(port),
              "--http-port",
              "0",
              "--data",
              directory.resolve("data").toString());
      String http = await(ready);
      String cluster = FreePorts.HOST + ":" + port;
      Path message = Files.writeString(directory.resolve("message"), "hello\n");
      run("topic", "create", "t", "--shards", "1", "--http", http);
      run("produce", "t", message.toString(), "--cluster", cluster);
      run("consume", "t", "--group", "g", "--max", "1", "--cluster", cluster);
      run("group", "describe", "g", "--http", http);
      node.terminate();
      node.awaitEnd(COMMAND_MILLIS_MAX);
      Set<String> classes = new LinkedHashSet<>();
      for (String command : List.of("serve", "topic", "produce", "consume", "group")) {
        Files.readAllLines(list(command)).stream()
            // Later versions of Java number the classes of each list.
            .map(line -> line.replaceFirst(" id: \\d+$", ""))
            .forEach(classes::add);
      }
      return List.copyOf(classes);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot use " + directory + ": " + e, e);
    }
  }

  private String await(CompletableFuture<String> ready) throws InterruptedException {
    try {
      return ready.get(NODE_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw failed("serve", e);
    }
  }

  private void run(String command, String... args) throws InterruptedException {
    ChildProcess process = start(command, line -> {}, args);
    if (!process.awaitEnd(COMMAND_MILLIS_MAX) || process.exitStatus() != 0) {
      throw failed(command, null);
    }
  }

  private CommandFailure failed(String command, Exception cause) {
    String said;
    try {
      said = Files.readString(errors(command)).trim();
    } catch (IOException e) {
      said = "";
    }
    return CommandFailure.failed("'evenkeel " + command + "' did not work here: " + said, cause);
  }

  private Path list(String command) {
    return directory.resolve(command + ".classes");
  }

  private Path errors(String command) {
    return directory.resolve(command + ".err");
  }

  private ChildProcess start(String command, Consumer<String> lines, String... args) {
    List<String> all =
        OwnProgram.command(
            List.of(
                "-XX:DumpLoadedClassList=" + list(command), "-XX:TieredStopAtLevel=1", "-Xmx512m"));
    all.add(command);
    all.addAll(List.of(args));
    return processes.start(
        command, all, ProcessBuilder.Redirect.to(errors(command).toFile()), lines);
  }

  @Override
  public void close() {
    processes.close();
  }
}
