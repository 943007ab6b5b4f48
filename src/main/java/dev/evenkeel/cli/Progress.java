package dev.evenkeel.cli;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Shows once a second on a terminal how far {@code produce} is. */
final class Progress implements AutoCloseable {
  /** What is shown. */
  interface Source {
    long linesRead();

    long acked();

    /** What else there is to say; empty or beginning with a comma. */
    default String more() {
      return "";
    }
  }

  private final Source run;
  private final PrintStream err;
  private final ScheduledExecutorService timer;
  private long lastAcked;

  private Progress(Source run, PrintStream err) {
    this.run = run;
    this.err = err;
    timer = Executors.newSingleThreadScheduledExecutor(Daemon.named("evenkeel-progress"));
    timer.scheduleAtFixedRate(this::show, 1, 1, TimeUnit.SECONDS);
  }

  /** Null where nobody looks. */
  static Progress of(Source run, PrintStream err) {
    return Terminal.isStandardError() ? new Progress(run, err) : null;
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
