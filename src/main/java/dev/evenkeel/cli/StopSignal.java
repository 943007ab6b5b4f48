package dev.evenkeel.cli;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ctrl-C and SIGTERM: runs what ends the work in good order, waits for the end within a bound, and
 * then ends the JVM with the command's own exit status instead of the signal's.
 */
public final class StopSignal {
  /** What does not end so soon after it is asked to is killed. */
  private static final long COMMANDS_MILLIS_MAX = 1_000;

  private final CompletableFuture<Integer> ended = new CompletableFuture<>();

  private Thread hook;

  /** What starts the end; at first there is nothing to end. */
  private volatile Runnable onStop = () -> ended.complete(ExitStatus.DONE);

  private StopSignal() {}

  /**
   * @param onStop starts the end and returns soon; called at most once, on another thread
   * @param millisMax how long the end may take
   */
  public static StopSignal install(Runnable onStop, long millisMax) {
    StopSignal signal = installEarly(millisMax);
    signal.onStop(onStop);
    return signal;
  }

  /** For before there is anything to end: until {@link #onStop} a signal ends at once, done. */
  static StopSignal installEarly(long millisMax) {
    StopSignal signal = new StopSignal();
    signal.hook = new Thread(() -> signal.stop(millisMax), "evenkeel-stop");
    Runtime.getRuntime().addShutdownHook(signal.hook);
    return signal;
  }

  /** Now there is something to end. */
  void onStop(Runnable starter) {
    onStop = starter;
  }

  /** The command has ended; from here on a signal does nothing. */
  public void ended(int exitStatus) {
    ended.complete(exitStatus);
    try {
      // What it would end must not be kept for it.
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The signal has come: the hook runs, and ends the program.
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
      System.err.println("evenkeel: could not end in good order within " + millisMax + " ms");
    } catch (Exception e) {
      System.err.println("evenkeel: could not end in good order: " + e);
    }
    if (status != ExitStatus.DONE) {
      // Commands of handlers that did not end must not outlive what started them.
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
