package dev.evenkeel.bench;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * Apache Kafka under the loads of {@code evenkeel bench}. System properties {@code
 * kafka.broker.NAME}, {@code kafka.topic.NAME}, {@code kafka.producer.NAME} and {@code
 * kafka.consumer.NAME} set what is not to be as it comes.
 */
final class KafkaTarget implements Target {
  private static final long START_SECONDS_MAX = 60;

  private final KafkaBrokers brokers;
  private final Admin admin;
  private final int replicas;

  private KafkaTarget(KafkaBrokers brokers, int replicas) {
    this.brokers = brokers;
    this.replicas = replicas;
    admin = Admin.create(Map.of("bootstrap.servers", brokers.bootstrap()));
  }

  static KafkaTarget open(BenchOptions options) {
    KafkaBrokers brokers = KafkaBrokers.start(options, settings("kafka.broker."));
    try {
      KafkaTarget target = new KafkaTarget(brokers, options.nodes());
      target.awaitBrokers();
      return target;
    } catch (RuntimeException e) {
      String logs = brokers.logs();
      brokers.close();
      throw new IllegalStateException(logs, e);
    }
  }

  private void awaitBrokers() {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
    while (get(() -> admin.describeCluster().nodes().get()).size() < replicas) {
      if (System.nanoTime() > until) {
        throw new IllegalStateException("the brokers did not find together");
      }
    }
  }

  private interface Call<T> {
    T get() throws InterruptedException, ExecutionException;
  }

  private static <T> T get(Call<T> call) {
    try {
      return call.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static Map<String, String> settings(String prefix) {
    Map<String, String> settings = new TreeMap<>();
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith(prefix)) {
        settings.put(name.substring(prefix.length()), System.getProperty(name));
      }
    }
    return settings;
  }

  private Properties client(String prefix) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", brokers.bootstrap());
    properties.putAll(settings(prefix));
    return properties;
  }

  @Override
  public JsonObject describe() {
    JsonObject changed = new JsonObject();
    List.of("broker", "topic", "producer", "consumer")
        .forEach(kind -> settings("kafka." + kind + ".").forEach((k, v) -> changed.put(k, v)));
    return new JsonObject()
        .put("system", "kafka " + AppInfoParser.getVersion())
        .put("acks", "all" + (changed.containsKey("flush.messages") ? ", fsynced" : ""))
        .put("nodes", replicas)
        .put("settings", changed);
  }

  @Override
  public void createTopic(String topic, int shards) {
    Map<String, String> configs = new HashMap<>(settings("kafka.topic."));
    if (replicas > 1) {
      configs.put("min.insync.replicas", String.valueOf(replicas / 2 + 1));
    }
    NewTopic created =
        new NewTopic(topic, Optional.of(shards), Optional.of((short) replicas)).configs(configs);
    get(() -> admin.createTopics(List.of(created)).all().get());
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
    while (!led(topic, shards) && System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  private boolean led(String topic, int shards) {
    try {
      TopicDescription described =
          admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
      return described.partitions().stream()
              .filter(each -> each.leader() != null && each.isr().size() == replicas)
              .count()
          == shards;
    } catch (ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public Sender sender(String topic) {
    Properties properties = client("kafka.producer.");
    properties.put("acks", "all");
    KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    return new Sender() {
      @Override
      public void send(byte[] key, byte[] payload, Done done) {
        producer.send(
            new ProducerRecord<>(topic, key, payload), (metadata, failure) -> done.done(failure));
      }

      @Override
      public void close() {
        producer.close();
      }
    };
  }

  @Override
  public List<String> memberCommand(String topic, String group, String member) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Devenkeel.log.level=ERROR");
    settings("kafka.consumer.")
        .forEach((name, value) -> command.add("-Dkafka.consumer." + name + "=" + value));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(KafkaMember.class.getName(), brokers.bootstrap(), topic, group));
    return command;
  }

  @Override
  public Receiver receiver(String topic, String group, Arrival arrival) {
    Properties properties = client("kafka.consumer.");
    properties.put("group.id", group);
    properties.put("auto.offset.reset", "earliest");
    KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    consumer.subscribe(List.of(topic));
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
                    arrival.arrived(each.value());
                  }
                }
              } catch (WakeupException e) {
                consumer.close();
              }
            },
            "bench-kafka-consumer");
    thread.setDaemon(true);
    thread.start();
    return () -> {
      consumer.wakeup();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
  }

  @Override
  public long stored(String topic) {
    TopicDescription described =
        get(() -> admin.describeTopics(List.of(topic)).allTopicNames().get()).get(topic);
    Map<TopicPartition, OffsetSpec> ask = new HashMap<>();
    described
        .partitions()
        .forEach(each -> ask.put(new TopicPartition(topic, each.partition()), OffsetSpec.latest()));
    return get(() -> admin.listOffsets(ask).all().get()).values().stream()
        .mapToLong(each -> each.offset())
        .sum();
  }

  /** The batches are as large as the files of the leaders, which followers have copied. */
  @Override
  public DiskWrites diskWrites(String topic, List<String> urls) {
    Map<String, Double> written = brokers.writtenBytes();
    List<Integer> ids =
        get(() -> admin.describeCluster().nodes().get()).stream().map(Node::id).toList();
    Map<TopicPartition, Long> sizes = new HashMap<>();
    get(() -> admin.describeLogDirs(ids).allDescriptions().get()).values().stream()
        .flatMap(directories -> directories.values().stream())
        .flatMap(directory -> directory.replicaInfos().entrySet().stream())
        .filter(replica -> replica.getKey().topic().equals(topic))
        .forEach(replica -> sizes.merge(replica.getKey(), replica.getValue().size(), Math::max));
    return DiskWrites.of(written, sizes.values().stream().mapToLong(Long::longValue).sum());
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(1));
    brokers.close();
  }
}
