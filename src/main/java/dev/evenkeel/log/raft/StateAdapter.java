package dev.evenkeel.log.raft;

import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.log.UnreadableEntryException;
import dev.evenkeel.util.Causes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.impl.ElectionPause;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.LogProtoUtils;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.LifeCycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts a {@link ReplicatedState} under a Raft group. */
final class StateAdapter extends BaseStateMachine {
  private static final Logger LOG = LoggerFactory.getLogger(StateAdapter.class);

  /** After a snapshot failed, as on a full disk, the next is tried after this. */
  private static final long SNAPSHOT_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String group;
  private final ReplicatedState state;
  private final DamagedCopy copy;
  private GroupEvents events;
  private final SnapshotFiles snapshots = new SnapshotFiles(System::nanoTime);
  private final SnapshotExchange exchange;
  private final SnapshotInstall install;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean opened;
  private volatile RaftServer.Division division;
  private volatile boolean keptOut;
  private EntryBodies files;
  private volatile LogBodies bodies;
  private final LogSettings settings;
  private final LogMemory memory;
  private long bytesSinceSnapshot;
  private long entriesSinceSnapshot;
  private volatile TermIndex atStart = TermIndex.valueOf(0, -1);
  private volatile TermIndex applied = TermIndex.valueOf(0, -1);
  private boolean snapshotFailed;
  private long snapshotFailedAtNanos;

  StateAdapter(
      DamagedCopy copy,
      ReplicatedState state,
      LogSettings settings,
      LogMemory memory,
      SnapshotExchange exchange) {
    this.copy = copy;
    this.group = copy.group();
    this.settings = settings;
    this.memory = memory;
    this.state = state;
    this.exchange = exchange;
    install = exchange.install(group, snapshots);
  }

  /** Tells {@code listener} from now on; before the engine starts. */
  void tell(GroupEvents listener) {
    events = listener;
  }

  /** What the adapter tells its group. Called on the engine's threads; must return at once. */
  interface GroupEvents {
    /** The role of this node or the known leader may have changed. */
    void leadershipMayHaveChanged();

    /** This group cannot go on. */
    void failed(Throwable cause);

    /** This node's copy cannot be used any more, so that this group cannot go on. */
    void giveUpCopy(String damage);

    boolean hasFailed();

    /** Whether this node must not vote, nor ask for votes. */
    boolean isVoteless();

    /** A snapshot is due: enough was applied since the last one. */
    void snapshotDue();
  }

  /**
   * Opens the bodies of the entries and the state, and cuts off what a crash left unfinished at the
   * end of log and bodies. Before the engine opens the log: the engine would not let go of a log
   * whose state cannot be opened.
   *
   * @param log the engine's directory of this group; may be missing
   * @param flushedIndex entries up to this one had been flushed and committed, maybe more; -1: not
   *     known of any
   * @throws LogStartException if one of them is missing or damaged
   */
  void openFiles(Path log, long flushedIndex) throws IOException, LogStartException {
    if (state.bodies() != null) {
      openBodies(log, flushedIndex);
    }
    state.open();
    opened = true;
    atStart = TermIndex.valueOf(state.appliedTerm(), state.appliedIndex());
    applied = atStart;
    // The log before the snapshot may be gone, so a live state that lacks a part of it (a lost or
    // deleted directory) cannot be made whole by the log alone.
    SnapshotFiles.Snapshot latest = SnapshotFiles.newest(log.resolve("sm"));
    if (latest != null && state.appliedIndex() < latest.stateIndex()) {
      LOG.info(
          "log group {}: the live state ends at {}, restoring the snapshot {}",
          group,
          state.appliedIndex(),
          latest.directory());
      state.restore(latest.state());
    }
  }

  private void openBodies(Path log, long flushedIndex) throws IOException, LogStartException {
    files = state.bodies();
    files.open(flushedIndex);
    long snapshot = SnapshotFiles.latestIndex(log.resolve("sm"));
    long last =
        new LogTail(group, log.resolve("current"), flushedIndex, snapshot, files::term).cut();
    files.cutAfter(last);
    bodies = new LogBodies(group, files, memory, cause -> events.failed(cannotWrite(cause)));
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId groupId, RaftStorage storage)
      throws IOException {
    super.initialize(server, groupId, storage);
    division = server.getDivision(groupId);
    if (events.isVoteless()) {
      keptOut = true;
      ElectionPause.set(division, true);
    }
    getLifeCycle().startAndTransition(() -> open(storage), IOException.class);
  }

  /** What the engine made of this group; null before it has begun. */
  RaftServer.Division division() {
    return division;
  }

  /** Whether the engine keeps out of elections. */
  boolean keptOut() {
    return keptOut;
  }

  void letIn() {
    keptOut = false;
    ElectionPause.set(division, false);
  }

  /** Ends what the engine has begun for this group, and then could not finish. */
  void closeDivision() throws IOException {
    RaftServer.Division begun = division;
    if (begun != null) {
      begun.close();
    }
  }

  private void open(RaftStorage storage) throws IOException {
    leaveFormerTerm(storage);
    snapshots.init(storage);
    SnapshotFiles.Snapshot latest = snapshots.latest();
    if (latest != null) {
      setLastAppliedTermIndex(latest.position());
    }
    snapshotsChanged();
  }

  /**
   * A leader of a term in which the former copy had acknowledged entries goes on counting these,
   * and never sends them again. So another leader must be elected: the higher term sees to that.
   */
  private void leaveFormerTerm(RaftStorage storage) throws IOException {
    if (copy.copying() && storage.getMetadataFile().getMetadata().getTerm() <= copy.formerTerm()) {
      storage.getMetadataFile().persist(RaftStorageMetadata.valueOf(copy.formerTerm() + 1, null));
    }
  }

  private void snapshotsChanged() {
    exchange.server().changed(group, snapshots);
    install.tidy();
  }

  @Override
  public StateMachine.FollowerEventApi followerEvent() {
    return install;
  }

  SnapshotInstall install() {
    return install;
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return snapshots;
  }

  @Override
  public DataApi data() {
    LogBodies opened = bodies;
    return opened == null ? DataApi.DEFAULT : opened;
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    TransactionContext.Builder transaction =
        TransactionContext.newBuilder().setStateMachine(this).setClientRequest(request);
    if (request.getMessage() instanceof PendingAppend append && !append.body().isEmpty()) {
      transaction.setLogData(append.getContent()).setStateMachineData(append.body());
    }
    return transaction.build();
  }

  /** Of a leader's entry the engine keeps the head until it is applied; the body is kept here. */
  @Override
  public TransactionContext startTransaction(LogEntryProto entry, RaftPeerRole role) {
    return super.startTransaction(LogProtoUtils.removeStateMachineData(entry), role);
  }

  @Override
  public TransactionContext preAppendTransaction(TransactionContext transaction) {
    // From here on the entry may be in the log, whatever the answer is going to be.
    if (transaction.getClientRequest().getMessage() instanceof PendingAppend append) {
      append.logged();
    }
    return transaction;
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    long term = entry.getTerm();
    long index = entry.getIndex();
    try {
      // A view without a copy: an appended head is one piece of memory, one from the network or
      // from disk was read into an array of its own.
      ByteBuffer head = entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer();
      EntryBody body = bodies == null ? EntryBody.NONE : bodies.toApply(entry);
      ByteBuffer reply = state.apply(term, index, head, body);
      updateLastAppliedTermIndex(term, index);
      applied = TermIndex.valueOf(term, index);
      if (bodies != null) {
        bodies.applied(index);
      }
      countTowardsSnapshot(LogProtoUtils.getSerializedSize(entry));
      return CompletableFuture.completedFuture(
          reply == null ? Message.EMPTY : Message.valueOf(UnsafeByteOperations.unsafeWrap(reply)));
    } catch (Throwable e) {
      DamagedStateException damage = Causes.first(DamagedStateException.class, e);
      if (damage != null) {
        events.giveUpCopy(damage.getMessage());
      } else {
        events.failed(
            new IllegalStateException(
                "log group %s: %s"
                    .formatted(
                        group,
                        e instanceof UnreadableEntryException
                            ? e.getMessage()
                            : "applying entry " + index + " failed: " + e),
                e));
      }
      // The engine stops the group, so that nothing after this entry is applied.
      throw e;
    }
  }

  private void countTowardsSnapshot(int bytes) {
    bytesSinceSnapshot += bytes;
    entriesSinceSnapshot++;
    if (bytesSinceSnapshot >= settings.snapshotEveryBytes()
        || settings.snapshotEveryEntries() == 0
            && entriesSinceSnapshot >= memory.entriesBetweenSnapshots()) {
      // Starts again from 0 even if the snapshot fails: the next try comes after as much.
      bytesSinceSnapshot = 0;
      entriesSinceSnapshot = 0;
      events.snapshotDue();
    }
  }

  @Override
  public long takeSnapshot() {
    TermIndex position = getLastAppliedTermIndex();
    long last = snapshotIndex();
    boolean pausing =
        snapshotFailed && System.nanoTime() - snapshotFailedAtNanos < SNAPSHOT_PAUSE_NANOS;
    if (getLifeCycleState() != LifeCycle.State.RUNNING) {
      // Another node's snapshot has just become the latest one, and is above what is applied.
      return -1;
    }
    if (position.getIndex() <= last || position.getIndex() < 0 || pausing || events.hasFailed()) {
      return last;
    }
    try {
      try {
        Path staged = snapshots.stage(position);
        state.snapshot(staged.resolve(SnapshotFiles.STATE));
        SnapshotFiles.writeStateIndex(staged, state.appliedIndex());
        snapshots.publish(position, staged);
      } finally {
        snapshots.forgetStaged();
      }
      snapshotsChanged();
      snapshotFailed = false;
      bytesSinceSnapshot = 0;
      entriesSinceSnapshot = 0;
      return position.getIndex();
    } catch (IOException | RuntimeException e) {
      // Only the log stays longer. Without the pause, the engine would try again after every entry.
      snapshotFailed = true;
      snapshotFailedAtNanos = System.nanoTime();
      LOG.warn("log group {}: cannot take a snapshot at {}: {}", group, position, e.toString());
      return last;
    }
  }

  /** Index of the newest snapshot; -1 if there is none. */
  long snapshotIndex() {
    SnapshotFiles.Snapshot latest = snapshots.latest();
    return latest == null ? -1 : latest.position().getIndex();
  }

  void dropFormerSnapshots() {
    try {
      snapshots.dropFormer();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The engine takes another node's snapshot over. It must be in its place when this returns: then
   * the engine drops the log before it, and replaces the state.
   */
  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
    try {
      install.takeOver();
    } catch (IOException | RuntimeException e) {
      events.failed(
          new IOException("log group " + group + ": cannot take a snapshot over: " + e, e));
      throw new IllegalStateException("cannot take a snapshot over", e);
    }
  }

  /** Another node's snapshot is in its place. */
  @Override
  public void reinitialize() throws IOException {
    try {
      getLifeCycle().startAndTransition(this::restoreInstalled, IOException.class);
    } catch (IOException | RuntimeException e) {
      DamagedStateException damage = Causes.first(DamagedStateException.class, e);
      if (damage != null) {
        events.giveUpCopy(damage.getMessage());
      } else {
        events.failed(
            new IOException(
                "log group " + group + ": cannot restore an installed snapshot: " + e, e));
      }
      throw e;
    }
  }

  private void restoreInstalled() throws IOException {
    SnapshotFiles.Snapshot latest = snapshots.latest();
    LOG.info("log group {}: restoring the installed snapshot {}", group, latest.position());
    state.restore(latest.state());
    if (bodies != null) {
      bodies.applied(latest.position().getIndex());
    }
    setLastAppliedTermIndex(latest.position());
    install.restored();
    snapshotsChanged();
  }

  @Override
  public void notifySnapshotInstalled(InstallSnapshotResult result, long index, RaftPeer peer) {
    if (result == InstallSnapshotResult.SNAPSHOT_UNAVAILABLE) {
      install.unavailable();
    }
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
    install.leaderChanged(leader);
    events.leadershipMayHaveChanged();
  }

  @Override
  public void notifyLeaderReady() {
    events.leadershipMayHaveChanged();
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pending) {
    events.leadershipMayHaveChanged();
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
    events.failed(cannotWrite(cause));
  }

  private IOException cannotWrite(Throwable cause) {
    return new IOException(
        "log group " + group + ": the log cannot be written: " + Refusals.reason(cause), cause);
  }

  @Override
  public void notifyServerShutdown(RoleInfoProto role, boolean allServers) {
    events.leadershipMayHaveChanged();
  }

  /** The last entry applied in this run, or that the state held at its start; index -1: none. */
  TermIndex applied() {
    return applied;
  }

  /** The last entry that the state held when it was opened; index -1: none. */
  TermIndex atStart() {
    return atStart;
  }

  ReplicatedState state() {
    return state;
  }

  /** The engine calls this before it closes its log, which may still write to the bodies. */
  @Override
  public void close() throws IOException {
    snapshots.close();
    if (opened && closed.compareAndSet(false, true)) {
      state.close();
    }
  }

  /** After {@link #close}, and when the engine has closed its log. */
  void closeBodies() throws IOException {
    if (bodies != null) {
      bodies.close();
    } else if (files != null) {
      files.close();
    }
  }
}
