package dev.evenkeel.consumer.core;

import dev.evenkeel.bus.Assignment;

/** Keeps assignments in their order, however they come in. */
final class LatestAssignment {
  private final String instance;
  private boolean any;
  private long term;
  private long revision;

  /**
   * @param instance the run of the member that they must be for
   */
  LatestAssignment(String instance) {
    this.instance = instance;
  }

  /** Whether it counts: it is ours, and not older than the last that counted. */
  boolean takes(Assignment assignment) {
    boolean same = assignment.term() == term && assignment.revision() == revision;
    if (!instance.equals(assignment.instance())
        || any && !same && !assignment.laterThan(term, revision)) {
      return false;
    }
    any = true;
    term = assignment.term();
    revision = assignment.revision();
    return true;
  }
}
