package dev.evenkeel.api;

/** Figures of this node. */
public record Metrics() {
  /** For Prometheus, in the form that the header Accept asks for. */
  public record Text() {}
}
