package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.NewestMap;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * The members of the cluster, in which consumers run, and the last of those that left. Of sessions,
 * in which most consumers run, it only knows the last of those that ended.
 */
final class KnownClusterMembers {
  private static final int DEPARTED_MAX = 10_000;

  private final Set<String> departed = Collections.newSetFromMap(new NewestMap<>(DEPARTED_MAX));
  private Set<String> present;

  KnownClusterMembers(Set<String> present) {
    this.present = Set.copyOf(present);
  }

  /**
   * Takes the cluster's members as they are now.
   *
   * @return those that have left since the last call
   */
  Set<String> present(Set<String> ids) {
    Set<String> gone = new HashSet<>(present);
    gone.removeAll(ids);
    present = Set.copyOf(ids);
    departed.removeAll(ids);
    departed.addAll(gone);
    return gone;
  }

  void sessionEnded(String id) {
    departed.add(id);
  }

  /** The session has a connection after all. */
  void sessionFound(String id) {
    departed.remove(id);
  }

  /**
   * Whether the cluster member has left, or the session has ended. One that was never seen may be
   * new.
   */
  boolean hasLeft(String id) {
    return departed.contains(id) && !present.contains(id);
  }
}
