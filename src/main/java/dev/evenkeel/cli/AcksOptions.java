package dev.evenkeel.cli;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.RefusedException;
import picocli.CommandLine.Option;

/** When a message of {@code produce} counts as acknowledged. */
final class AcksOptions {
  @Option(
      names = "--acks",
      paramLabel = "none|majority|all",
      defaultValue = "majority",
      description = {
        "When a line is acknowledged: none: it is sent; majority: a majority of the replicas has"
            + " it",
        "on disk; all: every replica has (default: ${DEFAULT-VALUE})."
      })
  private String acks;

  @Option(
      names = "--acks-timeout",
      paramLabel = "TIME",
      description = {
        "With --acks all: how long all replicas are awaited once a majority has a line; then it is",
        "told which are missing (default: 10s)."
      })
  private String timeout;

  /**
   * @throws CommandFailure for wrong usage
   */
  void apply(ProducerOptions options, boolean spooling) {
    try {
      options.setAcks(Acks.of(acks));
    } catch (RefusedException e) {
      throw CommandFailure.usage("--" + e.getMessage());
    }
    if (spooling && options.getAcks() != Acks.MAJORITY) {
      throw CommandFailure.usage(
          "--acks " + acks + ": with --spool it is majority; leave one of the two out");
    }
    if (timeout != null) {
      if (options.getAcks() != Acks.ALL) {
        throw CommandFailure.usage("--acks-timeout: only with --acks all");
      }
      options.setAcksTimeoutMillis(timeoutMillis());
    }
  }

  private long timeoutMillis() {
    try {
      long millis = Durations.parseMillis(timeout);
      if (millis > 0 && millis <= Integer.MAX_VALUE) {
        return millis;
      }
    } catch (RefusedException | ArithmeticException e) {
      // The line below says what is right.
    }
    throw CommandFailure.usage(
        "--acks-timeout '" + timeout + "': write 200ms, 5s or 2m, 24d at most");
  }

  boolean none() {
    return Acks.of(acks) == Acks.NONE;
  }
}
