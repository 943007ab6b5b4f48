package dev.evenkeel.cli;

import dev.evenkeel.util.Daemon;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A child process whose output is read line by line. */
public final class ChildProcess {
  private final Process process;
  private final Thread reader;

  private ChildProcess(Process process, Thread reader) {
    this.process = process;
    this.reader = reader;
  }

  /**
   * Starts a program. Its environment has no EVENKEEL_ variables of this one.
   *
   * @param what names the program in errors and thread names
   * @param errors where its standard error goes
   * @param lines gets each line of its output, then null
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
            // The process was killed: the lines before that count.
          } finally {
            lines.accept(null);
          }
        });
  }

  /** Reads its standard error line by line, unless that was redirected. */
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

  /** Closes its standard input. */
  public void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The process has ended already.
      return;
    }
  }

  /** Sends SIGTERM, or what the system has instead. Returns at once. */
  public void terminate() {
    process.destroy();
  }

  /** Sends SIGKILL, or what the system has instead. Returns at once. */
  public void kill() {
    process.destroyForcibly();
  }

  /** The exit status, once it has ended. */
  public int exitStatus() {
    return process.exitValue();
  }

  /** Waits for its end; gives whether it ended in time and all of its output was read. */
  public boolean awaitEnd(long millisMax) throws InterruptedException {
    if (!process.waitFor(Math.max(0, millisMax), TimeUnit.MILLISECONDS)) {
      return false;
    }
    reader.join(Math.max(1, millisMax));
    return true;
  }
}
