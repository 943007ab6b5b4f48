package dev.evenkeel.bench;

import picocli.CommandLine.Option;

/** How many consumers a load has. */
final class ConsumersOption {
  private static final int MAX = 1_000;

  @Option(
      names = "--consumers",
      paramLabel = "N",
      defaultValue = "1",
      description = "Members of the group (default: ${DEFAULT-VALUE}).")
  private int consumers;

  /**
   * @throws dev.evenkeel.cli.CommandFailure wrong usage
   */
  int checked() {
    BenchOptions.range("--consumers", consumers, 1, MAX);
    return consumers;
  }
}
