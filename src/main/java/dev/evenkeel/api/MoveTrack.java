package dev.evenkeel.api;

/**
 * Takes as many steps as the track may take now, up to the number asked for. If it may take none,
 * the request waits for the first one. The track does not expire while a request waits.
 *
 * @param steps most steps
 * @param waitMs how long it waits if it may take no step, in milliseconds
 */
public record MoveTrack(
    @Inline InTrack in,
    @Bounds(min = 1, max = 1_000_000) @Default("1") int steps,
    @Bounds(min = 0, max = 15_000) @Default("15000") int waitMs) {
  /**
   * What was done.
   *
   * @param moved how many steps it took; 0 if it must still wait
   * @param steps where it stands now
   */
  public record MovedTrack(int moved, long steps) {}
}
