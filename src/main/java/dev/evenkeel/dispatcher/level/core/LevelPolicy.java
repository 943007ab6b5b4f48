package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.Range;

/**
 * How a group deals.
 *
 * @param range the most that two live members may differ in finished messages
 */
public record LevelPolicy(Range range, Strategy strategy) {
  /** Who gets the next message. */
  public enum Strategy {
    /** Whoever has credit draws, in turn: a member has at most its capacity in hand. */
    PULL,
    /**
     * One message to each in turn, into a queue of at most the range; whose turn it is and who may
     * not take holds the turn.
     */
    PUSH
  }
}
