package dev.evenkeel.bench;

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

  /** What tells it from Kafka as it comes, for a cell of a table. */
  String variant() {
    return name.equals(KAFKA.name) ? "defaults" : name.replaceFirst("^kafka ", "");
  }

  private static final String STICKY =
      "-Dkafka.consumer.partition.assignment.strategy="
          + "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";

  private static final String NEW_PROTOCOL = "-Dkafka.consumer.group.protocol=consumer";

  /** Members move partitions step by step, at the times that come with it: 45 s and 3 s. */
  static final Contender KAFKA_STICKY = new Contender("kafka cooperative-sticky", List.of(STICKY));

  /** The same with a session of 6 s and a heartbeat a second. */
  static final Contender KAFKA_STICKY_SOON =
      new Contender(
          "kafka cooperative-sticky 6s/1s",
          List.of(
              STICKY,
              "-Dkafka.consumer.session.timeout.ms=6000",
              "-Dkafka.consumer.heartbeat.interval.ms=1000"));

  /** The broker plans (KIP-848), at the times that come with it: 45 s and 5 s. */
  static final Contender KAFKA_NEW = new Contender("kafka new protocol", List.of(NEW_PROTOCOL));

  /** The same with a session of 6 s and a heartbeat a second, which are the broker's to set. */
  static final Contender KAFKA_NEW_SOON =
      new Contender(
          "kafka new protocol 6s/1s",
          List.of(
              NEW_PROTOCOL,
              "-Dkafka.broker.group.consumer.min.session.timeout.ms=6000",
              "-Dkafka.broker.group.consumer.session.timeout.ms=6000",
              "-Dkafka.broker.group.consumer.min.heartbeat.interval.ms=1000",
              "-Dkafka.broker.group.consumer.heartbeat.interval.ms=1000"));

  /** For latency: sends at once instead of lingering. */
  static final Contender KAFKA_FSYNC_AT_ONCE =
      new Contender("kafka fsync linger 0", List.of(FSYNC, "-Dkafka.producer.linger.ms=0"));
}
