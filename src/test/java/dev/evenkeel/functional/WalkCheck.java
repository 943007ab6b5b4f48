package dev.evenkeel.functional;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Judges from outside whether walkers were ever further apart than the range, by what they wrote:
 * {@code ID WHAT NANOS STEPS}. WHAT is J when the track has its place, B before it asks to move, A
 * after a step, R after a refusal, D before it is destroyed, L when it is lost.
 *
 * <p>It finds only what is sure. From B on a track may have taken the step, and from A on it surely
 * has. A track lives from its J to its D, or to the B of its last step.
 */
record WalkCheck(int range, Map<String, Walk> walks) {
  private record Line(char what, long nanos, long steps) {}

  /** What one track did, in its order. */
  static final class Walk {
    private final List<Line> lines = new ArrayList<>();
    private long[] surelyAt;
    private long[] surely;
    private long[] mayAt;
    private long[] may;
    private long endNanos;

    private void finish() {
      List<Line> sure = lines.stream().filter(l -> l.what() == 'J' || l.what() == 'A').toList();
      surelyAt = sure.stream().mapToLong(Line::nanos).toArray();
      surely = sure.stream().mapToLong(Line::steps).toArray();
      List<long[]> most = new ArrayList<>();
      for (int i = 0; i < lines.size(); i++) {
        Line line = lines.get(i);
        boolean unknown = line.what() == 'B' && (i + 1 == lines.size() || isStep(i + 1));
        if (line.what() == 'J') {
          most.add(new long[] {line.nanos(), line.steps()});
        } else if (unknown) {
          most.add(new long[] {line.nanos(), line.steps() + 1});
          endNanos = i + 1 < lines.size() ? line.nanos() : endNanos;
        } else if (line.what() == 'D') {
          endNanos = line.nanos();
        }
      }
      mayAt = most.stream().mapToLong(each -> each[0]).toArray();
      may = most.stream().mapToLong(each -> each[1]).toArray();
      if (endNanos == 0) {
        endNanos = lines.get(0).nanos();
      }
    }

    private boolean isStep(int index) {
      return lines.get(index).what() == 'A';
    }

    boolean lives(long nanos) {
      return surelyAt.length > 0 && nanos >= surelyAt[0] && nanos <= endNanos;
    }

    long atLeast(long nanos) {
      int found = Arrays.binarySearch(surelyAt, nanos);
      return surely[found >= 0 ? found : -found - 2];
    }

    long atMost(long nanos) {
      int found = Arrays.binarySearch(mayAt, nanos);
      return may[found >= 0 ? found : -found - 2];
    }

    long last() {
      return surely[surely.length - 1];
    }
  }

  static WalkCheck of(int range, List<String> lines) {
    Map<String, Walk> walks = new LinkedHashMap<>();
    for (String each : lines) {
      String[] words = each.split(" ");
      walks
          .computeIfAbsent(words[0], id -> new Walk())
          .lines
          .add(new Line(words[1].charAt(0), Long.parseLong(words[2]), Long.parseLong(words[3])));
    }
    walks.values().forEach(walk -> walk.lines.sort(Comparator.comparingLong(Line::nanos)));
    walks.values().forEach(Walk::finish);
    return new WalkCheck(range, walks);
  }

  /** Where two tracks were surely too far apart, for people. */
  List<String> broken() {
    List<String> broken = new ArrayList<>();
    walks.forEach(
        (id, walk) -> {
          for (int i = 0; i < walk.surelyAt.length; i++) {
            long at = walk.surelyAt[i];
            if (!walk.lives(at)) {
              continue;
            }
            walks.forEach(
                (other, its) -> {
                  if (its != walk && its.lives(at)) {
                    compare(id, walk, other, its, at, broken);
                    compare(other, its, id, walk, at, broken);
                  }
                });
          }
        });
    return broken;
  }

  private void compare(
      String id, Walk ahead, String other, Walk behind, long at, List<String> broken) {
    if (ahead.atLeast(at) - behind.atMost(at) > range) {
      broken.add(
          "%s was at %d and %s at %d at most, at %d"
              .formatted(id, ahead.atLeast(at), other, behind.atMost(at), at));
    }
  }

  /** The largest difference that was sure. */
  long gap() {
    long gap = 0;
    for (Walk walk : walks.values()) {
      for (int i = 0; i < walk.surelyAt.length; i++) {
        for (Walk other : walks.values()) {
          if (other != walk && walk.lives(walk.surelyAt[i]) && other.lives(walk.surelyAt[i])) {
            gap = Math.max(gap, walk.surely[i] - other.atMost(walk.surelyAt[i]));
          }
        }
      }
    }
    return gap;
  }

  /** Where the tracks of a walker, or of all whose names begin so, got last. */
  long furthest(String prefix) {
    return walks.entrySet().stream()
        .filter(each -> each.getKey().startsWith(prefix))
        .filter(each -> each.getValue().surely.length > 0)
        .mapToLong(each -> each.getValue().last())
        .max()
        .orElse(-1);
  }
}
