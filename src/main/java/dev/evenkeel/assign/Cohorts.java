package dev.evenkeel.assign;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cohorts of members with the same subscription. Thousands of members often have only a few hundred
 * subscriptions, so planning by cohort makes a large problem small: members of a cohort can stand
 * in for each other.
 */
final class Cohorts {
  /** Members of each cohort, ascending. */
  final int[][] members;

  /** Topics of each cohort, ascending, never empty. */
  final int[][] topics;

  /** The cohort of each member; {@link Roster#NOBODY} if it subscribes to no shard. */
  final int[] of;

  private Cohorts(List<List<Integer>> groups, Roster roster) {
    members = new int[groups.size()][];
    topics = new int[groups.size()][];
    of = new int[roster.members.length];
    Arrays.fill(of, Roster.NOBODY);
    for (int c = 0; c < members.length; c++) {
      members[c] = groups.get(c).stream().mapToInt(Integer::intValue).toArray();
      topics[c] = roster.topicsOf[members[c][0]];
      for (int member : members[c]) {
        of[member] = c;
      }
    }
  }

  /** As few cohorts as there are subscriptions. */
  static Cohorts bySubscription(Roster roster) {
    Map<List<Integer>, List<Integer>> groups = new LinkedHashMap<>();
    // The roster has one array for equal subscriptions, so few are looked at. Subscriptions that
    // differ only in topics without shards have two.
    Map<int[], List<Integer>> groupOf = new IdentityHashMap<>();
    for (int m = 0; m < roster.members.length; m++) {
      int[] topics = roster.topicsOf[m];
      if (topics.length > 0) {
        groupOf
            .computeIfAbsent(
                topics,
                array ->
                    groups.computeIfAbsent(
                        Arrays.stream(array).boxed().toList(), key -> new ArrayList<>()))
            .add(m);
      }
    }
    return new Cohorts(List.copyOf(groups.values()), roster);
  }

  /** Each member a cohort of its own. */
  static Cohorts apart(Roster roster) {
    List<List<Integer>> groups = new ArrayList<>();
    for (int m = 0; m < roster.members.length; m++) {
      if (roster.topicsOf[m].length > 0) {
        groups.add(List.of(m));
      }
    }
    return new Cohorts(groups, roster);
  }

  int count() {
    return members.length;
  }
}
