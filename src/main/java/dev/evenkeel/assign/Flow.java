package dev.evenkeel.assign;

/**
 * How many shards of each topic go to each cohort, as a flow from topics to cohorts: an arc for
 * each topic that a cohort subscribes to. What a unit of flow on an arc is worth falls with the
 * number of units there: first those that their owner keeps, then those that a hand-over under way
 * brings, then others. So the most valuable flow for given loads takes the fewest shards from their
 * owners.
 */
final class Flow {
  /**
   * Worth of a kept shard: more than all hand-overs of a path together. It is worth one less while
   * a hand-over to another cohort is under way, so that of two shards this one leaves.
   */
  private static final long KEPT = 1L << 32;

  final int[] arcTopic;
  final int[] arcCohort;
  final int[][] arcsOfTopic;
  final int[][] arcsOfCohort;

  /** Shards on the arc. */
  final int[] units;

  /** Shards of the topic that members of the cohort own and may keep. */
  final int[] owned;

  /** Those of them that no hand-over to another cohort is under way for. */
  private final int[] firm;

  /** Shards of the topic whose hand-over from elsewhere to a member of the cohort is under way. */
  private final int[] awaited;

  /** Shards of each cohort. */
  final int[] load;

  /** Members of each cohort. */
  final int[] size;

  /** Shards of each topic that go nowhere yet. */
  final int[] unplaced;

  /** All owners keep what they have; what has no owner goes nowhere yet. */
  Flow(Roster roster, Cohorts cohorts) {
    int arcs = 0;
    int[] subscribers = new int[roster.topics()];
    for (int[] topics : cohorts.topics) {
      arcs += topics.length;
      for (int topic : topics) {
        subscribers[topic]++;
      }
    }
    arcTopic = new int[arcs];
    arcCohort = new int[arcs];
    units = new int[arcs];
    owned = new int[arcs];
    firm = new int[arcs];
    awaited = new int[arcs];
    load = new int[cohorts.count()];
    size = new int[cohorts.count()];
    unplaced = new int[roster.topics()];
    arcsOfTopic = new int[roster.topics()][];
    arcsOfCohort = new int[cohorts.count()][];
    for (int t = 0; t < subscribers.length; t++) {
      arcsOfTopic[t] = new int[subscribers[t]];
    }
    link(cohorts, subscribers);
    for (int t = 0; t < subscribers.length; t++) {
      place(roster, cohorts, t);
    }
  }

  private void link(Cohorts cohorts, int[] subscribersLeft) {
    int arc = 0;
    for (int c = cohorts.count() - 1; c >= 0; c--) {
      size[c] = cohorts.members[c].length;
      arcsOfCohort[c] = new int[cohorts.topics[c].length];
      for (int i = 0; i < arcsOfCohort[c].length; i++) {
        int topic = cohorts.topics[c][i];
        arcTopic[arc] = topic;
        arcCohort[arc] = c;
        arcsOfCohort[c][i] = arc;
        // Backwards, so that each topic has its arcs in the order of cohorts.
        arcsOfTopic[topic][--subscribersLeft[topic]] = arc;
        arc++;
      }
    }
  }

  private void place(Roster roster, Cohorts cohorts, int topic) {
    int[] arcTo = new int[load.length];
    for (int arc : arcsOfTopic[topic]) {
      arcTo[arcCohort[arc]] = arc;
    }
    for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
      int owner = roster.owner[s] == Roster.NOBODY ? -1 : cohorts.of[roster.owner[s]];
      int heir = roster.heir[s] == Roster.NOBODY ? owner : cohorts.of[roster.heir[s]];
      if (owner < 0) {
        unplaced[topic]++;
      } else {
        units[arcTo[owner]]++;
        owned[arcTo[owner]]++;
        load[owner]++;
        firm[arcTo[owner]] += heir == owner ? 1 : 0;
      }
      if (heir != owner) {
        awaited[arcTo[heir]]++;
      }
    }
  }

  /** Puts units of the arc's topic that go nowhere yet on the arc. */
  void place(int arc, int amount) {
    units[arc] += amount;
    load[arcCohort[arc]] += amount;
    unplaced[arcTopic[arc]] -= amount;
  }

  /** How many further units a hand-over under way brings to the arc, if nothing has left it. */
  int awaitedUnits(int arc) {
    return Math.max(0, owned[arc] + awaited[arc] - units[arc]);
  }

  /** Whether a further unit is worth something on any arc. */
  boolean anyGain() {
    for (int arc = 0; arc < units.length; arc++) {
      if (gain(arc) > 0) {
        return true;
      }
    }
    return false;
  }

  /** What one more unit on the arc is worth. */
  long gain(int arc) {
    return worth(arc, units[arc]);
  }

  /** What the last unit on the arc, which must have one, is worth. */
  long loss(int arc) {
    return worth(arc, units[arc] - 1);
  }

  private long worth(int arc, int unit) {
    if (unit < owned[arc]) {
      return unit < firm[arc] ? KEPT : KEPT - 1;
    }
    return unit < owned[arc] + awaited[arc] ? 1 : 0;
  }

  /** How many further units are worth {@link #gain}. */
  int gainUnits(int arc) {
    int has = units[arc];
    if (has < owned[arc]) {
      return (has < firm[arc] ? firm[arc] : owned[arc]) - has;
    }
    int known = owned[arc] + awaited[arc];
    return has < known ? known - has : Integer.MAX_VALUE;
  }

  /** How many of the last units are worth {@link #loss}. */
  int lossUnits(int arc) {
    int has = units[arc];
    if (has <= owned[arc]) {
      return has <= firm[arc] ? has : has - firm[arc];
    }
    int known = owned[arc] + awaited[arc];
    return has <= known ? has - owned[arc] : has - known;
  }

  /** The smallest load of a member, if the cohort had {@code more} shards, evenly spread. */
  int least(int cohort, int more) {
    return Math.floorDiv(load[cohort] + more, size[cohort]);
  }

  /** The largest load of a member, if the cohort had {@code fewer} shards less, evenly spread. */
  int most(int cohort, int fewer) {
    return -Math.floorDiv(fewer - load[cohort], size[cohort]);
  }
}
