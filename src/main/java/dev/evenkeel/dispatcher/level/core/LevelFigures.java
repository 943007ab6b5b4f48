package dev.evenkeel.dispatcher.level.core;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How level a group is.
 *
 * @param term of the group lease; 0 before the level dispatcher has begun
 * @param range the most that two members may differ
 * @param gap the most that two members differ, in finished messages since the later one joined
 * @param round how often the shortest bar has grown by the range
 * @param holder name of the member for which the others wait
 * @param heldMillis for how long
 * @param setAside how often a member was set aside
 * @param waiting messages that wait to be handed out
 * @param inHand messages that members have in hand
 */
public record LevelFigures(
    long term,
    int range,
    LevelPolicy.Strategy strategy,
    long gap,
    long round,
    @Nullable String holder,
    long heldMillis,
    long setAside,
    int waiting,
    int inHand,
    List<Bar> members) {

  /**
   * @param level whether it takes part; not before it answered, and not while it is set aside
   * @param position length of its bar
   * @param finished messages finished since it joined, as far as reported
   * @param inHand messages handed to it that have not ended, as far as reported
   */
  public record Bar(String name, boolean level, long position, long finished, int inHand) {}
}
