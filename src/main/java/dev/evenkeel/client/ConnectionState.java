package dev.evenkeel.client;

/** State of a client's connection to the cluster. */
public enum ConnectionState {
  /** The cluster is in sight. */
  CONNECTED,
  /** No cluster in sight; requests fail at once with UNAVAILABLE. */
  LOST,
  /** The client was closed. It does not connect again. */
  CLOSED
}
