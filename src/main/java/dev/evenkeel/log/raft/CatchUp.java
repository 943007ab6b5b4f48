package dev.evenkeel.log.raft;

import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Finds out whether a division, at some moment since its start, had applied everything committed
 * until then.
 *
 * <p>A leader has when it is ready. A follower has when it has applied an entry of the leader's
 * term, which all entries of earlier terms precede, and also everything that the leader had
 * committed at the first look: entries of the same term may have been committed while the follower
 * was away.
 */
final class CatchUp {
  private volatile boolean done;

  /** What the leader had committed at the first look; −1: not known yet. */
  private volatile long committed = -1;

  boolean done() {
    return done;
  }

  /** Looks again. On any thread; does not block. */
  boolean look(RaftServer.Division division) {
    DivisionInfo info = division.getInfo();
    if (info.isLeader() ? info.isLeaderReady() : hasApplied(info, division)) {
      done = true;
    }
    return done;
  }

  private boolean hasApplied(DivisionInfo info, RaftServer.Division division) {
    long term = info.getCurrentTerm();
    RaftPeerId leader = info.getLeaderId();
    TermIndex applied = division.getStateMachine().getLastAppliedTermIndex();
    if (leader == null || applied == null || applied.getTerm() != term) {
      return false;
    }
    if (committed < 0) {
      committed = committedBy(leader, division);
    }
    return committed >= 0 && applied.getIndex() >= committed;
  }

  private static long committedBy(RaftPeerId leader, RaftServer.Division division) {
    for (CommitInfoProto info : division.getCommitInfos()) {
      if (RaftPeerId.valueOf(info.getServer().getId()).equals(leader)) {
        return info.getCommitIndex();
      }
    }
    return -1;
  }
}
