package dev.evenkeel.api;

/** Ends a track: the others no longer wait for it. */
public record DestroyTrack(@Inline InTrack in) {
  /** The track has ended. */
  public record DestroyedTrack(String track) {}
}
