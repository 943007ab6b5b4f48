package dev.evenkeel.assign;

import java.util.Arrays;

/**
 * Cheapest ways to pass one shard on: from a topic, or a cohort that gives one up, over cohorts
 * that take one shard and give another, to each cohort that can be reached. Costs are what kept
 * shards and hand-overs are worth that the way gives up, less those that it wins back.
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

  void fromTopic(int topic) {
    search(topic);
  }

  void fromCohort(int cohort) {
    search(topics + cohort);
  }

  boolean reaches(int cohort) {
    return cost[topics + cohort] != FAR;
  }

  long cost(int cohort) {
    return cost[topics + cohort];
  }

  private void search(int start) {
    Arrays.fill(cost, FAR);
    cost[start] = 0;
    arcInto[start] = -1;
    add(start);
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
    if (node < topics) {
      flow.unplaced[node] -= amount;
    } else {
      flow.load[node - topics] -= amount;
    }
  }
}
