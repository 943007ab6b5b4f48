package dev.evenkeel.api;

/**
 * The live view: a WebSocket that sends a LiveSnapshot and then LiveChanges. The frames hold what
 * the user may see.
 */
public record Watch() {
  /**
   * The WebSocket is open. Its text frames are a LiveSnapshot first, then LiveChanges, and a
   * LiveSnapshot again for who reads too slowly.
   */
  public record Frames() {}
}
