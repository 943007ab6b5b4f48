package dev.evenkeel.client;

import dev.evenkeel.bus.Link;
import dev.evenkeel.consumer.Consumer;
import dev.evenkeel.consumer.ConsumerHandler;
import dev.evenkeel.consumer.ConsumerOptions;
import dev.evenkeel.consumer.ConsumerStream;
import dev.evenkeel.consumer.LeaderCareer;
import dev.evenkeel.model.Message;
import dev.evenkeel.producer.Producer;
import dev.evenkeel.producer.ProducerOptions;
import dev.evenkeel.producer.Router;
import dev.evenkeel.producer.SpoolingProducer;
import dev.evenkeel.producer.spool.Source;
import io.vertx.core.Future;
import java.util.function.Function;

/** An application's way to a cluster. */
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
  default Future<Consumer> leader(ConsumerOptions options, LeaderCareer career) {
    ConsumerOptions own =
        new ConsumerOptions(options.toJson()).setMode(ConsumerOptions.Mode.SINGLETON);
    return consumer(own, LeaderCareer.handler(career));
  }

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

  /** The connection, for those who want to see its state or speak to the cluster themselves. */
  Link link();

  /** Closes consumers and producers made here, then the connection if it was made here. */
  Future<Void> close();
}
