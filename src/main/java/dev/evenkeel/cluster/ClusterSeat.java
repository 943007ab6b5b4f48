package dev.evenkeel.cluster;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The automata of this JVM's members of clusters, by their ids. Whoever joins through one clustered
 * Vert.x is one member, so they share them: a message that wakes a waiter goes to one of those who
 * listen under the member's name, and numbers of listeners must not be given twice.
 */
final class ClusterSeat {
  private static final Map<String, HazelcastAutomata> SEATS = new ConcurrentHashMap<>();

  private ClusterSeat() {}

  static HazelcastAutomata take(String id, Supplier<HazelcastAutomata> make) {
    return SEATS.computeIfAbsent(id, none -> make.get());
  }

  /** Null if there is no such member here. */
  static HazelcastAutomata of(String id) {
    return SEATS.get(id);
  }

  /** The member is gone for good. */
  static void leave(String id) {
    HazelcastAutomata last = SEATS.remove(id);
    if (last != null) {
      last.close();
    }
  }
}
