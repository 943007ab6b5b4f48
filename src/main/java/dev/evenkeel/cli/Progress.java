package dev.evenkeel.cli;

import dev.evenkeel.util.Daemon;
import java.io.PrintStream;
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
    return Terminal.is(2) ? new Progress(run, err) : null;
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
