package dev.evenkeel.sim;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;

/** A group of consumers, as its members and the cluster need it. */
interface SimGroup {
  String name();

  GroupPolicy policy();

  StartAt start();

  /** What is judged of it. */
  Ledger ledger();

  /** The options of another run of a member, without its name and topics. */
  ConsumerOptions options();

  /** Whether the handlers of another run keep a state. */
  boolean keepsState();

  /** Whether owners give their state to the next ones. */
  default boolean givesState() {
    return keepsState();
  }

  /** Whether its handlers publish. */
  boolean publishes();

  /** The last producer that a lease on the shard named, also before a reset; 0: none. */
  long publisher(Shard shard);

  /** The handlers of another run. */
  SimHandling handling(SimConsumer consumer, boolean keepsState);
}
