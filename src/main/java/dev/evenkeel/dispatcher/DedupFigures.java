package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import java.util.List;

/**
 * What deduplication has done for a group, as its members tell.
 *
 * @param counts since the members began, those of members that left included; null: nobody has told
 * @param repeats how much the messages of the live members repeat themselves; null: nobody has told
 * @param hot keys that the live members declined most often
 */
record DedupFigures(
    DedupTally.Counts counts, DedupTally.Repeats repeats, List<DedupTally.Hot> hot) {
  static final DedupFigures NONE = new DedupFigures(null, null, List.of());

  /** The part of the group's messages that needed no work, 0 to 1; null: there were none. */
  Double savedShare() {
    if (counts == null) {
      return null;
    }
    long all = counts.accepted() + counts.blocked() + counts.declined();
    return all == 0 ? null : (Double) ((double) counts.declined() / all);
  }
}
