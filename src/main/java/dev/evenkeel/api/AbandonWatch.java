package dev.evenkeel.api;

/**
 * Takes back a request that waits for news of a candidate, which the header {@code poll} names: its
 * caller has gone.
 */
public record AbandonWatch(@Inline InElection in) {
  /** The request waits no longer. */
  public record AbandonedWatch(String candidate) {}
}
