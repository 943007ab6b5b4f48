package dev.evenkeel.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * Chooses which moves a full rebalance history drops: again and again the oldest move of the group
 * with the most moves (of groups with equally many, the one whose oldest move is older). So the
 * room goes to the newest moves, and a group that moves much pushes out its own: with {@link
 * Limits#MOVES_KEPT_MAX} of 2,000, the last 200 of a group are safe from every other group, and
 * they are always there while ten groups or fewer move. Where more than ten groups have so many,
 * their shares become equal and smaller than 200, as the sum is bounded.
 *
 * <p>The outcome depends on the arguments alone, so all replicas drop the same moves.
 */
public final class MoveShares {
  private MoveShares() {}

  /**
   * Indices of the moves to be given up, so that {@code max} stay.
   *
   * @param groups the group of each move, oldest first
   */
  public static List<Integer> surplus(List<String> groups, int max) {
    int excess = groups.size() - max;
    if (excess <= 0) {
      return List.of();
    }
    Map<String, ArrayDeque<Integer>> byGroup = new HashMap<>();
    for (int i = 0; i < groups.size(); i++) {
      byGroup.computeIfAbsent(groups.get(i), group -> new ArrayDeque<>()).add(i);
    }
    Queue<ArrayDeque<Integer>> largestFirst =
        new PriorityQueue<>(
            Comparator.<ArrayDeque<Integer>>comparingInt(share -> -share.size())
                .thenComparing(ArrayDeque::getFirst));
    largestFirst.addAll(byGroup.values());
    List<Integer> surplus = new ArrayList<>(excess);
    for (int i = 0; i < excess; i++) {
      ArrayDeque<Integer> largest = largestFirst.remove();
      surplus.add(largest.removeFirst());
      if (!largest.isEmpty()) {
        largestFirst.add(largest);
      }
    }
    return surplus;
  }
}
