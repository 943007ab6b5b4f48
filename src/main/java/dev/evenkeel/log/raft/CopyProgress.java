package dev.evenkeel.log.raft;

import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Finds out whether a copy that began empty has everything again that the former one of this node
 * had acknowledged. It has when it has applied, and has on disk, an entry of a term above all in
 * which the former copy existed: the leader of that term was elected without this node, by a
 * majority that met every majority of which the former copy was a part.
 */
final class CopyProgress {
  /** The first such entry, or a later one; -1: not applied yet. */
  private long goal = -1;

  /**
   * @param formerTerm the highest term in which the former copy can have acknowledged entries
   * @param snapshotIndex last entry of the newest snapshot on disk, or -1
   */
  boolean isWhole(RaftServer.Division division, long formerTerm, long snapshotIndex) {
    TermIndex applied = division.getStateMachine().getLastAppliedTermIndex();
    if (goal < 0 && applied != null && applied.getTerm() > formerTerm) {
      goal = applied.getIndex();
    }
    return goal >= 0 && Math.max(snapshotIndex, division.getRaftLog().getFlushIndex()) >= goal;
  }
}
