package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;

/**
 * Keeps assignments in their order, however they come in. The terms of a dispatcher only grow,
 * unless the cluster began anew with empty disks: then nothing of the old order is heard any more.
 */
final class LatestAssignment {
  /** After so long without one that counts, an older one does: its dispatcher is the only one. */
  static final long SILENT_MILLIS = 30_000;

  private final String instance;
  private boolean any;
  private long term;
  private long revision;
  private long takenMillis;

  /**
   * @param instance the run of the member that they must be for
   */
  LatestAssignment(String instance) {
    this.instance = instance;
  }

  /** Whether it counts: it is ours, and not older than the last that counted. */
  boolean takes(Assignment assignment, long now) {
    boolean same = assignment.term() == term && assignment.revision() == revision;
    boolean silent = now - takenMillis >= SILENT_MILLIS;
    if (!instance.equals(assignment.instance())
        || any && !same && !silent && !assignment.laterThan(term, revision)) {
      return false;
    }
    any = true;
    takenMillis = now;
    term = assignment.term();
    revision = assignment.revision();
    return true;
  }
}
