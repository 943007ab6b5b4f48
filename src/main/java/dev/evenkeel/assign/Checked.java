package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Asks an assignor that may be anybody's, and does not trust the answer: if it throws, forgets a
 * shard, or names somebody who may not own it, the plan is {@link StickyAssignor}'s. Shards that
 * nobody asked for are left out of the answer. How long it takes is not judged.
 */
final class Checked {
  private static final int REASON_CHARS_MAX = 300;

  /**
   * @param problem one line, or null if the answer is the asked assignor's
   */
  record Answer(Map<Shard, String> targets, String problem) {}

  private Checked() {}

  static Answer assign(Assignor assignor, Snapshot snapshot) {
    if (assignor instanceof StickyAssignor) {
      return new Answer(assignor.assign(snapshot), null);
    }
    String name = assignor.getClass().getName();
    try {
      name = "assignor " + assignor.name();
      Map<Shard, String> targets = new HashMap<>();
      String problem = check(assignor.assign(snapshot), snapshot, targets);
      if (problem == null) {
        return new Answer(targets, null);
      }
      return instead(snapshot, name + " " + problem);
    } catch (Exception | LinkageError | AssertionError | StackOverflowError failure) {
      return instead(snapshot, name + " failed: " + failure);
    }
  }

  private static Answer instead(Snapshot snapshot, String problem) {
    String line = problem.replaceAll("\\s+", " ");
    String cut =
        line.length() <= REASON_CHARS_MAX ? line : line.substring(0, REASON_CHARS_MAX) + "...";
    return new Answer(new StickyAssignor().assign(snapshot), cut + "; planned by sticky");
  }

  private static String check(
      Map<Shard, String> answer, Snapshot snapshot, Map<Shard, String> targets) {
    if (answer == null) {
      return "answered null";
    }
    Map<String, Set<Integer>> subscriptions = new HashMap<>();
    Set<Integer> wanted = new HashSet<>();
    for (Snapshot.Member member : snapshot.members()) {
      subscriptions.put(member.name(), member.topicIds());
      wanted.addAll(member.topicIds());
    }
    for (Snapshot.Held held : snapshot.shards()) {
      Shard shard = held.shard();
      if (wanted.contains(shard.topicId())) {
        String target = answer.get(shard);
        if (target == null) {
          return "names no owner for shard " + shard;
        }
        Set<Integer> topicIds = subscriptions.get(target);
        if (topicIds == null) {
          return "gives shard " + shard + " to " + target + ", who is not a member";
        }
        if (!topicIds.contains(shard.topicId())) {
          return "gives shard " + shard + " to " + target + ", who does not subscribe to it";
        }
        targets.put(shard, target);
      }
    }
    return null;
  }
}
