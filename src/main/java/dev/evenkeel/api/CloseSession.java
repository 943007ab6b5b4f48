package dev.evenkeel.api;

/**
 * Leaves the group; the shards of the session go to other members. Messages without a result come
 * again there. This does not count as a death of their consumer.
 */
public record CloseSession(@Inline InSession in) {
  /** The session has ended. */
  public record ClosedSession(String session) {}
}
