package dev.evenkeel.client.internal.consume;

/**
 * The states of a shard that a consumer owns at one epoch.
 *
 * <pre>
 * from       on                                               to
 * (none)     an assignment names the shard                    ATTACHING
 * ATTACHING  the lease is read: it is ours                    ASSIGNING, or RELEASING if it drains
 * ASSIGNING  onAssign has ended well                          RUNNING
 * ASSIGNING  no onAssign is under way, and the shard drains   RELEASING, without onRelease
 * RUNNING    the shard drains, or the consumer closes         DRAINING
 * DRAINING   no handler runs, and all below the highest       RELEASING
 *            finished message is finished, too; or that
 *            cannot be waited for any longer
 * DRAINING   the drain was called off                         RUNNING
 * RELEASING  onRelease has ended, and the release is taken    RELEASED
 * any        an assignment does not name it at that epoch,    LOST
 *            or an answer is FENCED, or the lease read shows
 *            another owner
 * </pre>
 *
 * A hand-over that is called off in RELEASING is carried out all the same: the handler has given
 * its state away already.
 */
enum OwnedShardState {
  /** Reads the lease: where to begin, with which state. */
  ATTACHING,
  /** Awaits the handler's onAssign. */
  ASSIGNING,
  /** Pulls messages and hands them out. */
  RUNNING,
  /**
   * Pulls no more. What lies above all that was begun is dropped; what lies below is finished, so
   * that nothing comes twice to the next owner.
   */
  DRAINING,
  /** Awaits the handler's onRelease, then the log's answer to the release. */
  RELEASING,
  /** Given away: the log has taken the release. */
  RELEASED,
  /** Gone without a release; no commit is sent any more. */
  LOST;

  boolean over() {
    return this == RELEASED || this == LOST;
  }
}
