package dev.evenkeel.log.raft;

import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogCopy;
import dev.evenkeel.log.StartAgainException;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs this node's copy of one log group (ADR 30): notes damage, gives the copy up by ending the
 * node, and after the next start finds out when the new copy is whole.
 */
final class CopyRepair {
  private static final Logger LOG = LoggerFactory.getLogger(CopyRepair.class);

  /** An election takes seconds. */
  private static final long NOBODY_LEADS_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final DamagedCopy copy;
  private final Eligibility eligibility;
  private final RaftLogNode node;
  private final Executor executor;
  private final CopyProgress progress = new CopyProgress();
  private final LongAdder copied = new LongAdder();

  // On the executor only.
  private long lookedFirstNanos = -1;
  private boolean saidThatNobodyLeads;

  /**
   * @param executor one thread that may wait for the disk
   */
  CopyRepair(DamagedCopy copy, Eligibility eligibility, RaftLogNode node, Executor executor) {
    this.copy = copy;
    this.eligibility = eligibility;
    this.node = node;
    this.executor = executor;
  }

  DamagedCopy copy() {
    return copy;
  }

  /** Times that a copy became whole again in this run. */
  long copied() {
    return copied.sum();
  }

  /** What earlier runs noted counts from now on. */
  void started() {
    eligibility.set(Reason.DAMAGED, copy.detail());
  }

  /** From any thread, which does not wait for the disk. */
  void damaged(String detail) {
    if (copy.note(detail)) {
      eligibility.set(Reason.DAMAGED, copy.detail());
      executor.execute(copy::write);
    }
  }

  /** Ends the node at once: it cannot go on with this copy. Waits for the disk. */
  void fail(String damage) {
    node.fail(giveUp(damage));
  }

  /** Sees to it that the next start sets the copy aside. */
  private Exception giveUp(String damage) {
    String line = "log group " + copy.group() + ": this node's copy is damaged: " + damage;
    if (node.mayCopyAnew()) {
      try {
        copy.makeDue(damage);
        return new StartAgainException(line + "; the next start copies it anew");
      } catch (IOException e) {
        LOG.warn("log group {}: the damage cannot be noted", copy.group(), e);
      }
    }
    return new IllegalStateException(line);
  }

  /**
   * Gives a damaged copy up if another node leads. Then the node ends as if it were asked to.
   *
   * @param leader node id, or null
   */
  void giveUpIfLed(String leader) {
    if (copy.detail() != null
        && !copy.isVoteless()
        && node.mayCopyAnew()
        && leader != null
        && !leader.equals(node.nodeId())) {
      executor.execute(() -> node.end(giveUp(copy.detail())));
    }
  }

  /**
   * Looks whether the new copy is whole. On the executor only.
   *
   * @param leader node id, or null
   * @param whole the new copy
   */
  void look(RaftServer.Division running, String leader, LogCopy whole, long nowNanos) {
    if (!copy.copying()) {
      return;
    }
    if (leader == null) {
      sayThatNobodyLeads(nowNanos);
    } else if (progress.isWhole(running, copy.formerTerm(), whole.snapshotIndex())
        && whole.caughtUp()) {
      try {
        copy.finished();
        copied.increment();
        eligibility.set(Reason.DAMAGED, null);
      } catch (IOException e) {
        LOG.warn("log group {}: what is left of the damaged copy stays", copy.group(), e);
      }
    }
  }

  private void sayThatNobodyLeads(long nowNanos) {
    lookedFirstNanos = lookedFirstNanos < 0 ? nowNanos : lookedFirstNanos;
    if (!saidThatNobodyLeads && nowNanos - lookedFirstNanos > NOBODY_LEADS_NANOS) {
      saidThatNobodyLeads = true;
      LOG.error(
          "log group {}: nobody leads it, and this node has no vote because its copy was damaged."
              + " If the other nodes are up, most copies are damaged: stop all nodes and restore"
              + " their data directories from a backup. The files of this node's copy are in {}",
          copy.group(),
          copy.files());
    }
  }
}
