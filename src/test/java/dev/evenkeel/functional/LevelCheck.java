package dev.evenkeel.functional;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the one file to which all members of a group in mode level append a line at the end of each
 * handler, {@code MEMBER MESSAGE}, each by one write with O_APPEND: lines are in the order in which
 * handlers ended.
 *
 * <p><em>The bound.</em> Let d(p) be the lines of x less the lines of y among the first p lines of
 * the file. For any two members x and y that live, j being the place in the file where the later of
 * them joined or came back: {@code |d(p) - d(j)| <= range} for every p from j on, as long as both
 * live.
 *
 * <p><em>Where j is.</em> The test appends a line {@code ! join NAME} just before it starts a
 * member, {@code ! out NAME} just before it stops, kills or holds one, and {@code ! back NAME} just
 * before it lets a held one go on. A member joined at some place between its mark and its first
 * line after it; the file does not tell where. So the bound is broken only if it is broken for
 * <em>each</em> of these places: there is no such place with which a right dispatcher would have
 * written this file. A held member that comes back first ends what it had in hand when it was held,
 * of which others may have got the messages since, and which are at most as many as the range; so
 * it came back somewhere between its mark and its line number {@code range + 1} after it. Members
 * that are there before the first message have no mark: their j is the beginning of the file, so
 * for them this is the plain bound on every prefix.
 *
 * <p>From {@code out} on a member does not live: lines that it still writes count for completeness
 * only.
 */
public final class LevelCheck {
  public static final String MARK = "!";

  /** One stay of a member, in places of the file: a place is the number of lines before it. */
  private static final class Stay {
    final String member;

    /** It did not join before. */
    final int joinedMin;

    /** It has joined by then. */
    int joinedMax = Integer.MAX_VALUE;

    /** Lines that it may write before it has joined. */
    int strayLines;

    int end = Integer.MAX_VALUE;

    Stay(String member, int joinedMin, int strayLines) {
      this.member = member;
      this.joinedMin = joinedMin;
      this.strayLines = strayLines;
    }
  }

  private final int range;

  /** Who wrote each line; null of a mark. */
  private final List<String> writers = new ArrayList<>();

  private final List<Stay> stays = new ArrayList<>();
  private final Map<String, Stay> live = new HashMap<>();
  private final Set<String> out = new HashSet<>();
  private final Map<String, Integer> messages = new HashMap<>();
  private final Map<String, Integer> finished = new LinkedHashMap<>();
  private final List<String> broken = new ArrayList<>();
  private int gap;

  /**
   * @param fromStart members that are in the group before the first message
   * @param lines whole lines only
   */
  public LevelCheck(int range, Set<String> fromStart, List<String> lines) {
    this.range = range;
    fromStart.stream().sorted().forEach(member -> join(member, 0).joinedMax = 0);
    for (String line : lines) {
      String[] words = line.split(" ");
      if (words[0].equals(MARK)) {
        mark(words[1], words[2]);
        writers.add(null);
      } else {
        line(words[0], words[1]);
        writers.add(words[0]);
      }
    }
    for (int i = 0; i < stays.size(); i++) {
      for (int k = i + 1; k < stays.size(); k++) {
        compare(stays.get(i), stays.get(k));
      }
    }
  }

  private Stay join(String member, int strayLines) {
    Stay stay = new Stay(member, writers.size(), strayLines);
    stays.add(stay);
    live.put(member, stay);
    return stay;
  }

  private void mark(String what, String member) {
    Stay former = live.remove(member);
    if (former != null) {
      former.end = writers.size();
    }
    switch (what) {
      case "join" -> {
        out.remove(member);
        join(member, 0);
      }
      case "back" -> {
        out.remove(member);
        join(member, range);
      }
      case "out" -> out.add(member);
      default -> throw new IllegalArgumentException(what);
    }
  }

  private void line(String member, String message) {
    messages.merge(message, 1, Integer::sum);
    finished.merge(member, 1, Integer::sum);
    Stay stay = live.get(member);
    if (stay == null) {
      if (!out.contains(member)) {
        broken.add(member + " writes line " + (writers.size() + 1) + " and never joined");
      }
    } else if (stay.joinedMax == Integer.MAX_VALUE && stay.strayLines-- == 0) {
      stay.joinedMax = writers.size();
    }
  }

  private void compare(Stay x, Stay y) {
    int from = Math.max(x.joinedMin, y.joinedMin);
    int end = Math.min(writers.size(), Math.min(x.end, y.end));
    if (from >= end || x.member.equals(y.member)) {
      return;
    }
    int places = end - from;
    int[] difference = new int[places + 1];
    for (int i = 0; i < places; i++) {
      String writer = writers.get(from + i);
      difference[i + 1] =
          difference[i] + (x.member.equals(writer) ? 1 : y.member.equals(writer) ? -1 : 0);
    }
    int joinedMax = Math.min(end, Math.max(x.joinedMax, y.joinedMax)) - from;
    int best = Integer.MAX_VALUE;
    int most = difference[places];
    int least = difference[places];
    for (int place = places; place >= 0; place--) {
      most = Math.max(most, difference[place]);
      least = Math.min(least, difference[place]);
      if (place <= joinedMax) {
        best = Math.min(best, Math.max(most - difference[place], difference[place] - least));
      }
    }
    gap = Math.max(gap, best);
    if (best > range) {
      broken.add(
          x.member
              + " and "
              + y.member
              + " differ by "
              + best
              + " somewhere in lines "
              + (from + 1)
              + " to "
              + end);
    }
  }

  /** Who differed by more than the range; empty if nobody did. */
  public List<String> broken() {
    return broken;
  }

  /** The largest difference of which the file leaves no doubt. */
  public int gap() {
    return gap;
  }

  /** Different messages. */
  public int distinct() {
    return messages.size();
  }

  /** Messages that were ended more than once. */
  public long repeated() {
    return messages.values().stream().filter(times -> times > 1).count();
  }

  /** How many lines each member wrote. */
  public Map<String, Integer> finished() {
    return finished;
  }

  @Override
  public String toString() {
    return "gap "
        + gap
        + ", lines "
        + finished
        + ", repeated "
        + repeated()
        + ", broken "
        + Arrays.toString(broken.toArray());
  }
}
