package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.Function;

/**
 * An application's connection to a cluster: it starts producers and consumers. One client is enough
 * for an application; its methods may be called from any thread.
 *
 * <pre>{@code
 * Evenkeel.connect(new ClientOptions().setSeeds(List.of("127.0.0.1:5701")))
 *     .compose(client -> client.consumer(
 *         new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")),
 *         delivery -> bill(delivery.message())));
 * }</pre>
 *
 * <p>Everything fails with {@code RefusedException}: INVALID for options out of their bounds or
 * that do not go together, UNAVAILABLE if the cluster is not in sight or the client is closed, and
 * as each method says.
 */
public interface EvenkeelClient {

  /** Starts a producer; fails with UNKNOWN_TOPIC if there is no such topic. */
  Future<Producer> producer(ProducerOptions options);

  /**
   * Starts a producer that chooses shards in its own way.
   *
   * @param router null: murmur2 of the key, or round robin by batch for messages without one
   */
  Future<Producer> producer(ProducerOptions options, Router router);

  /**
   * Starts a producer with a spool, which the options must name.
   *
   * @param source what messages are read from, if it can be read again; null: they cannot
   */
  Future<SpoolingProducer> spoolingProducer(ProducerOptions options, Source source);

  /**
   * Joins a group. Completes when the dispatcher has taken the member in; fails with UNKNOWN_TOPIC
   * or GROUP_MISMATCH.
   */
  Future<Consumer> consumer(ConsumerOptions options, ConsumerHandler handler);

  /**
   * Joins a group in mode SINGLETON, whatever the options say: of its members one leads and gets
   * all messages. Completes when the dispatcher has taken the member in, be it as a standby; fails
   * as {@link #consumer} does.
   */
  Future<Consumer> leader(ConsumerOptions options, LeaderCareer career);

  /** Joins a group as {@link #consumer} does; the messages come as a stream. */
  Future<ConsumerStream> stream(ConsumerOptions options, ConsumerStream.Finishing finishing);

  /**
   * As {@link #stream(ConsumerOptions, ConsumerStream.Finishing)}, with dedup by {@code dedupKey}:
   * see {@link ConsumerHandler#dedupKey}.
   */
  Future<ConsumerStream> stream(
      ConsumerOptions options,
      ConsumerStream.Finishing finishing,
      Function<Message, byte[]> dedupKey);

  /** The Vert.x whose contexts, timers and handlers this client uses; the same for its life. */
  Vertx vertx();

  /** Whether the cluster is in sight. */
  ConnectionState state();

  /** Called on each change of {@link #state}, on the caller's context. */
  void onState(java.util.function.Consumer<ConnectionState> handler);

  /** Closes consumers and producers made here, then the connection if it was made here. */
  Future<Void> close();
}
