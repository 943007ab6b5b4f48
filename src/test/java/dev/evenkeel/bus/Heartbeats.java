package dev.evenkeel.bus;

/** Heartbeats for tests. */
public final class Heartbeats {
  private Heartbeats() {}

  /** A copy with another value of one component. */
  public static Heartbeat with(Heartbeat beat, String component, Object value) {
    return Heartbeat.JSON.with(beat, component, value);
  }
}
