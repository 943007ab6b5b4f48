package dev.evenkeel.log.raft;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@link LoadMain} in a process, and the lines that it has printed. */
final class ForkedNode implements AutoCloseable {
  private static final Pattern ACK = Pattern.compile("ack (\\S+-\\d+)");

  private final List<String> lines = new ArrayList<>();
  final Process process;
  private final Thread reader;

  /** A lone node. */
  ForkedNode(Path home, int port, String prefix, List<String> options) throws IOException {
    this(options, home.toString(), Integer.toString(port), prefix);
  }

  /**
   * @param arguments of {@link LoadMain}
   */
  ForkedNode(List<String> options, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("--add-")) {
        command.add(argument);
      }
    }
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(LoadMain.class.getName());
    command.addAll(List.of(arguments));
    // Of its own: surefire puts what a process inherits on the screen.
    File errors = new File("target/forked-nodes.log");
    process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(errors)).start();
    reader = new Thread(this::read, "read-" + arguments[2]);
    reader.start();
  }

  private void read() {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        synchronized (lines) {
          lines.add(line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it has printed; the last line may be cut off if it was killed. */
  List<String> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  /** Entries that were acknowledged, without those whose line was cut off by the end. */
  List<String> acknowledged() {
    return lines().stream()
        .map(ACK::matcher)
        .filter(Matcher::matches)
        .map(ack -> ack.group(1))
        .toList();
  }

  /** SIGKILL, and everything read that came before it. */
  void kill() throws InterruptedException {
    // Not Process.destroyForcibly(): that also closes the stream, with lines still unread in it.
    process.toHandle().destroyForcibly();
    process.waitFor();
    reader.join();
  }

  int await() throws InterruptedException {
    int status = process.waitFor();
    reader.join();
    return status;
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
