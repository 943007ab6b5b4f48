package dev.evenkeel.dispatcher.core;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/** The cluster's members, in which consumers run, and those that left last. */
final class KnownClusterMembers {
  private static final int DEPARTED_MAX = 10_000;

  private final Set<String> departed = Collections.newSetFromMap(new NewestMap<>(DEPARTED_MAX));
  private Set<String> present;

  KnownClusterMembers(Set<String> present) {
    this.present = Set.copyOf(present);
  }

  /**
   * Takes in who is there now.
   *
   * @return who has gone since
   */
  Set<String> present(Set<String> ids) {
    Set<String> gone = new HashSet<>(present);
    gone.removeAll(ids);
    present = Set.copyOf(ids);
    departed.removeAll(ids);
    departed.addAll(gone);
    return gone;
  }

  /** Whether it was seen and has gone. One never seen may just be new. */
  boolean hasLeft(String id) {
    return departed.contains(id) && !present.contains(id);
  }
}
