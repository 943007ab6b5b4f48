package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Takes part in a coordinator: from now on no track gets more than the range ahead of this one, and
 * this one of no other. It begins where the slowest track stands.
 *
 * @param coordinator name of the coordinator
 * @param name name of the track; a generated name if it is left out. A second track of the same
 *     name replaces the first one
 * @param range largest difference between two tracks in steps; all tracks must agree
 * @param idleMs how long others wait for this track if it does not ask to move. Then it is set
 *     aside, and its next request brings it back
 * @param expiresMs how long the track stays after the end of its last request. Then it is destroyed
 * @param user whose track it is; null: the cluster has no users
 */
@Body("NewTrack")
public record OpenTrack(
    String coordinator,
    @Nullable String name,
    @Bounds(min = 1, max = 1_000_000) @Default("100") int range,
    @Bounds(min = 100, max = 3_600_000) @Default("5000") int idleMs,
    @Bounds(min = 5_000, max = 600_000) @Default("30000") int expiresMs,
    @Caller @Nullable String user) {
  /**
   * The track.
   *
   * @param track by which later requests name it
   * @param steps where it stands
   */
  public record OpenedTrack(String track, String name, long steps, int expiresMs) {}
}
