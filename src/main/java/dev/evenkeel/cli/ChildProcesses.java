package dev.evenkeel.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The child processes of one run, with the directory of their files. {@link #close} kills them and
 * removes the directory; so does the end of this JVM, if it comes first.
 */
public final class ChildProcesses implements AutoCloseable {
  private static final long END_MILLIS_MAX = 20_000;

  private final Path directory;
  private final List<ChildProcess> started = new ArrayList<>();
  private final Thread onExit;

  /**
   * @param directory exists
   * @param thread name of the thread that ends them at the end of this JVM
   */
  public ChildProcesses(Path directory, String thread) {
    this.directory = directory;
    onExit = new Thread(this::end, thread);
    Runtime.getRuntime().addShutdownHook(onExit);
  }

  /** As {@link ChildProcess#start}, without an input. */
  public synchronized ChildProcess start(
      String what, List<String> command, ProcessBuilder.Redirect errors, Consumer<String> lines) {
    ChildProcess process = ChildProcess.start(what, command, errors, lines);
    process.closeInput();
    started.add(process);
    return process;
  }

  /** Kills processes with SIGKILL, and waits at most 20 s for the end of each. */
  public static void kill(List<ChildProcess> processes) {
    processes.forEach(ChildProcess::kill);
    try {
      for (ChildProcess each : processes) {
        each.awaitEnd(END_MILLIS_MAX);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(onExit);
    } catch (IllegalStateException e) {
      // The JVM is shutting down: the hook runs already.
      return;
    }
  }

  private synchronized void end() {
    kill(started);
    DataDirectory.remove(directory);
  }
}
