package dev.evenkeel.client;

import dev.evenkeel.bus.Link;
import dev.evenkeel.consumer.Consumer;
import dev.evenkeel.consumer.ConsumerHandler;
import dev.evenkeel.consumer.ConsumerOptions;
import dev.evenkeel.producer.Producer;
import dev.evenkeel.producer.ProducerOptions;
import io.vertx.core.Future;

/** An application's way to a cluster. */
public interface EvenkeelClient {

  /** Starts a producer; fails with UNKNOWN_TOPIC if there is no such topic. */
  Future<Producer> producer(ProducerOptions options);

  /**
   * Joins a group. Completes when the dispatcher has taken the member in; fails with UNKNOWN_TOPIC
   * or GROUP_MISMATCH.
   */
  Future<Consumer> consumer(ConsumerOptions options, ConsumerHandler handler);

  /** The connection, for those who want to see its state or speak to the cluster themselves. */
  Link link();

  /** Closes consumers and producers made here, then the connection if it was made here. */
  Future<Void> close();
}
