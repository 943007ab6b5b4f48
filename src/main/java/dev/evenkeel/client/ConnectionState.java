package dev.evenkeel.client;

/** State of a client's connection to the cluster: see {@link EvenkeelClient#state}. */
public enum ConnectionState {
  /** At least one node is in sight. */
  CONNECTED,
  /**
   * No node is in sight. Producers keep their messages and consumers start no handlers.
   *
   * <p>A client of {@code Evenkeel.connect} connects again by itself as soon as a node answers. A
   * client of {@code Evenkeel.with} stays in this state: close it and its Vert.x, and make others.
   */
  LOST,
  /** The client was closed. It does not connect again. */
  CLOSED
}
