package dev.evenkeel.cli;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Compression;
import java.util.function.Supplier;

/** The options of {@code produce} about acknowledgements, compression and the spool. */
final class ProduceOptions {
  final CommandOptions flags = new CommandOptions();

  private final Supplier<Acks> acks =
      flags.constant(
          "--acks",
          "none|majority|all",
          Acks.class,
          "majority",
          "When a line is acknowledged: none: when it is sent; majority: when a majority of the"
              + " replicas has it on disk; all: when every replica has");

  private final Supplier<Long> acksTimeoutMillis =
      flags.someTime(
          "--acks-timeout",
          null,
          "With --acks all: how long to wait for all replicas after a majority has a line. Then the"
              + " error names the missing ones (default: 10s).");

  private final Supplier<Compression> compression =
      flags.constant(
          "--compression",
          "none|lz4|zstd",
          Compression.class,
          "none",
          "How batches are compressed: lz4 is fast, zstd makes them smaller. All nodes and"
              + " consumers must have a version that reads compressed batches");

  private final Supplier<String> directory =
      flags.text(
          "--spool",
          "DIR",
          "Directory that stores each line until it is acknowledged. If the program ends before"
              + " that, the same command sends the rest when it runs again: no line is lost or sent"
              + " twice.");

  private final Supplier<Long> limitBytes =
      flags.size(
          "--spool-limit",
          null,
          "Stop reading while the spool is larger than this (default: 1GiB).");

  private final Supplier<ProducerOptions.SpoolFsync> fsync =
      flags.constant(
          "--spool-fsync",
          "never|interval|always",
          ProducerOptions.SpoolFsync.class,
          "When to fsync the spool (default: interval, every second).");

  private final Supplier<Boolean> restart =
      flags.given(
          "--spool-restart", "Delete the messages in the spool, and read FILE from its beginning.");

  private final Supplier<Boolean> resend =
      flags.given(
          "--spool-resend",
          "Send the lines of an earlier run even if the cluster has forgotten the producer and"
              + " cannot detect duplicates. Lines may then be in the topic twice.");

  boolean isGiven() {
    return directory.get() != null;
  }

  /** Whether a line counts as acknowledged once it is sent. */
  boolean acksNone() {
    return acks.get() == Acks.NONE;
  }

  /**
   * @throws CommandFailure for wrong usage
   */
  void apply(ProducerOptions options) {
    refuse(
        acksTimeoutMillis.get() != null && acks.get() != Acks.ALL,
        "--acks-timeout: only with --acks all");
    OptionFormats.timeRange("--acks-timeout", acksTimeoutMillis.get(), 1, Integer.MAX_VALUE);
    options.setAcks(acks.get()).setCompression(compression.get());
    if (acksTimeoutMillis.get() != null) {
      options.setAcksTimeoutMillis(acksTimeoutMillis.get());
    }
    if (directory.get() == null) {
      refuse(limitBytes.get() != null, "--spool-limit: only with --spool DIR");
      refuse(fsync.get() != null, "--spool-fsync: only with --spool DIR");
      refuse(restart.get(), "--spool-restart: only with --spool DIR");
      refuse(resend.get(), "--spool-resend: only with --spool DIR");
      return;
    }
    refuse(
        acks.get() != Acks.MAJORITY,
        "--acks " + acks.get().text() + ": with --spool it is majority; leave one of the two out");
    refuse(directory.get().isEmpty(), "--spool '': it must be a directory");
    options.setSpool(directory.get()).setSpoolRestart(restart.get()).setSpoolResend(resend.get());
    if (limitBytes.get() != null) {
      refuse(
          limitBytes.get() < ProducerOptions.SPOOL_LIMIT_BYTES_MIN,
          "--spool-limit %s: it must be at least %s"
              .formatted(
                  ByteSizes.format(limitBytes.get()),
                  ByteSizes.format(ProducerOptions.SPOOL_LIMIT_BYTES_MIN)));
      options.setSpoolLimitBytes(limitBytes.get());
    }
    if (fsync.get() != null) {
      options.setSpoolFsync(fsync.get());
    }
  }

  private static void refuse(boolean wrong, String text) {
    if (wrong) {
      throw CommandFailure.usage(text);
    }
  }
}
