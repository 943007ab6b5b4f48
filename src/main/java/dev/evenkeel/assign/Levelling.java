package dev.evenkeel.assign;

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
  private final Flow flow;
  private final Paths paths;

  Levelling(Flow flow) {
    this.flow = flow;
    paths = new Paths(flow);
  }

  /** Places what has no owner, each where load is least. */
  void fill() {
    for (int topic = 0; topic < flow.unplaced.length; topic++) {
      while (flow.unplaced[topic] > 0) {
        paths.fromTopic(topic);
        int to = leastLoaded(-1);
        // In large pieces; what thereby goes too far, the exchanges bring back.
        int piece = Math.max(room(to), flow.unplaced[topic] / (2 * flow.load.length));
        int amount = Math.min(paths.limit(to), Math.min(piece, flow.unplaced[topic]));
        paths.push(to, amount);
      }
    }
  }

  private int room(int cohort) {
    return (flow.least(cohort, 0) + 1) * flow.size[cohort] - flow.load[cohort];
  }

  /** Exchanges until nothing gets more level, and nothing equally level keeps more. */
  void exchange() {
    int cohorts = flow.load.length;
    int cohort = 0;
    int inVain = 0;
    while (inVain < cohorts) {
      if (exchangeFrom(cohort)) {
        inVain = 0;
      } else {
        inVain++;
        cohort = (cohort + 1) % cohorts;
      }
    }
  }

  private boolean exchangeFrom(int from) {
    if (flow.load[from] == 0) {
      return false;
    }
    paths.fromCohort(from);
    int to = leastLoaded(from);
    if (to < 0) {
      return false;
    }
    int drop = flow.most(from, 0) - flow.least(to, 0);
    if (drop < 1 || drop == 1 && paths.cost(to) >= 0) {
      return false;
    }
    paths.push(to, amount(from, to, Math.min(drop, 2)));
    return true;
  }

  /** Whether a chain of shards could move from one cohort to another and make load more even. */
  boolean canLevel() {
    for (int from = 0; from < flow.load.length; from++) {
      if (flow.load[from] > 0) {
        paths.fromCohort(from);
        int to = leastLoaded(from);
        if (to >= 0 && flow.most(from, 0) - flow.least(to, 0) >= 2) {
          return true;
        }
      }
    }
    return false;
  }

  /** Of the cohorts in reach, other than one, the least loaded; of those, the cheapest. */
  private int leastLoaded(int other) {
    int best = -1;
    for (int c = 0; c < flow.load.length; c++) {
      if (c != other && paths.reaches(c) && (best < 0 || isBetter(c, best))) {
        best = c;
      }
    }
    return best;
  }

  private boolean isBetter(int a, int b) {
    int leastA = flow.least(a, 0);
    int leastB = flow.least(b, 0);
    return leastA != leastB ? leastA < leastB : paths.cost(a) < paths.cost(b);
  }

  /** The most units of which even the last one finds a drop of at least {@code dropMin}. */
  private int amount(int from, int to, int dropMin) {
    int low = 1;
    int high = Math.min(paths.limit(to), flow.load[from]);
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
