package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.Function;

/**
 * An application's connection to a cluster. It starts producers and consumers. {@code
 * Evenkeel.connect} and {@code Evenkeel.with} make one. One client is enough for an application;
 * its methods may be called from any thread.
 *
 * <pre>{@code
 * Evenkeel.connect(new ClientOptions().setSeeds(List.of("127.0.0.1:5701")))
 *     .compose(client -> client.consumer(
 *         new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")),
 *         delivery -> bill(delivery.message())));
 * }</pre>
 *
 * <p>Futures complete on any thread, and fail with {@code RefusedException}: INVALID for options
 * that are out of their bounds or do not go together, UNAVAILABLE if the cluster does not answer in
 * time or the client is closed, and as each method says.
 */
public interface EvenkeelClient {

  /**
   * Starts a producer. If the options name a spool, it is a {@link SpoolingProducer}.
   *
   * <p>Fails with UNKNOWN_TOPIC if there is no such topic, and with UNAVAILABLE if the cluster does
   * not answer within 30 s, or within the delivery timeout if that is shorter.
   */
  Future<Producer> producer(ProducerOptions options);

  /**
   * As {@link #producer(ProducerOptions)}, with a router that chooses the shard of each message.
   *
   * @param router null for the default: murmur2 of the key, or round robin by batch for messages
   *     without a key
   */
  Future<Producer> producer(ProducerOptions options, Router router);

  /**
   * Starts a producer with a spool, which {@link ProducerOptions#setSpool} must name.
   *
   * <p>Fails as {@link #producer(ProducerOptions)} does; with INVALID also if the spool is in use
   * or belongs to another topic, producer name or source; with CORRUPT if it is damaged elsewhere
   * than at its end.
   *
   * @param source what messages are read from, if it can be read again after a restart; null if it
   *     cannot
   */
  Future<SpoolingProducer> spoolingProducer(ProducerOptions options, Source source);

  /**
   * Joins a group. Completes when the dispatcher has taken the member in; its first shards come
   * soon after that. The handler is called on the context of the caller if that is an event-loop
   * context of {@link #vertx}, otherwise on a context of the consumer's own.
   *
   * <p>Fails with UNKNOWN_TOPIC if a topic does not exist, GROUP_MISMATCH if the group runs with
   * other settings, MEMBER_REPLACED if another member has taken the name meanwhile, UNAVAILABLE if
   * no dispatcher answers within 60 s.
   */
  Future<Consumer> consumer(ConsumerOptions options, ConsumerHandler handler);

  /**
   * Joins a group in mode SINGLETON, even if the options name another mode: one member leads and
   * gets all messages. Completes when the dispatcher has taken the member in, as the leader or as a
   * standby. Fails as {@link #consumer} does.
   */
  Future<Consumer> leader(ConsumerOptions options, LeaderCareer career);

  /**
   * Joins an election, with the default options; see {@link #election(ElectionOptions,
   * ElectionCareer)}.
   *
   * @param name of the election
   */
  default Future<Candidate> election(String name, ElectionCareer career) {
    return election(new ElectionOptions().setName(name), career);
  }

  /**
   * Joins an election, in which one candidate of all in the cluster leads at a time. It needs no
   * topic. Completes when the dispatcher has taken the candidate in, as the leader or as one that
   * waits. The career is called on the context of the caller if that is an event-loop context of
   * {@link #vertx}, otherwise on a context of the candidate's own.
   *
   * <p>Fails with GROUP_MISMATCH if a group of consumers has that name, MEMBER_REPLACED if another
   * candidate has taken the member's name meanwhile, INVALID if the cluster is of a version without
   * elections, UNAVAILABLE if no dispatcher answers within 60 s.
   */
  Future<Candidate> election(ElectionOptions options, ElectionCareer career);

  /**
   * Joins a group and gives its messages as a stream. Fails as {@link #consumer} does.
   *
   * @param finishing when a message is finished
   */
  Future<ConsumerStream> stream(ConsumerOptions options, ConsumerStream.Finishing finishing);

  /**
   * As {@link #stream(ConsumerOptions, ConsumerStream.Finishing)}, with a function that says which
   * messages are the same. It needs {@link ConsumerOptions#setDedup}.
   *
   * @param dedupKey as {@link ConsumerHandler#dedupKey}; null for what the options say
   */
  Future<ConsumerStream> stream(
      ConsumerOptions options,
      ConsumerStream.Finishing finishing,
      Function<Message, byte[]> dedupKey);

  /**
   * Deduplicates the work of all programs that ask for keys under this name, without a topic.
   *
   * @param name letters, digits, dot, underscore and hyphen
   * @throws dev.evenkeel.protocol.RefusedException INVALID for another name, UNAVAILABLE if the
   *     client is closed
   */
  Dedup dedup(String name);

  /**
   * As {@link #dedup(String)}, with options.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID also for options out of their bounds
   */
  Dedup dedup(DedupOptions options);

  /**
   * Takes part in a coordinator, which keeps tracks in many programs level. It asks the cluster
   * only when a track is made.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for a wrong name or options out of their
   *     bounds, UNAVAILABLE if the client is closed
   */
  ClusterCoordinator coordinator(CoordinatorOptions options);

  /** As {@link #coordinator(CoordinatorOptions)}, with a name and a range. */
  default ClusterCoordinator coordinator(String name, int range) {
    return coordinator(new CoordinatorOptions().setName(name).setRange(range));
  }

  /** Administers the cluster over this connection. It need not be closed. */
  Admin admin();

  /**
   * The Vert.x whose contexts and timers this client uses. It stays the same while the client is
   * open. {@link #close} closes it, unless it was given to {@code Evenkeel.with}.
   */
  Vertx vertx();

  /** Whether a node of the cluster is in sight. */
  ConnectionState state();

  /**
   * Adds a handler that is called on each change of {@link #state}, on a context of {@link #vertx}.
   * It cannot be removed.
   */
  void onState(java.util.function.Consumer<ConnectionState> handler);

  /**
   * Destroys the tracks of all coordinators of this client, and closes its streams, consumers and
   * candidates, which release their shards and hand over; then its producers, which flush; then its
   * dedups, which give back their keys; then the connection. It takes up to the longest lock time
   * of the consumers and candidates and then the longest delivery timeout of the producers. A
   * Vert.x that was given to {@code Evenkeel.with} stays open. Never fails.
   */
  Future<Void> close();
}
