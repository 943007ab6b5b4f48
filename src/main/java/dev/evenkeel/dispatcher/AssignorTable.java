package dev.evenkeel.dispatcher;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Assignors;
import dev.evenkeel.assign.Plan;
import dev.evenkeel.assign.Planner;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Shard;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The assignors of this node by name. It counts each plan, and checks the plans of users' own
 * assignors. If one fails or breaks the contract, that is logged once and the default assignor
 * plans instead, so that no shard stays without an owner.
 */
final class AssignorTable {
  private static final Logger LOG = LoggerFactory.getLogger(AssignorTable.class);

  /** A broken assignor may have another message each time. */
  private static final int REPORTED_MAX = 100;

  private final Map<String, Assignor> byName;
  private final Set<String> reported = new HashSet<>();
  private final Runnable planned;

  /**
   * @param byName must have the default
   * @param planned is run with each plan
   */
  AssignorTable(Map<String, Assignor> byName, Runnable planned) {
    this.byName = Map.copyOf(byName);
    this.planned = planned;
  }

  /** Logs which of users' own assignors cannot be used. */
  static void logProblems() {
    Assignors.problems().forEach(problem -> LOG.warn("an assignor is left out: {}", problem));
  }

  /** The names that groups may ask for. */
  Set<String> names() {
    return byName.keySet();
  }

  /** The assignor of that name, or null. */
  Assignor named(String name) {
    Assignor assignor = byName.get(name);
    if (assignor == null) {
      report(
          "assignor "
              + name
              + ": this node does not know it; planned by "
              + GroupInfo.ASSIGNOR_DEFAULT);
      return null;
    }
    return new Assignor() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Map<Shard, String> assign(Snapshot snapshot) {
        planned.run();
        Plan plan = Planner.plan(snapshot, assignor);
        if (plan.problem() != null) {
          report(plan.problem());
        }
        return plan.targets();
      }
    };
  }

  private synchronized void report(String problem) {
    if (reported.size() < REPORTED_MAX && reported.add(problem)) {
      LOG.warn("{}", problem);
    }
  }
}
