package dev.evenkeel.api;

/** Leaves the election. A candidate that leads says with it that it has ended its work. */
public record CloseCandidate(@Inline InElection in) {
  /** The candidate has left. */
  public record ClosedCandidate(String candidate) {}
}
