package dev.evenkeel.client.plain;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;

/**
 * A connection to a cluster for code that may wait. One is enough for a program; its methods may be
 * called from any thread but that of an event loop.
 *
 * <pre>{@code
 * try (PlainClient client = Evenkeel.connectAndWait(options);
 *     PlainConsumer orders = client.consumer(
 *         new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")))) {
 *   while (running) {
 *     for (Delivery delivery : orders.poll(Duration.ofSeconds(1))) {
 *       bill(delivery.message());
 *       orders.done(delivery);
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>Every method that waits throws {@link RefusedException} if it fails, as the method of {@link
 * EvenkeelClient} behind it says, and {@link InterruptedException} if its thread is interrupted
 * meanwhile; what it has begun then goes on.
 */
public final class PlainClient implements AutoCloseable {
  private final EvenkeelClient client;

  private PlainClient(EvenkeelClient client) {
    this.client = client;
  }

  /** Waits for a client, and makes one that waits over it. {@link #close} closes both. */
  public static PlainClient await(Future<EvenkeelClient> connecting) throws InterruptedException {
    return new PlainClient(Await.on(connecting));
  }

  /** A client that waits, over one that does not. {@link #close} closes both. */
  public static PlainClient of(EvenkeelClient client) {
    return new PlainClient(client);
  }

  /** Starts a producer; see {@link EvenkeelClient#producer(ProducerOptions)}. */
  public PlainProducer producer(ProducerOptions options) throws InterruptedException {
    return new PlainProducer(Await.on(client.producer(options)));
  }

  /**
   * Joins a group, and gets its messages by {@link PlainConsumer#poll}; see {@link
   * EvenkeelClient#stream(ConsumerOptions, Finishing)}. The options cannot have {@code worker}.
   */
  public PlainConsumer consumer(ConsumerOptions options) throws InterruptedException {
    return new PlainConsumer(
        Await.on(client.stream(options, Finishing.MANUAL)), options.getParallel());
  }

  /** Deduplicates work; see {@link EvenkeelClient#dedup(String)}. */
  public Dedup dedup(String name) {
    return client.dedup(name);
  }

  /**
   * The client behind this one, for what has no form here. {@code
   * client.async().admin().topics().toCompletionStage()} makes a stage of any of its futures.
   */
  public EvenkeelClient async() {
    return client;
  }

  /**
   * Closes all consumers, which release their shards, then the producers, which flush, then the
   * connection. If the thread is interrupted, it goes on without this thread. Closing twice has no
   * further effect.
   */
  @Override
  public void close() {
    Await.onClose(client.close());
  }
}
