package dev.evenkeel.cli;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.ProducerOptions;
import picocli.CommandLine.Option;

/** When a line of {@code produce} counts as acknowledged, and the spool that it goes through. */
final class ProduceOptions {
  @Option(
      names = "--acks",
      paramLabel = "none|majority|all",
      defaultValue = "majority",
      description = {
        "When a line is acknowledged: none: it is sent; majority: a majority of the replicas has"
            + " it",
        "on disk; all: every replica has (default: ${DEFAULT-VALUE})."
      })
  private Acks acks;

  @Option(
      names = "--acks-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      description = {
        "With --acks all: how long all replicas are awaited once a majority has a line; then it is",
        "told which are missing (default: 10s)."
      })
  private Long acksTimeoutMillis;

  @Option(
      names = "--spool",
      paramLabel = "DIR",
      description = {
        "Directory that every line goes through. What is left in it, however the program ended, is",
        "sent when the same command runs again: nothing is lost and nothing doubled."
      })
  private String directory;

  @Option(
      names = "--spool-limit",
      paramLabel = "SIZE",
      converter = OptionFormats.Size.class,
      description = "Size of the spool past which reading waits (default: 1GiB).")
  private Long limitBytes;

  @Option(
      names = "--spool-fsync",
      paramLabel = "never|interval|always",
      description = "When the spool is forced to the disk (default: interval, every second).")
  private ProducerOptions.SpoolFsync fsync;

  @Option(
      names = "--spool-restart",
      description = "Drop what is in the spool, and read FILE from its beginning.")
  private boolean restart;

  @Option(
      names = "--spool-resend",
      description = {
        "Send what an earlier run left even if the cluster has forgotten the producer and can no",
        "longer tell what it has of it: lines may then be there twice."
      })
  private boolean resend;

  boolean isGiven() {
    return directory != null;
  }

  /** Whether a line counts as acknowledged once it is sent. */
  boolean acksNone() {
    return acks == Acks.NONE;
  }

  /**
   * @throws CommandFailure for wrong usage
   */
  void apply(ProducerOptions options) {
    refuse(acksTimeoutMillis != null && acks != Acks.ALL, "--acks-timeout: only with --acks all");
    OptionFormats.timeRange("--acks-timeout", acksTimeoutMillis, 1, Integer.MAX_VALUE);
    options.setAcks(acks);
    if (acksTimeoutMillis != null) {
      options.setAcksTimeoutMillis(acksTimeoutMillis);
    }
    if (directory == null) {
      refuse(limitBytes != null, "--spool-limit: only with --spool DIR");
      refuse(fsync != null, "--spool-fsync: only with --spool DIR");
      refuse(restart, "--spool-restart: only with --spool DIR");
      refuse(resend, "--spool-resend: only with --spool DIR");
      return;
    }
    refuse(
        acks != Acks.MAJORITY,
        "--acks " + acks.text() + ": with --spool it is majority; leave one of the two out");
    refuse(directory.isEmpty(), "--spool '': it must be a directory");
    options.setSpool(directory).setSpoolRestart(restart).setSpoolResend(resend);
    if (limitBytes != null) {
      refuse(
          limitBytes < ProducerOptions.SPOOL_LIMIT_BYTES_MIN,
          "--spool-limit "
              + ByteSizes.format(limitBytes)
              + ": it must be at least "
              + ByteSizes.format(ProducerOptions.SPOOL_LIMIT_BYTES_MIN));
      options.setSpoolLimitBytes(limitBytes);
    }
    if (fsync != null) {
      options.setSpoolFsync(fsync);
    }
  }

  private static void refuse(boolean wrong, String text) {
    if (wrong) {
      throw CommandFailure.usage(text);
    }
  }
}
