package dev.evenkeel.demo;

import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * Sends orders of {@link #CUSTOMERS} customers, some of whom order far more than others. It drops
 * orders that cannot be sent in time.
 */
public final class Orders {
  public static final int CUSTOMERS = 1_000;

  private static final long TICK_MILLIS = 50;
  private static final long PENDING_MESSAGES_MAX = 5_000;

  private final Vertx vertx;
  private final List<Producer> producers;
  private final RandomGenerator random;
  private final Zipf customers = new Zipf(CUSTOMERS, 1);
  private final AtomicLong acknowledged = new AtomicLong();
  private final long perTickEach;
  private long timer;
  private long number;

  private Orders(
      Vertx vertx, List<Producer> producers, int messagesPerSecond, RandomGenerator random) {
    this.vertx = vertx;
    this.producers = producers;
    this.random = random;
    perTickEach = Math.max(1, messagesPerSecond * TICK_MILLIS / 1_000 / producers.size());
  }

  /**
   * Starts two producers. Fails if the topic does not exist.
   *
   * @param messagesPerSecond the rate of both together, at least 40
   */
  public static Future<Orders> start(
      EvenkeelClient client, String topic, int messagesPerSecond, RandomGenerator random) {
    Vertx vertx = client.vertx();
    Future<Producer> first = client.producer(new ProducerOptions().setTopic(topic));
    Future<Producer> second = client.producer(new ProducerOptions().setTopic(topic));
    return Future.all(first, second)
        .map(
            both -> {
              Orders orders =
                  new Orders(
                      vertx, List.of(first.result(), second.result()), messagesPerSecond, random);
              orders.timer = vertx.setPeriodic(TICK_MILLIS, tick -> orders.send());
              return orders;
            });
  }

  private void send() {
    for (Producer producer : producers) {
      for (int i = 0; i < perTickEach && producer.pendingMessages() < PENDING_MESSAGES_MAX; i++) {
        String customer = "customer-" + customers.next(random);
        producer
            .send(customer, order(customer))
            .onSuccess(position -> acknowledged.incrementAndGet());
      }
    }
  }

  private byte[] order(String customer) {
    return new JsonObject()
        .put("customer", customer)
        .put("order", ++number)
        .put("items", 1 + random.nextInt(5))
        .toBuffer()
        .getBytes();
  }

  /** How many orders were acknowledged since the start. */
  public long acknowledged() {
    return acknowledged.get();
  }

  /** Stops sending; completes when all orders are acknowledged. */
  public Future<Void> close() {
    vertx.cancelTimer(timer);
    return Future.join(producers.stream().map(Producer::close).toList()).mapEmpty();
  }
}
