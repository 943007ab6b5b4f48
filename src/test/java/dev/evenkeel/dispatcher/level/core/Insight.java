package dev.evenkeel.dispatcher.level.core;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What tests want to know of a level dispatch, and nobody else. */
final class Insight {
  private Insight() {}

  /** Deliveries that wait or are in a slot. */
  static int open(LevelDispatch dispatch) {
    int open = dispatch.deliveries.waiting() + dispatch.deliveries.waitingAlone();
    for (MemberSlot slot : dispatch.members.all()) {
      for (long each = slot.first(); each < slot.next(); each++) {
        Item item = slot.at(each);
        open += item != null && item.ticket != null ? 1 : 0;
      }
    }
    return open;
  }

  /** Those that take part, in the order in which they joined. */
  static List<String> level(LevelDispatch dispatch) {
    List<String> names = new ArrayList<>(dispatch.members.counts().members());
    names.sort(Comparator.comparingLong(dispatch.members.counts()::joinedOf));
    return names;
  }

  /**
   * Whether it joined under the dispatcher of this term, and does not go on from an earlier one.
   */
  static boolean joinedHere(LevelDispatch dispatch, long term, String name) {
    return dispatch.members.counts().joinedOf(name) >= term << LevelDispatch.JOININGS_BITS;
  }

  /** Messages remembered that were not delivered. */
  static int remembered(LevelDispatch dispatch) {
    return dispatch.deliveries.remembered();
  }
}
