package dev.evenkeel.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A program in a process of its own. Its output is taken line by line. */
public final class ChildProcess {
  private final Process process;
  private final Thread reader;

  private ChildProcess(Process process, Thread reader) {
    this.process = process;
    this.reader = reader;
  }

  /**
   * Starts a program, without our own settings in its environment.
   *
   * @param what for an error, and for the names of threads
   * @param errors where its standard error goes
   * @param lines takes each line of its output; null comes last
   * @throws CommandFailure if it cannot be started
   */
  public static ChildProcess start(
      String what, List<String> command, ProcessBuilder.Redirect errors, Consumer<String> lines) {
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors);
    builder.environment().keySet().removeIf(key -> key.startsWith("EVENKEEL_"));
    try {
      Process process = builder.start();
      return new ChildProcess(
          process, read("out of " + what, process.inputReader(StandardCharsets.UTF_8), lines));
    } catch (IOException e) {
      throw CommandFailure.failed("cannot start " + what + ": " + e.getMessage(), e);
    }
  }

  private static Thread read(String name, BufferedReader from, Consumer<String> lines) {
    return Daemon.start(
        name,
        () -> {
          try (from) {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
              lines.accept(line);
            }
          } catch (IOException e) {
            // It was killed: what came before counts.
          } finally {
            lines.accept(null);
          }
        });
  }

  /** Takes each line of its standard error, if that was not sent elsewhere. */
  public void readErrors(Consumer<String> lines) {
    read(
        "errors of " + process.pid(),
        process.errorReader(StandardCharsets.UTF_8),
        line -> {
          if (line != null) {
            lines.accept(line);
          }
        });
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Ends its standard input. */
  public void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // It has ended already.
      return;
    }
  }

  /** SIGTERM, or what the system has for it. Returns at once. */
  public void terminate() {
    process.destroy();
  }

  /** SIGKILL, or what the system has for it. Returns at once. */
  public void kill() {
    process.destroyForcibly();
  }

  /** Whether it has ended within the time, and all of its output was taken. */
  public boolean awaitEnd(long millisMax) throws InterruptedException {
    if (!process.waitFor(Math.max(0, millisMax), TimeUnit.MILLISECONDS)) {
      return false;
    }
    reader.join(Math.max(1, millisMax));
    return true;
  }
}
