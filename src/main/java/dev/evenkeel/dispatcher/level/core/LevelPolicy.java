package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.Range;
import dev.evenkeel.protocol.GroupPolicy;

/**
 * How a group in mode level hands out messages.
 *
 * @param range the most that two live members may differ in finished messages
 */
public record LevelPolicy(Range range, Strategy strategy) {
  /** Who gets the next message. */
  public enum Strategy {
    /** Members with credit take messages, in turn. A member has at most its capacity in hand. */
    PULL,
    /**
     * Each member gets one message in turn, into a queue of at most the range. All wait for a
     * member that may not take on its turn.
     */
    PUSH
  }

  public static LevelPolicy of(GroupPolicy policy) {
    boolean push = GroupPolicy.STRATEGY_PUSH.equals(policy.strategy());
    return new LevelPolicy(Range.of(policy.range()), push ? Strategy.PUSH : Strategy.PULL);
  }
}
