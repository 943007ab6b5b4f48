package dev.evenkeel.assign;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * Makes a flow level: an optimal semi-matching, that is one without a cost-reducing path (Harvey,
 * Ladner, Lovász, Tamir, "Semi-matchings for bipartite graphs and load balancing", Journal of
 * Algorithms 59, 2006). Their paths lead from one server to another that has at least two jobs
 * fewer; reversing one takes a job from the first and gives one to the last. Here servers are
 * grouped to cohorts, and many jobs go at once.
 *
 * <p>Among level flows it ends at one of the greatest worth: the worth of the best flow for given
 * loads is M-concave in the loads, so what no single exchange of two loads improves is the best of
 * all (Murota, "Discrete Convex Analysis", 2003, theorem 6.26).
 */
final class Levelling {
  private static final int ROUNDS = 8;

  private final Flow flow;
  private final Paths paths;

  /** The largest load of a member if all could be spread over all. */
  private final int evenMax;

  Levelling(Flow flow) {
    this.flow = flow;
    paths = new Paths(flow);
    int shards = IntStream.of(flow.load).sum() + IntStream.of(flow.unplaced).sum();
    evenMax = -Math.floorDiv(-shards, Math.max(1, IntStream.of(flow.size).sum()));
  }

  /**
   * Places shards without an owner: first where a hand-over under way is awaited, then where load
   * is least, topics with the fewest subscribers first. That makes no cycle of negative cost: a
   * topic with an awaited hand-over left has nothing placed elsewhere. Exchanges mend what is not
   * level yet.
   */
  void fill() {
    for (int topic = 0; topic < flow.unplaced.length; topic++) {
      for (int arc : flow.arcsOfTopic[topic]) {
        flow.place(arc, Math.min(flow.unplaced[topic], flow.awaitedUnits(arc)));
      }
    }
    List<Integer> topics =
        IntStream.range(0, flow.unplaced.length)
            .boxed()
            .sorted(Comparator.comparingInt(topic -> flow.arcsOfTopic[topic].length))
            .toList();
    // In rounds: what one topic has made uneven, the others make up for in the next round.
    for (int rounds = ROUNDS; rounds > 0; rounds--) {
      for (int topic : topics) {
        spread(topic, -Math.floorDiv(-flow.unplaced[topic], rounds));
      }
    }
  }

  /** Places {@code count} shards of the topic. */
  private void spread(int topic, int count) {
    if (count == 0) {
      return;
    }
    PriorityQueue<Integer> arcs =
        new PriorityQueue<>(
            Comparator.<Integer>comparingInt(arc -> flow.least(flow.arcCohort[arc], 0))
                .thenComparingInt(arc -> flow.arcCohort[arc]));
    for (int arc : flow.arcsOfTopic[topic]) {
      arcs.add(arc);
    }
    for (int left = count; left > 0; ) {
      int arc = arcs.poll();
      int placed = Math.min(left, room(flow.arcCohort[arc]));
      flow.place(arc, placed);
      left -= placed;
      arcs.add(arc);
    }
  }

  /** Shards with which each member of the cohort has one more than the least loaded has now. */
  private int room(int cohort) {
    return (flow.least(cohort, 0) + 1) * flow.size[cohort] - flow.load[cohort];
  }

  /** Exchanges until nothing gets more level, and nothing equally level keeps more. */
  void exchange() {
    int level = mostOfAll();
    while (level - leastOfAll() >= 1) {
      // From all of one level at once: what the search finds is the cheapest from any of them.
      level = canPay(level) && exchangeFrom(level) ? mostOfAll() : level - 1;
    }
  }

  /** Between loads that differ by one, only a path pays that wins something back. */
  private boolean canPay(int level) {
    return level - leastOfAll() >= 2 || flow.anyGain();
  }

  /**
   * Exchanges from cohorts whose largest load is {@code level}, as long as what one search has
   * found holds.
   */
  private boolean exchangeFrom(int level) {
    search(level);
    boolean any = false;
    for (int to : reachedByLoad()) {
      if (!pays(level, to)) {
        break;
      }
      int from = paths.source(to);
      if (from >= 0 && pays(flow.most(from, 0), to)) {
        paths.push(to, amount(from, to));
        any = true;
      }
    }
    return any;
  }

  /** Cohorts that the search has reached, the least loaded first; of those, the cheapest. */
  private List<Integer> reachedByLoad() {
    return IntStream.range(0, flow.load.length)
        .filter(paths::reaches)
        .boxed()
        .sorted(
            Comparator.<Integer>comparingInt(cohort -> flow.least(cohort, 0))
                .thenComparingLong(paths::cost))
        .toList();
  }

  private boolean pays(int most, int to) {
    int drop = most - flow.least(to, 0);
    return drop > 1 || drop == 1 && paths.cost(to) < 0;
  }

  /** Whether a chain of shards could move from one cohort to another and make load more even. */
  boolean canLevel() {
    for (int level = mostOfAll(); level - leastOfAll() >= 2; level--) {
      search(level);
      int atMost = level - 2;
      if (IntStream.range(0, flow.load.length)
          .anyMatch(to -> paths.reaches(to) && flow.least(to, 0) <= atMost)) {
        return true;
      }
    }
    return false;
  }

  private void search(int level) {
    paths.from(cohort -> flow.load[cohort] > 0 && flow.most(cohort, 0) == level);
  }

  private int leastOfAll() {
    int least = Integer.MAX_VALUE;
    for (int c = 0; c < flow.load.length; c++) {
      least = Math.min(least, flow.least(c, 0));
    }
    return least;
  }

  private int mostOfAll() {
    int most = 0;
    for (int c = 0; c < flow.load.length; c++) {
      most = Math.max(most, flow.most(c, 0));
    }
    return most;
  }

  /**
   * How many units go at once: as many as still find a drop of two (or of one, if that is all there
   * is), and no more than make the cohort's share even, because further ones would have to leave
   * again.
   */
  private int amount(int from, int to) {
    int dropMin = Math.min(flow.most(from, 0) - flow.least(to, 0), 2);
    int low = 1;
    int high = Math.min(paths.limit(to), flow.load[from]);
    high = Math.min(high, Math.max(1, evenMax * flow.size[to] - flow.load[to]));
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (flow.most(from, middle - 1) - flow.least(to, middle - 1) >= dropMin) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
