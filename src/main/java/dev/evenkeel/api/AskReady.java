package dev.evenkeel.api;

/** Whether the node can serve. Refused with UNAVAILABLE and the reason if it cannot. */
public record AskReady() {
  /** Says that the node can serve. */
  public record IsReady(boolean ready) {}
}
