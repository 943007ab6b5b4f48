package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import java.util.Locale;
import picocli.CommandLine.Option;

/** What makes messages the same, and what is done with those that come again. */
final class DedupOptions {
  enum Dedup {
    key,
    payload
  }

  @Option(
      names = "--dedup",
      paramLabel = "key|payload",
      description =
          "Of messages with the same key or payload one is worked on and one waits at a time in the"
              + " whole group; every further one is finished without work (default: off). All"
              + " members must agree. Only in mode sharded.")
  private Dedup dedup;

  @Option(
      names = "--dedup-timeout",
      paramLabel = "TIME",
      description =
          "With --dedup: work that takes longer loses its key, and whoever waits for it goes on"
              + " (default: 60s).")
  private String timeout;

  boolean on() {
    return dedup != null;
  }

  /**
   * @throws CommandFailure wrong usage
   */
  void apply(ConsumerOptions options) {
    if (dedup == null) {
      if (timeout != null) {
        throw CommandFailure.usage("--dedup-timeout " + timeout + ": only --dedup has one");
      }
      return;
    }
    if (options.getMode() != ConsumerOptions.Mode.SHARDED) {
      throw CommandFailure.usage(
          "--dedup " + dedup + ": only --mode sharded has it; leave one of them out");
    }
    options.setDedup(ConsumerOptions.Dedup.valueOf(dedup.name().toUpperCase(Locale.ROOT)));
    if (timeout != null) {
      options.setDedupTimeoutMillis(
          CommandTimes.millis("--dedup-timeout", timeout, 1_000, 86_400_000));
    }
  }
}
