package dev.evenkeel.cluster;

import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.dedup.SharedAutomata;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** The dedup automata in the cluster's map, as a member of the cluster uses them. */
public interface ClusterAutomata extends SharedAutomata {
  /**
   * The result of a sweep.
   *
   * @param evicted how many claims it removed
   * @param unknown the processes that have claims, and of which nothing is known
   * @param any whether there were claims at all
   */
  record Sweep(int evicted, Set<String> unknown, boolean any) {}

  /**
   * Removes the claims of processes in {@code ended} and of workers that take too long, and tells
   * the new heads.
   *
   * @param alive processes that are known to live
   * @param services those of {@code ended} whose claims of services are removed, too
   * @param placedMillisMax only if they have had their places since this time or longer, by {@link
   *     #nowMillis}: a process that was taken for ended may be back, with other claims
   */
  CompletionStage<Sweep> sweep(
      Set<String> alive, Set<String> ended, Set<String> services, long placedMillisMax);

  /** As above, with all claims of those that have ended. */
  default CompletionStage<Sweep> sweep(Set<String> alive, Set<String> ended) {
    return sweep(alive, ended, ended, Long.MAX_VALUE);
  }

  /**
   * Keys that are held for {@code heldMillisMin} or longer: some of them if there are many. Every
   * node must be of a version that has this call.
   */
  CompletionStage<List<KeyInFlight>> heldFor(long heldMillisMin);
}
