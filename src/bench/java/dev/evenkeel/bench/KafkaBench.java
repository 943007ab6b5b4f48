package dev.evenkeel.bench;

import picocli.CommandLine;

/** {@code evenkeel bench} against Apache Kafka: the same commands, options, loads and figures. */
public final class KafkaBench {
  private KafkaBench() {}

  public static void main(String[] args) {
    CommandLine line = BenchCommand.line(KafkaTarget::open);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    System.exit(line.execute(args));
  }
}
