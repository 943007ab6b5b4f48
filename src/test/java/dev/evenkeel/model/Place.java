package dev.evenkeel.model;

import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * Where users meet the product: real nodes. May be used by several runs at once, each with numbers
 * of connections of its own.
 */
public interface Place extends AutoCloseable {
  /** One of the users' connections. */
  EvenkeelClient client(int which);

  /** Another connection, with the threads of that Vert.x. */
  Future<EvenkeelClient> connect(Vertx own);

  /** The event bus that nodes send to; null: the users are not on it. */
  Vertx bus();

  /** Whether the shared maps of the cluster survive what happens to machines. */
  boolean keepsMaps();

  /** Address of the HTTP API of a node. */
  String http(int which);

  /** Token of who asks over HTTP; null: the nodes have no users. */
  String token(int which);

  Vertx vertx();

  /** Which steps it can do with members and machines. */
  Set<Step> faults();

  /** How many names come and go at once. */
  int many();

  /** A connection of users does nothing any more, until then. */
  void standStill(int client, CountDownLatch until);

  /**
   * Makes a member count as dead while it runs; returns false if that was not possible.
   *
   * @param standsStill makes the member do nothing any more until then, for a place that has no
   *     other way
   */
  boolean expire(String group, String member, Consumer<CountDownLatch> standsStill);

  /**
   * Whether a member counts as dead at once. Where it stands still for that, others may ask for its
   * shards before, and then it has not died of a message.
   */
  boolean expiresAtOnce();

  /** Waits until every connection can be used. */
  void awaitReady();

  /**
   * Does something to machines, and returns when they are as before. Does one thing at a time.
   *
   * @return false: that was not possible
   * @throws AssertionError if something does not recover, or breaks that must not
   */
  boolean fault(Step step, int a, int b);

  /** The faults so far, whoever asked for them: they happen to all. */
  List<Step> faultsDone();

  /**
   * Grows with the beginning and with the end of each fault, and is odd while one is under way:
   * messages may come again.
   */
  int shocks();

  @Override
  void close();
}
