package dev.evenkeel.client.internal.consume;

/**
 * The states of a shard that a consumer owns at one epoch.
 *
 * <pre>
 * from       on                                               to
 * (none)     an assignment names the shard                    ATTACHING
 * ATTACHING  the lease is read: it is ours                    ASSIGNING, or RELEASING if it drains
 * ASSIGNING  onAssign has succeeded                           RUNNING
 * ASSIGNING  the shard drains, and no onAssign is under way   RELEASING, without onRelease
 * RUNNING    the shard drains, or the consumer closes         DRAINING
 * DRAINING   no handler runs, and all messages below the      RELEASING
 * highest finished one are finished, too; or
 * the time for that is over
 * DRAINING   the drain was called off                         RUNNING
 * RELEASING  onRelease has ended, and the log has released it RELEASED
 * any        an assignment does not name it at that epoch,    LOST
 * or an answer is FENCED, or the lease has
 * another owner
 * </pre>
 *
 * <p>A handover that is called off in RELEASING is carried out all the same, because the handler
 * has already given its state away.
 */
enum OwnedShardState {
  /** Reads the lease: where to begin, with which state. */
  ATTACHING,
  /** Awaits the handler's onAssign. */
  ASSIGNING,
  /** Fetches messages and hands them out. */
  RUNNING,
  /**
   * Fetches no more. Messages above all that have begun are dropped; those below are finished, so
   * that no message comes twice to the next owner.
   */
  DRAINING,
  /** Awaits the handler's onRelease, then the log's answer to the release. */
  RELEASING,
  /** Given away: the log has released it. */
  RELEASED,
  /** Gone without a release: it sends no commit any more. */
  LOST;

  boolean over() {
    return this == RELEASED || this == LOST;
  }
}
