package dev.evenkeel.bench;

import picocli.CommandLine.Option;

/** How many producers a load has. */
final class ProducersOption {
  private static final int MAX = 1_000;

  @Option(
      names = "--producers",
      paramLabel = "N",
      defaultValue = "1",
      description = "Producers that share the load (default: ${DEFAULT-VALUE}).")
  private int producers;

  /**
   * @throws dev.evenkeel.cli.CommandFailure wrong usage
   */
  int checked() {
    BenchOptions.range("--producers", producers, 1, MAX);
    return producers;
  }
}
