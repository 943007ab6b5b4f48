package dev.evenkeel.functional;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the lines say that producer and members appended to one file, in the order in which they
 * did:
 *
 * <pre>
 * P key -        a message is about to be produced
 * S key member   a run begins
 * E key member   it has ended
 * K - member     the member is about to be killed: what it has begun does not count any more
 * </pre>
 */
final class DedupCheck {
  static final String PRODUCED = "P";
  static final String START = "S";
  static final String END = "E";
  static final String KILLED = "K";

  private final Map<String, Integer> lastProduced = new HashMap<>();
  private final Map<String, Integer> lastWholeRun = new HashMap<>();
  private final Map<String, Map<String, Integer>> open = new HashMap<>();
  private final Set<String> killed = new HashSet<>();
  private final Set<String> members = new HashSet<>();
  private final List<String> overlaps = new ArrayList<>();
  private int runs;

  DedupCheck(List<String> lines) {
    for (int i = 0; i < lines.size(); i++) {
      String[] words = lines.get(i).split(" ");
      take(i, words[0], words[1], words[2]);
    }
  }

  private void take(int at, String what, String key, String member) {
    if (what.equals(PRODUCED)) {
      lastProduced.put(key, at);
      return;
    }
    if (what.equals(KILLED)) {
      killed.add(member);
      open.values().forEach(each -> each.remove(member));
      return;
    }
    if (killed.contains(member)) {
      return;
    }
    Map<String, Integer> working = open.computeIfAbsent(key, none -> new HashMap<>());
    if (what.equals(START)) {
      runs++;
      members.add(member);
      if (!working.isEmpty()) {
        overlaps.add("line " + (at + 1) + ": " + key + " at " + member + " and " + working);
      }
      working.put(member, at);
    } else {
      Integer began = working.remove(member);
      if (began != null) {
        lastWholeRun.merge(key, began, Math::max);
      }
    }
  }

  /** Runs that began while another of the same was under way. */
  List<String> overlaps() {
    return overlaps;
  }

  /** Keys of which no run that ended began after their last message was produced. */
  List<String> missed() {
    return lastProduced.keySet().stream()
        .filter(key -> lastWholeRun.getOrDefault(key, -1) < lastProduced.get(key))
        .sorted()
        .toList();
  }

  int runs() {
    return runs;
  }

  int keys() {
    return lastProduced.size();
  }

  /** Who has run anything. */
  Set<String> members() {
    return members;
  }
}
