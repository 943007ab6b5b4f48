package dev.evenkeel.bench;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * One consumer of Kafka under {@code bench rebalance}: {@code KafkaMember BOOTSTRAP TOPIC GROUP}.
 * It works for a millisecond on each record, tells of each by a {@link HandledLine}, and on SIGTERM
 * closes its consumer, which commits and leaves the group. Settings come as system properties
 * {@code kafka.consumer.NAME}; what is not set is as it comes.
 */
public final class KafkaMember {
  private static final long WORK_NANOS = 1_000_000;
  private static final long LEAVE_SECONDS_MAX = 20;

  private KafkaMember() {}

  public static void main(String[] args) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", args[0]);
    properties.put("group.id", args[2]);
    properties.put("auto.offset.reset", "earliest");
    properties.putAll(KafkaTarget.settings("kafka.consumer."));
    KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(consumer, left)));
    consumer.subscribe(List.of(args[1]));
    try {
      while (true) {
        for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
          LockSupport.parkNanos(WORK_NANOS);
          System.out.println(HandledLine.format(each.partition(), each.offset(), 0, each.value()));
        }
      }
    } catch (WakeupException e) {
      // It shows at the next poll: everything that was polled before has been handled.
      consumer.close();
    } finally {
      left.countDown();
    }
  }

  private static void stop(KafkaConsumer<byte[], byte[]> consumer, CountDownLatch left) {
    consumer.wakeup();
    try {
      left.await(LEAVE_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
