package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/**
 * Whether the log may take something of a {@link OwnedShard} at any time, although nothing is
 * awaited any more, because an answer was lost. A later hold of the same epoch cannot know where to
 * begin then: what it reads of the lease may be changed.
 */
final class InDoubtWrites {
  /** Of the last commit, unless a later one was taken: that says all that those before it said. */
  private boolean ofCommit;

  private boolean ofOther;

  boolean exists() {
    return ofCommit || ofOther;
  }

  void commitTaken() {
    ofCommit = false;
  }

  void commitFailed(RefusedException refused) {
    ofCommit |= mayBeTaken(refused);
  }

  /** Outcomes or a release were refused. */
  void failed(RefusedException refused) {
    ofOther |= mayBeTaken(refused);
  }

  /**
   * @param former that of an earlier hold of the same epoch
   */
  void inherit(boolean former) {
    ofOther |= former;
  }

  private static boolean mayBeTaken(RefusedException refused) {
    return refused.refusal() == Refusal.INDETERMINATE;
  }
}
