package dev.evenkeel.cli;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Handles Ctrl-C and SIGTERM: stops the work cleanly, waits for its end for a limited time, and
 * then exits with the status of the command instead of that of the signal.
 */
public final class StopSignal {
  /** Child processes that still run this long after SIGTERM are killed. */
  private static final long COMMANDS_MILLIS_MAX = 1_000;

  private final CompletableFuture<Integer> ended = new CompletableFuture<>();

  private Thread hook;

  /** Starts the stop; at first there is nothing to stop. */
  private volatile Runnable onStop = () -> ended.complete(ExitStatus.DONE);

  private StopSignal() {}

  /**
   * @param onStop starts the stop and returns soon; called at most once, on another thread
   * @param millisMax how long the stop may take
   */
  public static StopSignal install(Runnable onStop, long millisMax) {
    StopSignal signal = installEarly(millisMax);
    signal.onStop(onStop);
    return signal;
  }

  /** As {@link #install}; until {@link #onStop} is called, a signal exits at once with status 0. */
  static StopSignal installEarly(long millisMax) {
    StopSignal signal = new StopSignal();
    signal.hook = new Thread(() -> signal.stop(millisMax), "evenkeel-stop");
    Runtime.getRuntime().addShutdownHook(signal.hook);
    return signal;
  }

  /** Sets what starts the stop. */
  void onStop(Runnable starter) {
    onStop = starter;
  }

  /** Reports the end of the command; from now on a signal does nothing. */
  public void ended(int exitStatus) {
    ended.complete(exitStatus);
    try {
      // Else the hook would keep the objects of the command in memory.
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down: the hook runs already, and exits.
      return;
    }
  }

  private void stop(long millisMax) {
    if (ended.isDone()) {
      return;
    }
    int status = ExitStatus.FAILED;
    try {
      onStop.run();
      status = ended.get(millisMax, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      System.err.println("evenkeel: could not stop cleanly within " + millisMax + " ms");
    } catch (Exception e) {
      System.err.println("evenkeel: could not stop cleanly: " + e);
    }
    if (status != ExitStatus.DONE) {
      // Commands of handlers must not outlive this program.
      endCommands();
    }
    System.out.flush();
    Runtime.getRuntime().halt(status);
  }

  private static void endCommands() {
    List<ProcessHandle> commands = ProcessHandle.current().descendants().toList();
    commands.forEach(ProcessHandle::destroy);
    try {
      CompletableFuture.allOf(
              commands.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
          .get(COMMANDS_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (Exception e) {
      commands.forEach(ProcessHandle::destroyForcibly);
    }
  }
}
