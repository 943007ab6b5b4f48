package dev.evenkeel.assign;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Assigns the shards of one cohort to its members: each gets the floor or the ceiling of the
 * average, and as few shards as possible leave their owners.
 *
 * <p>Of {@code L} shards and {@code n} members, {@code L mod n} members get one more than the
 * others. A member with more than its share gives the surplus away, and no more. So the number of
 * moves is the sum of the surpluses. It is least if members that own that many already get the
 * larger share.
 */
final class CohortAssignment {
  private final Roster roster;
  private final int[] members;

  /** Shards that each member (by its place in {@link #members}) owns here, first to shed first. */
  private final List<List<Integer>> owned = new ArrayList<>();

  /** Shards that no member here owns. */
  private final List<Integer> unowned = new ArrayList<>();

  private final int[] placeOf;
  private final int[] share;
  private final int[] target;

  private CohortAssignment(
      Roster roster, int[] members, int[] placeOf, List<Integer> shards, int[] target) {
    this.roster = roster;
    this.members = members;
    this.placeOf = placeOf;
    this.target = target;
    share = new int[members.length];
    for (int i = 0; i < members.length; i++) {
      owned.add(new ArrayList<>());
    }
    for (int s : shards) {
      int place = place(roster.owner[s]);
      (place < 0 ? unowned : owned.get(place)).add(s);
    }
    owned.forEach(list -> list.sort(roster::compareToShed));
    setShares(shards);
  }

  /**
   * Writes an owner for each shard into {@code target}.
   *
   * @param cohortOf the cohort of each shard
   */
  static void all(Roster roster, Cohorts cohorts, int[] cohortOf, int[] target) {
    List<List<Integer>> shards = new ArrayList<>();
    for (int c = 0; c < cohorts.count(); c++) {
      shards.add(new ArrayList<>());
    }
    for (int s = 0; s < cohortOf.length; s++) {
      shards.get(cohortOf[s]).add(s);
    }
    int[] placeOf = new int[roster.members.length];
    for (int c = 0; c < cohorts.count(); c++) {
      Arrays.fill(placeOf, -1);
      for (int i = 0; i < cohorts.members[c].length; i++) {
        placeOf[cohorts.members[c][i]] = i;
      }
      new CohortAssignment(roster, cohorts.members[c], placeOf, shards.get(c), target).run();
    }
  }

  private int place(int member) {
    return member == Roster.NOBODY ? -1 : placeOf[member];
  }

  private void setShares(List<Integer> shards) {
    int floor = shards.size() / members.length;
    int withOneMore = shards.size() % members.length;
    Arrays.fill(share, floor);
    if (withOneMore == 0) {
      return;
    }
    int[] expected = expected(shards);
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < members.length; i++) {
      places.add(i);
    }
    places.sort(
        Comparator.<Integer, Boolean>comparing(i -> owned.get(i).size() <= floor)
            .thenComparing(i -> -Math.min(expected[i], floor + 1))
            // Of those that own more, the ones keep it whose surplus shards are the last to shed.
            .thenComparing((a, b) -> compareMarginal(b, a, floor))
            .thenComparing(i -> i));
    for (int i : places.subList(0, withOneMore)) {
      share[i]++;
    }
  }

  /** How many shards each member would own after all hand-overs under way. */
  private int[] expected(List<Integer> shards) {
    int[] expected = new int[members.length];
    for (int s : shards) {
      int heir = place(roster.heir[s]);
      int gets = heir >= 0 ? heir : place(roster.owner[s]);
      if (gets >= 0) {
        expected[gets]++;
      }
    }
    return expected;
  }

  private int compareMarginal(int a, int b, int floor) {
    if (owned.get(a).size() <= floor || owned.get(b).size() <= floor) {
      return 0;
    }
    return roster.compareToShed(marginal(a, floor), marginal(b, floor));
  }

  /** The shard that the member gives in addition if it gets the smaller share. */
  private int marginal(int place, int floor) {
    return owned.get(place).get(owned.get(place).size() - floor - 1);
  }

  private void run() {
    followHandovers();
    for (int i = 0; i < members.length; i++) {
      List<Integer> own = owned.get(i);
      int surplus = Math.max(0, own.size() - share[i]);
      unowned.addAll(own.subList(0, surplus));
      for (int s : own.subList(surplus, own.size())) {
        target[s] = members[i];
        share[i]--;
      }
    }
    assignUnowned();
  }

  /**
   * Lets hand-overs under way go on if the owner has a surplus and the heir wants a shard. First
   * come those whose owner has not released yet: calling them off would cost a pause for nothing.
   */
  private void followHandovers() {
    List<Integer> underWay = new ArrayList<>();
    for (int i = 0; i < members.length; i++) {
      if (owned.get(i).size() > share[i]) {
        owned.get(i).stream().filter(s -> place(roster.heir[s]) >= 0).forEach(underWay::add);
      }
    }
    underWay.sort(roster::compareToShed);
    for (int s : unowned) {
      if (place(roster.heir[s]) >= 0) {
        underWay.add(s);
      }
    }
    int[] surplus = new int[members.length];
    int[] wants = new int[members.length];
    for (int i = 0; i < members.length; i++) {
      surplus[i] = owned.get(i).size() - share[i];
      wants[i] = -surplus[i];
    }
    boolean[] gone = new boolean[underWay.isEmpty() ? 0 : roster.shards.length];
    for (int s : underWay) {
      int from = place(roster.owner[s]);
      int to = place(roster.heir[s]);
      if (wants[to] > 0 && (from < 0 || surplus[from] > 0)) {
        wants[to]--;
        share[to]--;
        if (from >= 0) {
          surplus[from]--;
        }
        target[s] = members[to];
        gone[s] = true;
      }
    }
    if (gone.length > 0) {
      unowned.removeIf(s -> gone[s]);
      owned.forEach(list -> list.removeIf(s -> gone[s]));
    }
  }

  /** In turn, so that neighbouring shards of a topic go to different members. */
  private void assignUnowned() {
    unowned.sort(Comparator.naturalOrder());
    int next = 0;
    for (int s : unowned) {
      while (share[next] == 0) {
        next = (next + 1) % members.length;
      }
      share[next]--;
      target[s] = members[next];
      next = (next + 1) % members.length;
    }
  }
}
