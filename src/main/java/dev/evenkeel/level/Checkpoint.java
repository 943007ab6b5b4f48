package dev.evenkeel.level;

import java.util.List;

/**
 * A member's place among the others, so that another {@link LevelCounts} can go on from it. The
 * keeper of the counts sends it to the member with the messages that it hands out. The member gives
 * it back, with its own counts, when a new keeper asks.
 *
 * @param joined grows with each member that joins a group, and is never used twice
 * @param base where its bar begins
 * @param finished messages finished since it joined
 * @param inHand messages handed to it and not finished
 * @param heard whether the counts knew of a finished message when it gave this
 * @param references one for each older member
 */
public record Checkpoint(
    String name,
    long joined,
    long base,
    long finished,
    int inHand,
    boolean heard,
    List<Reference> references) {

  /**
   * What an older member had when this one came.
   *
   * @param joined which one
   * @param low finished messages of that one, no more than it had when this one joined
   * @param high finished messages of that one, no fewer than it had when this one finished its
   *     first
   */
  public record Reference(long joined, long low, long high) {}

  /** The bounds: copies the list. */
  public Checkpoint {
    references = List.copyOf(references);
  }

  /** The same place with what the member counts itself. */
  public Checkpoint with(long finishedNow, int inHandNow) {
    return new Checkpoint(name, joined, base, finishedNow, inHandNow, heard, references);
  }
}
