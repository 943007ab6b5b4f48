package dev.evenkeel.log.raft;

import dev.evenkeel.log.Elections;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogCopy;
import dev.evenkeel.log.SnapshotTransfer;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This node's copy of a log group, and whether the node may vote with what it has. */
final class RaftCopy implements LogCopy {
  private static final Logger LOG = LoggerFactory.getLogger(RaftCopy.class);

  private final String group;
  private final Path directory;
  private final RaftDivision division;
  private final Elections elections;
  private final CopyRepair repair;
  private final DroppedCopy dropped;
  private final Executor executor;
  private final ReadFailures readFailures = new ReadFailures(this::damaged);
  private volatile StateAdapter adapter;
  private volatile CatchUp catchUp = new CatchUp();

  /** The log on this node has entries, whether they are known to be committed or not. */
  private volatile boolean holdsEntries;

  /**
   * @param directory where the engine keeps the log group
   * @param executor one thread that may wait for the disk
   */
  RaftCopy(
      Path directory,
      RaftDivision division,
      Elections elections,
      CopyRepair repair,
      DroppedCopy dropped,
      Executor executor) {
    this.group = repair.copy().group();
    this.directory = directory;
    this.division = division;
    this.elections = elections;
    this.repair = repair;
    this.dropped = dropped;
    this.executor = executor;
  }

  /** Takes an adapter for the next division. */
  void use(StateAdapter next) {
    adapter = next;
    catchUp = new CatchUp();
  }

  StateAdapter adapter() {
    return adapter;
  }

  /** What is known to be damaged. */
  DamagedCopy damage() {
    return repair.copy();
  }

  /** What has become of the copy since this node lost its vote. */
  DroppedCopy dropped() {
    return dropped;
  }

  ReadFailures readFailures() {
    return readFailures;
  }

  /** The division runs: what earlier runs noted counts from now on. */
  void started() {
    repair.started();
  }

  /** Whether this node must not vote, nor ask for votes. */
  boolean isVoteless() {
    return dropped.isVoteless() || damage().isVoteless();
  }

  /**
   * Whether this node must keep out of an election of which the engine has just asked or been
   * asked.
   */
  boolean keepsOut() {
    return damage().keepsOut() || dropped.isVoteless();
  }

  /**
   * The node is about to acknowledge entries, which are on its disk. If they gave it its vote
   * again, this must be noted first: from then on, others count what it has acknowledged.
   */
  void acknowledges() throws IOException {
    RaftServer.Division running = division.running();
    if (dropped.isVoteless() && running != null) {
      voteIfGiven(running, Long.MAX_VALUE);
    }
  }

  /**
   * @param known up to here, entries are known to be on the disk
   */
  private void voteIfGiven(RaftServer.Division running, long known) throws IOException {
    RaftConfiguration now = running.getRaftConf();
    if (dropped.isPassed(now.getLogEntryIndex())
        && now.getLogEntryIndex() <= known
        && now.getCurrentPeers().stream().anyMatch(division::isSelf)) {
      dropped.voting();
      LOG.info("log group {}: this node has its vote again", group);
    }
  }

  /** Looks how far it is. On the executor only. */
  void look() {
    SnapshotTransfer transfer = snapshotTransfer();
    elections.eligibility().set(Reason.FAR_BEHIND, transfer.from() == null ? null : line(transfer));
    RaftServer.Division running = division.running();
    if (running != null) {
      repair.look(running, elections.leadership().leader(), this, System.nanoTime());
      lookAtVote(running);
    }
  }

  private static String line(SnapshotTransfer transfer) {
    return "%s of %s MiB of a snapshot have come from %s"
        .formatted(transfer.bytesHere() >> 20, transfer.bytesTotal() >> 20, transfer.from());
  }

  /** Lets the engine take part in elections again, once nothing speaks against it. */
  private void lookAtVote(RaftServer.Division running) {
    if (!adapter.keptOut()) {
      return;
    }
    try {
      voteIfGiven(running, adapter.state().appliedIndex());
    } catch (IOException e) {
      LOG.warn("log group {}: this node still has no vote: {}", group, e.toString());
    }
    if (!isVoteless()) {
      adapter.letIn();
    }
  }

  /** Index of the last entry that this node has; -1: none. */
  long lastIndex() {
    RaftServer.Division running = division.running();
    TermIndex last = running == null ? null : lastEntry(running);
    return last == null ? adapter.state().appliedIndex() : last.getIndex();
  }

  /** The last entry of its log; null: there is none, or the engine has closed the log. */
  private static TermIndex lastEntry(RaftServer.Division running) {
    try {
      return running.getRaftLog().getLastEntryTermIndex();
    } catch (IllegalStateException closed) {
      return null;
    }
  }

  /** What is known to be flushed here and committed, so that it never leaves the log; or -1. */
  long flushedIndex() {
    RaftServer.Division running = division.running();
    return running == null
        ? -1
        : Math.min(running.getRaftLog().getFlushIndex(), adapter.applied().getIndex());
  }

  @Override
  public boolean exists() {
    RaftServer.Division running = division.running();
    if (running != null && running.getInfo().isAlive()) {
      holdsEntries = lastEntry(running) != null;
    }
    return holdsEntries || adapter.state().appliedIndex() >= 0;
  }

  @Override
  public boolean caughtUp() {
    RaftServer.Division running = division.running();
    return catchUp.done() || running != null && catchUp.look(running);
  }

  @Override
  public long firstIndex() {
    RaftServer.Division running = division.running();
    if (running == null) {
      return 0;
    }
    long first = running.getRaftLog().getStartIndex();
    return first < 0 ? running.getRaftLog().getNextIndex() : first;
  }

  @Override
  public int fileBytes() {
    return RaftSettings.FILE_BYTES_MAX;
  }

  @Override
  public CompletableFuture<Long> snapshot() {
    return division.snapshot();
  }

  @Override
  public long snapshotIndex() {
    return adapter.snapshotIndex();
  }

  @Override
  public CompletableFuture<Void> dropFormerSnapshots() {
    return CompletableFuture.runAsync(adapter::dropFormerSnapshots, executor);
  }

  @Override
  public SnapshotTransfer snapshotTransfer() {
    return adapter.install().transfer();
  }

  @Override
  public void damaged(String detail) {
    repair.damaged(detail);
  }

  @Override
  public void checkFiles(ByteRate rate) throws IOException {
    String damage = LogFilesCheck.damage(directory.resolve("current"), rate);
    if (damage != null) {
      damaged(damage);
    }
  }

  @Override
  public void copyAnew() {
    repair.giveUpIfLed(elections.leadership().leader());
  }

  @Override
  public long copiedAnew() {
    return repair.copied();
  }
}
