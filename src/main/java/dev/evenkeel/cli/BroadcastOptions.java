package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Where a member in mode broadcast keeps its offsets. */
final class BroadcastOptions {
  enum OnDamaged {
    refuse,
    earliest,
    latest
  }

  @Option(
      names = "--offsets",
      paramLabel = "DIR",
      description =
          "Mode broadcast, needed there: directory for this member's offsets, which are in no log;"
              + " one member of a group at a time.")
  private String directory;

  @Option(
      names = "--on-damaged-offsets",
      paramLabel = "refuse|earliest|latest",
      description =
          "Mode broadcast: if the file of offsets is damaged, do not start, or put it aside and"
              + " begin there (default: refuse).")
  private OnDamaged onDamaged;

  /**
   * @throws CommandFailure wrong usage
   */
  void apply(ConsumerOptions options) {
    if (options.getMode() != ConsumerOptions.Mode.BROADCAST) {
      onlyBroadcast("--offsets", directory);
      onlyBroadcast("--on-damaged-offsets", onDamaged);
      return;
    }
    if (directory == null || directory.isEmpty()) {
      throw CommandFailure.usage(
          "--mode broadcast needs --offsets DIR: a directory where this member keeps how far it"
              + " is");
    }
    options.setOffsetsDirectory(directory);
    if (onDamaged != null) {
      options.setOnDamagedOffsets(
          ConsumerOptions.OnDamagedOffsets.valueOf(onDamaged.name().toUpperCase(Locale.ROOT)));
    }
  }

  private static void onlyBroadcast(String option, Object value) {
    if (value != null) {
      throw CommandFailure.usage(
          option + " " + value + ": only --mode broadcast has it; in other modes the log does");
    }
  }
}
