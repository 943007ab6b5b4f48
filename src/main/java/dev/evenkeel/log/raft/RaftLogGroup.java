package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.DISK_FULL;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;

/** One log group on a Raft division. */
final class RaftLogGroup implements LogGroup, StateAdapter.GroupEvents {
  /** Without room on the disk larger entries are refused: progress and retention go on. */
  private static final int SMALL_BYTES = 4_096;

  private final String name;
  private final RaftGroupId id;
  private final Executor executor;
  private final RaftLogNode node;
  private final RaftDivision division;
  private final RaftElections elections;
  private final RaftVoters voters;
  private final CopyRepair repair;
  private final RaftCopy copy;
  private final Submitter submitter;
  private final ReplicaWatch replicas;

  /**
   * @param executor one thread, which calls listeners and sends requests other than appends
   */
  RaftLogGroup(
      DamagedCopy damage,
      DroppedCopy dropped,
      UUID id,
      StateAdapter adapter,
      RaftLogNode node,
      Executor executor) {
    name = damage.group();
    this.id = RaftGroupId.valueOf(id);
    this.node = node;
    this.executor = executor;
    division = new RaftDivision(name, this.id, RaftPeerId.valueOf(node.voter()), executor);
    elections = new RaftElections(name, node.nodeId(), division, executor);
    voters = new RaftVoters(division, elections, node::peer);
    repair = new CopyRepair(damage, elections.eligibility(), node, executor);
    copy = new RaftCopy(node.directory(this.id), division, elections, repair, dropped, executor);
    submitter = new Submitter("log-submit-" + name, division);
    replicas =
        new ReplicaWatch(
            voters,
            CompletableFuture.delayedExecutor(
                ReplicaWatch.PAUSE_MILLIS, TimeUnit.MILLISECONDS, Runnable::run));
    use(adapter);
  }

  RaftGroupId id() {
    return id;
  }

  @Override
  public String name() {
    return name;
  }

  RaftDivision division() {
    return division;
  }

  @Override
  public RaftElections elections() {
    return elections;
  }

  @Override
  public RaftVoters voters() {
    return voters;
  }

  @Override
  public RaftCopy copy() {
    return copy;
  }

  /** Takes an adapter for the next division. */
  void use(StateAdapter next) {
    copy.use(next);
    next.tell(this);
  }

  /** The division runs; appends may go to it. */
  void started(RaftServer server, RaftServer.Division running) {
    copy.started();
    division.started(server, running);
    leadershipMayHaveChanged();
  }

  /** The division is about to end; there may be another later. */
  void closed() {
    division.closed();
    leadershipMayHaveChanged();
  }

  /** Answers all pending appends, and takes no more. */
  void stop(String reason) {
    division.stop(reason);
    submitter.stop(reason);
  }

  /** Finds out how the copy is, and who leads. On the executor only. */
  void refresh() {
    copy.look();
    elections.look();
  }

  @Override
  public CompletableFuture<ByteBuffer> append(ByteBuffer head, List<ByteBuffer> body) {
    long bytes = head.remaining();
    for (ByteBuffer part : body) {
      bytes += part.remaining();
    }
    if (bytes > head.remaining() && copy.adapter().state().bodies() == null) {
      throw new IllegalArgumentException("entries of the log group " + name + " have no bodies");
    }
    try {
      check(bytes);
      copy.adapter().state().admit(head);
    } catch (RefusedException refused) {
      return CompletableFuture.failedFuture(refused);
    }
    return submitter.submit(new PendingAppend(head, body));
  }

  private void check(long bytes) {
    if (bytes > RaftSettings.CONTENT_BYTES_MAX) {
      throw TOO_LARGE.error(
          "an entry of %s bytes; at most %s are allowed", bytes, RaftSettings.CONTENT_BYTES_MAX);
    }
    String refusing = division.refusing();
    if (refusing != null) {
      throw UNAVAILABLE.error(refusing);
    }
    String noRoom = node.noRoom();
    if (noRoom != null && bytes > SMALL_BYTES) {
      throw DISK_FULL.error(noRoom);
    }
  }

  @Override
  public CompletableFuture<Replicas> awaitReplicas(long index, long timeoutMillis) {
    return replicas.await(index < 0 ? status().commitIndex() : index, timeoutMillis);
  }

  @Override
  public LogStatus status() {
    RaftServer.Division running = division.running();
    if (running == null) {
      return new LogStatus(name, leadership(), -1, -1, Map.of(), 0, 0);
    }
    Map<String, Long> matchIndex = new HashMap<>();
    voters.followers().forEach(follower -> matchIndex.put(follower.node(), follower.matchIndex()));
    return new LogStatus(
        name,
        leadership(),
        running.getRaftLog().getLastCommittedIndex(),
        running.getInfo().getLastAppliedIndex(),
        matchIndex,
        submitter.pendingEntries(),
        submitter.pendingBytes());
  }

  @Override
  public void leadershipMayHaveChanged() {
    executor.execute(this::refresh);
  }

  @Override
  public void failed(Throwable cause) {
    node.fail(cause);
  }

  @Override
  public void giveUpCopy(String damage) {
    repair.fail(damage);
  }

  @Override
  public boolean hasFailed() {
    return node.hasFailed();
  }

  @Override
  public boolean isVoteless() {
    return copy.isVoteless();
  }

  @Override
  public void snapshotDue() {
    copy.snapshot();
  }
}
