package dev.evenkeel.dispatcher;

import java.util.List;

/**
 * How level a group is, as its level dispatcher sees it.
 *
 * @param gap largest difference of two live members in finished messages since the later of them
 *     joined; at most the range
 * @param round how often the shortest bar has grown by the range
 * @param holder the member that the others wait for, or null
 * @param heldMillis for how long; 0 without a holder
 * @param setAside how often a member was set aside because it held the round for too long
 * @param bars one for each live member, by name
 */
record LevelFigures(
    long gap, long round, String holder, long heldMillis, long setAside, List<Bar> bars) {

  /**
   * @param finished how long the bar is: what it finished since it joined, on top of the shortest
   *     bar of that moment
   * @param inHand messages dealt to it that have not ended
   */
  record Bar(String member, long finished, int inHand) {}
}
