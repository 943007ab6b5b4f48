package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;

/**
 * The last assignment that counted. One counts if it is for this run, and not older than the last.
 * The terms of a dispatcher only grow, unless the cluster began anew with empty disks. So after
 * {@link #SILENT_MILLIS} without an assignment an older one counts, too.
 */
final class LastAssignment {
  /** After this time without an assignment that counts, an older one counts. */
  static final long SILENT_MILLIS = 30_000;

  private final String instance;

  /** Its term and revision, and when it came; -1: none did. */
  private long term = -1;

  private long revision = -1;
  private long atMillis;

  /**
   * @param instance the run for which assignments are
   */
  LastAssignment(String instance) {
    this.instance = instance;
  }

  /** Whether this assignment counts; it is the last one then. */
  boolean takes(Assignment assignment, long now) {
    boolean same = numbers(assignment);
    boolean silent = now - atMillis >= SILENT_MILLIS;
    if (!instance.equals(assignment.instance())
        || !same && !silent && !assignment.laterThan(term, revision)) {
      return false;
    }
    atMillis = now;
    term = assignment.term();
    revision = assignment.revision();
    return true;
  }

  /** An answer says that nothing has changed since an assignment. */
  void seenAgain(Assignment unchanged, long now) {
    if (instance.equals(unchanged.instance()) && numbers(unchanged)) {
      atMillis = now;
    }
  }

  /** Whether this is the last one, by its numbers. */
  boolean numbers(Assignment assignment) {
    return assignment.term() == term && assignment.revision() == revision;
  }

  /** Its numbers, for heartbeats. */
  Heartbeat.Seen seen() {
    return new Heartbeat.Seen(term, revision);
  }
}
