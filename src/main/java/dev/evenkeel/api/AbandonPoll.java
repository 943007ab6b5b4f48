package dev.evenkeel.api;

/**
 * Takes back a request for messages, which the header {@code poll} names: its caller has gone. It
 * waits no longer, and the next request gets what it was given.
 */
public record AbandonPoll(@Inline InSession in) {
  /** The request waits no longer. */
  public record AbandonedPoll(String session) {}
}
