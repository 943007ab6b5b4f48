package dev.evenkeel.client;

/** State of a client's connection to the cluster. */
public enum ConnectionState {
  CONNECTED,
  /** No cluster in sight; requests fail at once with UNAVAILABLE. */
  LOST,
  /** For good. */
  CLOSED
}
