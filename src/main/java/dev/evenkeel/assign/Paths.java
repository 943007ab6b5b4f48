package dev.evenkeel.assign;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Finds the cheapest paths to pass one shard on: from one of some cohorts, over cohorts that take
 * one shard and give another, to each cohort that can be reached. The cost of a path is the worth
 * of the kept shards and hand-overs that it gives up, less the worth of those that it wins back.
 *
 * <p>Bellman and Ford's algorithm with a queue. It ends because the flow never has a cycle of
 * negative cost: the first flow keeps everything, and pushing along a cheapest path makes none
 * (Ahuja, Magnanti, Orlin, "Network Flows", 1993, lemma 9.11).
 */
final class Paths {
  private static final long FAR = Long.MAX_VALUE;

  private final Flow flow;
  private final int topics;
  private final long[] cost;
  private final int[] arcInto;
  private final boolean[] waits;
  private final int[] queue;
  private int head;
  private int waiting;

  Paths(Flow flow) {
    this.flow = flow;
    topics = flow.arcsOfTopic.length;
    int nodes = topics + flow.arcsOfCohort.length;
    cost = new long[nodes];
    arcInto = new int[nodes];
    waits = new boolean[nodes];
    queue = new int[nodes];
  }

  /**
   * Searches. What is found holds until a path is pushed along that shares an arc with it: then
   * {@link #source} tells whether it still does.
   */
  void from(IntPredicate cohorts) {
    Arrays.fill(cost, FAR);
    for (int c = 0; c < flow.arcsOfCohort.length; c++) {
      if (cohorts.test(c)) {
        cost[topics + c] = 0;
        arcInto[topics + c] = -1;
        add(topics + c);
      }
    }
    search();
  }

  /** Whether a path leads to the cohort from another. */
  boolean reaches(int cohort) {
    return cost[topics + cohort] != FAR && arcInto[topics + cohort] >= 0;
  }

  /**
   * Where the path to the cohort begins; -1 if it does not cost any more what the search found. As
   * long as it does it is a cheapest one: a push makes no other path cheaper, since costs grow with
   * the units, and takes back on the way only what it has paid.
   */
  int source(int cohort) {
    long now = 0;
    int node = topics + cohort;
    while (arcInto[node] >= 0) {
      int arc = arcInto[node];
      if (node >= topics) {
        now -= flow.gain(arc);
        node = flow.arcTopic[arc];
      } else {
        if (flow.units[arc] == 0) {
          return -1;
        }
        now += flow.loss(arc);
        node = topics + flow.arcCohort[arc];
      }
    }
    return now == cost[topics + cohort] ? node - topics : -1;
  }

  long cost(int cohort) {
    return cost[topics + cohort];
  }

  private void search() {
    while (waiting > 0) {
      int node = queue[head];
      head = head + 1 == queue.length ? 0 : head + 1;
      waiting--;
      waits[node] = false;
      if (node < topics) {
        for (int arc : flow.arcsOfTopic[node]) {
          relax(topics + flow.arcCohort[arc], cost[node] - flow.gain(arc), arc);
        }
      } else {
        for (int arc : flow.arcsOfCohort[node - topics]) {
          if (flow.units[arc] > 0) {
            relax(flow.arcTopic[arc], cost[node] + flow.loss(arc), arc);
          }
        }
      }
    }
  }

  private void relax(int node, long newCost, int arc) {
    if (newCost < cost[node]) {
      cost[node] = newCost;
      arcInto[node] = arc;
      if (!waits[node]) {
        add(node);
      }
    }
  }

  private void add(int node) {
    int tail = head + waiting;
    queue[tail < queue.length ? tail : tail - queue.length] = node;
    waiting++;
    waits[node] = true;
  }

  /** How many units can go to the cohort for the same cost each. */
  int limit(int cohort) {
    int limit = Integer.MAX_VALUE;
    int node = topics + cohort;
    while (arcInto[node] >= 0) {
      int arc = arcInto[node];
      boolean toCohort = node >= topics;
      limit = Math.min(limit, toCohort ? flow.gainUnits(arc) : flow.lossUnits(arc));
      node = toCohort ? flow.arcTopic[arc] : topics + flow.arcCohort[arc];
    }
    return limit;
  }

  /** Passes on that many units, and the loads change. */
  void push(int cohort, int amount) {
    flow.load[cohort] += amount;
    int node = topics + cohort;
    while (arcInto[node] >= 0) {
      int arc = arcInto[node];
      boolean toCohort = node >= topics;
      flow.units[arc] += toCohort ? amount : -amount;
      node = toCohort ? flow.arcTopic[arc] : topics + flow.arcCohort[arc];
    }
    flow.load[node - topics] -= amount;
  }
}
