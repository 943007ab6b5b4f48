package dev.evenkeel.cli;

import dev.evenkeel.client.ProducerOptions;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.Option;

/** What {@code produce} can be told of its spool. */
final class SpoolOptions {
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
      description = "Size of the spool past which reading waits (default: 1GiB).")
  private String limit;

  @Option(
      names = "--spool-fsync",
      paramLabel = "never|interval|always",
      description = "When the spool is forced to the disk (default: interval, every second).")
  private String fsync;

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

  String directory() {
    return directory;
  }

  /**
   * @throws CommandFailure for wrong usage
   */
  void apply(ProducerOptions options) {
    if (directory == null) {
      refuse(limit != null, "--spool-limit");
      refuse(fsync != null, "--spool-fsync");
      refuse(restart, "--spool-restart");
      refuse(resend, "--spool-resend");
      return;
    }
    if (directory.isEmpty()) {
      throw CommandFailure.usage("--spool '': it must be a directory");
    }
    options.setSpool(directory).setSpoolRestart(restart).setSpoolResend(resend);
    if (limit != null) {
      options.setSpoolLimitBytes(limitBytes());
    }
    if (fsync != null) {
      options.setSpoolFsync(fsyncPolicy());
    }
  }

  private static void refuse(boolean given, String option) {
    if (given) {
      throw CommandFailure.usage(option + ": only with --spool DIR");
    }
  }

  private long limitBytes() {
    try {
      long bytes = ByteSizes.parse(limit);
      if (bytes >= ProducerOptions.SPOOL_LIMIT_BYTES_MIN) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage("--spool-limit '" + limit + "': " + e.getMessage());
    }
    throw CommandFailure.usage(
        "--spool-limit "
            + limit
            + ": it must be at least "
            + ByteSizes.format(ProducerOptions.SPOOL_LIMIT_BYTES_MIN));
  }

  private ProducerOptions.SpoolFsync fsyncPolicy() {
    return Arrays.stream(ProducerOptions.SpoolFsync.values())
        .filter(policy -> policy.name().toLowerCase(Locale.ROOT).equals(fsync))
        .findFirst()
        .orElseThrow(
            () ->
                CommandFailure.usage(
                    "--spool-fsync '" + fsync + "': write never, interval or always"));
  }
}
