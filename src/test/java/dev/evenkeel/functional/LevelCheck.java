package dev.evenkeel.functional;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

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
 * <p>Where a test cannot know whether a member was taken for lost, it has {@code ! maybe NAME}: the
 * member went out there and came back later, as above, or it has been there all the time and is
 * still bound to its former j. The bound is broken only if neither would do.
 *
 * <p>From {@code out} on a member does not live: lines that it still writes count for completeness
 * only.
 */
public final class LevelCheck {
  public static final String MARK = "!";

  private enum What {
    LINE,
    JOIN,
    BACK,
    MAYBE,
    OUT
  }

  /** A line of the file. */
  private record Entry(What what, String member) {}

  private final int range;
  private final Set<String> fromStart;
  private final List<Entry> entries = new ArrayList<>();
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
    this.fromStart = fromStart;
    for (String line : lines) {
      String[] words = line.split(" ");
      if (words[0].equals(MARK)) {
        entries.add(new Entry(What.valueOf(words[1].toUpperCase(Locale.ROOT)), words[2]));
      } else {
        entries.add(new Entry(What.LINE, words[0]));
        messages.merge(words[1], 1, Integer::sum);
        finished.merge(words[0], 1, Integer::sum);
      }
    }
    List<String> members = members();
    for (int i = 0; i < members.size(); i++) {
      for (int k = i + 1; k < members.size(); k++) {
        compare(members.get(i), members.get(k));
      }
    }
  }

  /** All that joined, in that order. */
  private List<String> members() {
    Set<String> joined = new LinkedHashSet<>(new TreeSet<>(fromStart));
    Set<String> strangers = new HashSet<>();
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      if (entry.what != What.LINE) {
        joined.add(entry.member);
      } else if (!joined.contains(entry.member) && strangers.add(entry.member)) {
        broken.add(entry.member + " writes line " + (i + 1) + " and never joined");
      }
    }
    return List.copyOf(joined);
  }

  private void compare(String x, String y) {
    int brokenAt = new Pair(x, y, range).firstBroken();
    // The least range that would do.
    int least = 0;
    int most = brokenAt < 0 ? range : entries.size();
    while (least < most) {
      int middle = (least + most) / 2;
      if (new Pair(x, y, middle).firstBroken() < 0) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    gap = Math.max(gap, least);
    if (brokenAt >= 0) {
      broken.add(x + " and " + y + " differ by " + least + ", too much in line " + (brokenAt + 1));
    }
  }

  /** One of the two that are compared. */
  private static final class Side {
    boolean live;

    /** It may join or come back here. */
    boolean open;

    /** Lines that it may write before it has. */
    int strayLines;

    void opens(int strayLines) {
      live = true;
      open = true;
      this.strayLines = strayLines;
    }

    void writes() {
      open &= strayLines-- > 0;
    }
  }

  /** Follows two members through the file, and keeps each j with which it would be right so far. */
  private final class Pair {
    private final String x;
    private final String y;
    private final int allowed;
    private final Side sideOfX = new Side();
    private final Side sideOfY = new Side();

    /** d(j) for these places. */
    private final TreeSet<Integer> references = new TreeSet<>();

    private int difference;

    Pair(String x, String y, int allowed) {
      this.x = x;
      this.y = y;
      this.allowed = allowed;
      sideOfX.live = fromStart.contains(x);
      sideOfY.live = fromStart.contains(y);
      references.add(0);
    }

    /** The place in the file of the first line that cannot be right; -1 if there is none. */
    int firstBroken() {
      for (int i = 0; i < entries.size(); i++) {
        Entry entry = entries.get(i);
        boolean isX = entry.member.equals(x);
        if (isX || entry.member.equals(y)) {
          take(entry.what, isX ? sideOfX : sideOfY, isX ? 1 : -1);
          if (references.isEmpty() && sideOfX.live && sideOfY.live && !open()) {
            return i;
          }
        }
      }
      return -1;
    }

    private boolean open() {
      return sideOfX.open || sideOfY.open;
    }

    private void take(What what, Side side, int step) {
      switch (what) {
        case LINE -> line(side, step);
        case OUT -> {
          side.live = false;
          side.open = false;
        }
        case JOIN -> {
          side.opens(0);
          references.clear();
        }
        case BACK -> {
          side.opens(range);
          references.clear();
        }
        case MAYBE -> {
          if (side.live) {
            side.opens(range);
          }
        }
      }
    }

    private void line(Side side, int step) {
      if (open()) {
        references.add(difference);
      }
      if (side.open) {
        side.writes();
      }
      difference += step;
      while (!references.isEmpty() && references.first() < difference - allowed) {
        references.pollFirst();
      }
      while (!references.isEmpty() && references.last() > difference + allowed) {
        references.pollLast();
      }
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
