package dev.evenkeel.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Shows the progress of {@code produce} on a terminal once a second. */
final class Progress implements AutoCloseable {
  private final ProduceRun run;
  private final PrintStream err;
  private final ScheduledExecutorService timer;
  private long lastAcked;

  private Progress(ProduceRun run, PrintStream err) {
    this.run = run;
    this.err = err;
    timer = Executors.newSingleThreadScheduledExecutor(Daemon.named("evenkeel-progress"));
    timer.scheduleAtFixedRate(this::show, 1, 1, TimeUnit.SECONDS);
  }

  /** Null unless standard error is a terminal. */
  static Progress of(ProduceRun run, PrintStream err) {
    return errorIsTerminal() ? new Progress(run, err) : null;
  }

  /** Whether standard error is a terminal. */
  private static boolean errorIsTerminal() {
    Path link = Path.of("/proc/self/fd/2");
    if (!Files.isSymbolicLink(link)) {
      // Java can only tell whether standard input and output are both a terminal.
      return System.console() != null;
    }
    try {
      String target = Files.readSymbolicLink(link).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }

  private void show() {
    long acked = run.acked();
    err.printf(
        Locale.ROOT,
        "\r\033[K%,d lines read, %,d acked, %,d/s%s",
        run.linesRead(),
        acked,
        acked - lastAcked,
        run.more());
    err.flush();
    lastAcked = acked;
  }

  @Override
  public void close() {
    timer.shutdownNow();
    err.print("\r\033[K");
    err.flush();
  }
}
