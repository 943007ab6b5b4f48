package dev.evenkeel.dispatcher.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last {@link #MAX} moves of this dispatcher. */
public final class MoveLog {
  public static final int MAX = 1_000;

  private final Deque<Move> moves = new ArrayDeque<>();
  private long made;

  void add(Move move) {
    if (moves.size() == MAX) {
      moves.removeLast();
    }
    moves.addFirst(move);
    made++;
  }

  /** How many moves there ever were, also those forgotten. */
  public long made() {
    return made;
  }

  /**
   * Newest first.
   *
   * @param group null: of all groups
   */
  public List<Move> recent(String group, int limit) {
    List<Move> recent = new ArrayList<>();
    for (Move move : moves) {
      if (recent.size() >= limit) {
        break;
      }
      if (group == null || group.equals(move.group())) {
        recent.add(move);
      }
    }
    return recent;
  }
}
