package dev.evenkeel.api;

/** Keeps a session that has no other request now. */
public record ExtendSession(@Inline InSession in) {
  /** The session. */
  public record ExtendedSession(String session, int expiresMs) {}
}
