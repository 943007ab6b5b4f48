package dev.evenkeel.cli.bench;

import java.util.List;

/**
 * A system with its settings.
 *
 * @param properties of Kafka, as {@link KafkaTarget} reads them; null: it is ours
 */
record Contender(String name, List<String> properties) {
  /** Flushes each batch before it is acknowledged, which is what ours always does. */
  private static final String FSYNC = "-Dkafka.topic.flush.messages=1";

  /** Batches as large as ours may get; it lingers 5 ms by itself, as ours does. */
  private static final List<String> TUNED =
      List.of("-Dkafka.producer.batch.size=262144", "-Dkafka.producer.linger.ms=5");

  static final Contender EVENKEEL = new Contender("evenkeel", null);
  static final Contender KAFKA = new Contender("kafka", List.of());
  static final Contender KAFKA_TUNED = new Contender("kafka tuned", TUNED);
  static final Contender KAFKA_FSYNC = new Contender("kafka fsync", List.of(FSYNC));
  static final Contender KAFKA_FSYNC_TUNED =
      new Contender("kafka fsync tuned", List.of(FSYNC, TUNED.get(0), TUNED.get(1)));

  /** For latency: sends at once instead of lingering. */
  static final Contender KAFKA_FSYNC_AT_ONCE =
      new Contender("kafka fsync linger 0", List.of(FSYNC, "-Dkafka.producer.linger.ms=0"));
}
