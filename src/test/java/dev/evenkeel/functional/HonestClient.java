package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.HdrHistogram.Histogram;
import org.awaitility.Awaitility;

/**
 * A producer and a consumer of one topic that go on while others attack: one message after the
 * other, until {@link #finish}.
 */
final class HonestClient {
  private static final long PAUSE_MILLIS = 5;

  private final EvenkeelClient client;
  private final Producer producer;
  private final String name;
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<String> consumed = ConcurrentHashMap.newKeySet();
  private final Histogram micros = new Histogram(3);
  private final Thread thread = new Thread(this::produce, "honest");
  private volatile boolean finishing;
  private volatile Throwable failure;

  /**
   * @param name of the producer and of the group
   */
  HonestClient(ClientOptions options, String topic, String name) {
    this.name = name;
    client = await(Evenkeel.connect(options));
    producer = await(client.producer(new ProducerOptions().setTopic(topic).setName(name)));
    await(
        client.consumer(
            new ConsumerOptions().setTopics(List.of(topic)).setGroup(name),
            delivery -> {
              consumed.add(new String(delivery.message().payload(), StandardCharsets.UTF_8));
              return Future.succeededFuture();
            }));
    thread.setDaemon(true);
    thread.start();
  }

  private void produce() {
    try {
      for (int i = 0; !finishing; i++) {
        String payload = name + "-" + i;
        long beganNanos = System.nanoTime();
        await(producer.send(null, payload.getBytes(StandardCharsets.UTF_8)));
        micros.recordValue((System.nanoTime() - beganNanos) / 1_000);
        acknowledged.add(payload);
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (Throwable e) {
      failure = e;
    }
  }

  /** Messages acknowledged so far. */
  int acknowledged() {
    return acknowledged.size();
  }

  /** Waits until another message is acknowledged. */
  void awaitMore() {
    int before = acknowledged();
    Awaitility.await("the honest client goes on")
        .failFast(() -> assertThat(failure).isNull())
        .until(() -> acknowledged() > before);
  }

  /**
   * Stops sending. No message may have failed, and the consumer must have got all of them.
   *
   * @return what was acknowledged
   */
  Set<String> finish() throws InterruptedException {
    finishing = true;
    thread.join();
    assertThat(failure).isNull();
    Awaitility.await("all is consumed").until(() -> consumed.containsAll(acknowledged));
    await(client.close());
    return acknowledged;
  }

  /** The time from sending to the acknowledgement, for people. */
  @Override
  public String toString() {
    return "%s messages, p50 %s us, p99 %s us, max %s us"
        .formatted(
            micros.getTotalCount(),
            micros.getValueAtPercentile(50),
            micros.getValueAtPercentile(99),
            micros.getMaxValue());
  }
}
