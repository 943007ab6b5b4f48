package dev.evenkeel.assign;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Chooses the cohort of each shard as a flow says. Shards leave a cohort from the members that own
 * most, because those would have to give them up anyway.
 */
final class Transfer {
  private final Roster roster;
  private final Cohorts cohorts;
  private final Flow flow;
  private final int[] loads;
  private final int[] cohortOf;

  /** Of the topic at hand: the arc to each cohort. */
  private final int[] arcTo;

  /** Owned shards on each arc that must leave, and shards from elsewhere that it takes. */
  private final int[] leave;

  private final int[] room;

  private Transfer(Roster roster, Cohorts cohorts, Flow flow) {
    this.roster = roster;
    this.cohorts = cohorts;
    this.flow = flow;
    loads = roster.loads();
    cohortOf = new int[roster.shards.length];
    arcTo = new int[cohorts.count()];
    leave = new int[flow.units.length];
    room = new int[flow.units.length];
    for (int arc = 0; arc < leave.length; arc++) {
      int kept = Math.min(flow.owned[arc], flow.units[arc]);
      leave[arc] = flow.owned[arc] - kept;
      room[arc] = flow.units[arc] - kept;
    }
  }

  /**
   * @return the cohort of each shard
   */
  static int[] cohorts(Roster roster, Cohorts cohorts, Flow flow) {
    Transfer transfer = new Transfer(roster, cohorts, flow);
    for (int topic = 0; topic < roster.topics(); topic++) {
      transfer.choose(topic);
    }
    return transfer.cohortOf;
  }

  private void choose(int topic) {
    boolean changes = false;
    Arrays.fill(arcTo, -1);
    for (int arc : flow.arcsOfTopic[topic]) {
      arcTo[flow.arcCohort[arc]] = arc;
      changes |= room[arc] > 0;
    }
    for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
      int owner = roster.owner[s];
      cohortOf[s] = owner == Roster.NOBODY ? -1 : cohorts.of[owner];
    }
    if (changes) {
      followHandovers(topic);
      for (int arc : flow.arcsOfTopic[topic]) {
        if (leave[arc] > 0) {
          takeFromMostLoaded(topic, flow.arcCohort[arc], leave[arc]);
        }
      }
      fillRoom(topic);
    }
  }

  /** Hand-overs under way go where they are meant to, those with the least lag first. */
  private void followHandovers(int topic) {
    List<Integer> underWay = new ArrayList<>();
    for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
      if (roster.heir[s] != Roster.NOBODY && cohortOf[s] != cohorts.of[roster.heir[s]]) {
        underWay.add(s);
      }
    }
    underWay.sort(roster::compareToShed);
    for (int s : underWay) {
      int to = cohorts.of[roster.heir[s]];
      boolean free = cohortOf[s] == -1;
      if (room[arcTo[to]] > 0 && (free || leave[arcTo[cohortOf[s]]] > 0)) {
        if (!free) {
          leave[arcTo[cohortOf[s]]]--;
          loads[roster.owner[s]]--;
        }
        room[arcTo[to]]--;
        cohortOf[s] = to;
      }
    }
  }

  private void takeFromMostLoaded(int topic, int cohort, int count) {
    List<Integer> candidates = new ArrayList<>();
    for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
      if (cohortOf[s] == cohort && isOwnedIn(cohort, s)) {
        candidates.add(s);
      }
    }
    candidates.sort(roster::compareToShed);
    Map<Integer, Deque<Integer>> byOwner = new HashMap<>();
    for (int s : candidates) {
      byOwner.computeIfAbsent(roster.owner[s], owner -> new ArrayDeque<>()).add(s);
    }
    PriorityQueue<Deque<Integer>> givers =
        new PriorityQueue<>(
            (a, b) -> {
              int loadA = loads[roster.owner[a.peek()]];
              int loadB = loads[roster.owner[b.peek()]];
              return loadA != loadB
                  ? Integer.compare(loadB, loadA)
                  : roster.compareToShed(a.peek(), b.peek());
            });
    givers.addAll(byOwner.values());
    for (int i = 0; i < count; i++) {
      Deque<Integer> giver = givers.poll();
      int s = giver.poll();
      cohortOf[s] = -1;
      loads[roster.owner[s]]--;
      if (!giver.isEmpty()) {
        givers.add(giver);
      }
    }
  }

  private boolean isOwnedIn(int cohort, int s) {
    return roster.owner[s] != Roster.NOBODY && cohorts.of[roster.owner[s]] == cohort;
  }

  /** Shards without a cohort go to the cohorts with room, in turn. */
  private void fillRoom(int topic) {
    int[] arcs = flow.arcsOfTopic[topic];
    int next = 0;
    for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
      if (cohortOf[s] == -1) {
        while (room[arcs[next]] == 0) {
          next = (next + 1) % arcs.length;
        }
        room[arcs[next]]--;
        cohortOf[s] = flow.arcCohort[arcs[next]];
        next = (next + 1) % arcs.length;
      }
    }
  }
}
