package dev.evenkeel.model;

import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Vertx;
import java.util.Set;

/** Where users meet the product: real nodes. May be used by several runs at once. */
interface Place extends AutoCloseable {
  /** One of the users' connections. */
  EvenkeelClient client(int which);

  /** Address of the HTTP API of a node. */
  String http(int which);

  Vertx vertx();

  /** Which steps it can do with members and machines. */
  Set<Step> faults();

  /** Makes a member count as dead while it runs; returns false if that was not possible. */
  boolean expire(String group, String member);

  /** Waits until every connection can be used. */
  void awaitReady();

  /** Does something to machines, and returns when they are as before. */
  void fault(Step step, int a, int b);

  /** How many faults there have been: from each on, messages may come again. */
  int shocks();

  @Override
  void close();
}
