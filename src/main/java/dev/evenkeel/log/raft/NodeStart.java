package dev.evenkeel.log.raft;

import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Causes;
import dev.evenkeel.util.files.LockedFile;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.LifeCycle;

/** Starts a node, from the checks of its directory to the last log group. */
final class NodeStart {
  private static final long VOTING_CHECK_MILLIS = 200;

  /** The cluster may take long to take a node in, but has begun by then. */
  private static final long VOTING_HINT_MILLIS = 20_000;

  /** How long a division may take to run once it has its vote. */
  private static final long VOTES_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  private static final long VOTES_LOOK_MILLIS = 10;

  private final LogSettings settings;
  private final Function<String, ReplicatedState> states;
  private final Path directory;
  private final Path raft;
  private final PeerLink link;

  /** How far each group was in the last run. */
  private Map<String, AppliedPositions.Position> positions = new HashMap<>();

  NodeStart(LogSettings settings, Function<String, ReplicatedState> states, PeerLink link) {
    this.settings = settings;
    this.states = states;
    this.link = link;
    directory = settings.directory().toAbsolutePath();
    raft = directory.resolve("raft");
  }

  RaftLogNode run() throws LogStartException, InterruptedException {
    LogSettings.Peer own = checkSettings();
    RaftLogNode node = null;
    try {
      PrivateFiles.createDirectories(raft);
      ClusterFile cluster = openDirectory(own);
      link.tell(cluster.info());
      positions = new AppliedPositions(directory).read();
      checkPort(own);
      node = new RaftLogNode(settings, cluster, states, link);
      for (RaftLogGroup group : node.groups()) {
        prepareFiles(node, group, cluster.formed() && !cluster.isBeingAdded(group.name()));
      }
      startServer(node, own);
      node.formed();
      node.started();
      awaitVoting(node);
      return node;
    } catch (LogStartException | IOException | RuntimeException | InterruptedException e) {
      if (node != null) {
        node.close();
      }
      if (e instanceof InterruptedException interrupted) {
        throw interrupted;
      }
      throw e instanceof LogStartException refused
          ? refused
          : new LogStartException("cannot start the logs in " + directory + ": " + e, e);
    }
  }

  /** Makes the directory if it is missing, and reserves it for this process. */
  static LockedFile lock(Path directory) throws LogStartException {
    Path file = directory.resolve("lock");
    LockedFile lock;
    try {
      PrivateFiles.createDirectories(directory);
      lock = LockedFile.open(file);
    } catch (IOException e) {
      throw new LogStartException("cannot lock the data directory " + directory + ": " + e, e);
    }
    if (lock == null) {
      throw new LogStartException(
          String.format(
              "the data directory %s is in use by another process (%s); stop it, or give this "
                  + "node another data directory",
              directory, LockedFile.holder(file)));
    }
    return lock;
  }

  private LogSettings.Peer checkSettings() throws LogStartException {
    Set<String> ids = new HashSet<>();
    LogSettings.Peer own = null;
    for (LogSettings.Peer peer : settings.peers()) {
      try {
        Names.check("node", peer.nodeId());
      } catch (RefusedException e) {
        throw new LogStartException(e.getMessage(), e);
      }
      if (!ids.add(peer.nodeId())) {
        throw new LogStartException(
            "node '" + peer.nodeId() + "' is named twice in the list of peers");
      }
      if (peer.nodeId().equals(settings.nodeId())) {
        own = peer;
      }
    }
    if (own == null) {
      throw new LogStartException(
          "this node, '"
              + settings.nodeId()
              + "', is not in the list of peers; every node must be listed");
    }
    if (settings.snapshotEveryEntries() < 0
        || settings.snapshotEveryBytes() < 1
        || settings.dataGroups() < 0) {
      throw new LogStartException(
          "a snapshot needs at least 1 byte of entries, and no number can be negative");
    }
    return own;
  }

  /** Finds out what the directory belongs to, or claims a new one, and looks at every group. */
  private ClusterFile openDirectory(LogSettings.Peer own)
      throws LogStartException, IOException, InterruptedException {
    ClusterFile cluster = ClusterFile.read(directory);
    if (cluster != null && cluster.info().stage() == NodeInfo.Stage.REMOVED) {
      cluster.check(settings);
    }
    if (cluster == null || !cluster.info().stage().mayHaveVoted()) {
      // Logs without cluster.json belong to no known cluster.
      LogGroupFiles.checkNoOthers(raft, Set.of());
      if (cluster != null) {
        cluster.check(settings);
      }
      if (settings.joins()) {
        return new FormationLoop(settings, directory, cluster, link).join(own);
      }
      if (settings.peers().size() > 1) {
        return new FormationLoop(settings, directory, cluster, link).run();
      }
      cluster = ClusterFile.alone(settings);
      cluster.write(directory);
      return cluster;
    }
    cluster.check(settings);
    Set<String> expected = new HashSet<>();
    for (String group : cluster.groups()) {
      expected.add(cluster.groupId(group).toString());
    }
    LogGroupFiles.checkNoOthers(raft, expected);
    return cluster;
  }

  /** Sets the files of a log group aside that is to be copied anew, and checks those of others. */
  private void prepareFiles(RaftLogNode node, RaftLogGroup group, boolean used)
      throws LogStartException, IOException {
    Path log = node.directory(group.id());
    DamagedCopy copy = group.copy().damage();
    copy.read();
    DroppedCopy dropped = group.copy().dropped();
    dropped.read();
    if (dropped.due() || dropped.empty()) {
      forget(group);
      dropped.finish(log, group.copy().adapter().state());
    }
    if (used && !dropped.empty()) {
      LogGroupFiles.check(group.name(), log, group.copy().isVoteless());
    }
    if (copy.due()) {
      forget(group);
      copy.setAside(log, group.copy().adapter().state());
    }
  }

  /** What the former copy had on disk, the new one need not have. */
  private void forget(RaftLogGroup group) throws IOException {
    positions.remove(group.name());
    new AppliedPositions(directory).write(positions);
  }

  private void startServer(RaftLogNode node, LogSettings.Peer own)
      throws LogStartException, IOException {
    // The engine would look for groups in its directory, open each without knowing its peers, and
    // only log what it cannot open. Shown an empty directory it finds none; then each group is
    // added by name, with an answer of its own.
    File empty = PrivateFiles.createDirectories(directory.resolve("raft-none")).toFile();
    RaftProperties properties = RaftSettings.of(settings, own, empty, node.alone());
    RaftPeer self = node.peer(node.voter());
    Parameters parameters = new Parameters();
    PeerGuard guard = new PeerGuard(self.getId(), node::keepsOut, settings.tls() != null);
    if (settings.tls() != null) {
      GrpcConfigKeys.TLS.setConf(
          parameters,
          new GrpcTlsConfig(settings.tls().keyManager(), settings.tls().trustManager(), true));
    }
    GrpcConfigKeys.Server.setServicesCustomizer(parameters, guard);
    new SerialRpc.Hooks(
            node::refusing,
            node::isStarting,
            new SerialAppends.Copies() {
              @Override
              public TermIndex firstOfCopied(RaftGroupId group, ByteString leader) {
                return node.group(group).copy().adapter().install().notTakenOver(leader);
              }

              @Override
              public void acknowledges(RaftGroupId group) throws IOException {
                node.group(group).copy().acknowledges();
              }

              @Override
              public boolean opensAgain(RaftGroupId group) {
                return node.opensAgain(node.group(group));
              }

              @Override
              public boolean installs(RaftGroupId group) {
                return node.group(group).copy().adapter().install().isPending();
              }
            },
            group -> node.group(group).copy().readFailures(),
            node::keepsOut)
        .putInto(parameters);
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(self.getId())
            .setParameters(parameters)
            .setProperties(properties)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setStateMachineRegistry(id -> node.group(id).copy().adapter())
            .build();
    node.own(server);
    RaftServerConfigKeys.setStorageDir(properties, List.of(raft.toFile()));
    try {
      server.start();
    } catch (IOException | RuntimeException e) {
      if (Causes.include(BindException.class, e)) {
        throw busy(own.raftPort(), e);
      }
      throw new IOException(Refusals.reason(e), e);
    }
    openFiles(node.groups());
    addGroups(server, node);
    guard.open();
    for (RaftLogGroup group : node.groups()) {
      check(server, node, group);
      group.copy().dropped().opened();
    }
    checkAlive(node);
  }

  /** Opens all at a time. Waits for all before it throws the first failure. */
  private void openFiles(List<RaftLogGroup> groups) throws LogStartException {
    LogStartException refusal = null;
    for (CompletableFuture<LogStartException> opening :
        groups.stream()
            .map(
                group ->
                    CompletableFuture.supplyAsync(
                        () -> openFiles(group),
                        task -> new Thread(task, "log-open-" + group.name()).start()))
            .toList()) {
      LogStartException failure = opening.join();
      refusal = refusal == null ? failure : refusal;
    }
    if (refusal != null) {
      throw refusal;
    }
  }

  /** Null if they are open. */
  private LogStartException openFiles(RaftLogGroup group) {
    AppliedPositions.Position last = positions.get(group.name());
    try {
      Path log = raft.resolve(group.id().getUuid().toString());
      group.copy().adapter().openFiles(log, last == null ? -1 : last.flushed());
      return null;
    } catch (LogStartException e) {
      return e;
    } catch (IOException | RuntimeException e) {
      return cannotOpen(group, e);
    }
  }

  private void addGroups(RaftServer server, RaftLogNode node) throws LogStartException {
    List<RaftLogGroup> groups = node.groups();
    ClientId client = ClientId.randomId();
    List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      // Voters in the log and its files override these. A node that was taken in later must not
      // assume any.
      List<RaftPeer> peers = node.firstVoters(groups.get(i)).stream().map(node::peer).toList();
      RaftGroup group = RaftGroup.valueOf(groups.get(i).id(), peers);
      replies.add(
          server.groupManagementAsync(
              GroupManagementRequest.newAdd(
                  client, server.getId(), i, group, /* format= */ false)));
    }
    // Waits for all before it throws the first failure, so that none is opened later in the
    // background.
    LogStartException refusal = null;
    for (int i = 0; i < groups.size(); i++) {
      Throwable failure = failure(replies.get(i));
      if (failure != null && refusal == null) {
        refusal = cannotOpen(groups.get(i), failure);
      }
    }
    if (refusal != null) {
      throw refusal;
    }
  }

  private LogStartException cannotOpen(RaftLogGroup group, Throwable failure) {
    String line =
        String.format(
            "the log of group '%s' in %s cannot be opened: %s; if the disk is sound, "
                + "restore the data directory from a backup",
            group.name(), raft.resolve(group.id().getUuid().toString()), Refusals.reason(failure));
    return Causes.first(DamagedStateException.class, failure) == null
        ? new LogStartException(line, failure)
        : new DamagedCopyException(group.name(), line, failure);
  }

  private static Throwable failure(CompletableFuture<RaftClientReply> future) {
    try {
      RaftClientReply reply = future.join();
      return reply.isSuccess() ? null : reply.getException();
    } catch (RuntimeException e) {
      return Refusals.unwrap(e);
    }
  }

  /**
   * Checks that a log group was opened, runs, and has not lost entries that its state has applied.
   */
  private void check(RaftServer server, RaftLogNode node, RaftLogGroup group)
      throws LogStartException, IOException {
    boolean known = false;
    for (RaftGroupId id : server.getGroupIds()) {
      known |= id.equals(group.id());
    }
    if (!known) {
      throw new LogStartException("the log of group '" + group.name() + "' was not opened");
    }
    RaftServer.Division division = server.getDivision(group.id());
    LifeCycle.State state = started(division);
    // A division that is no voter yet, or no longer, stays in state STARTING until a leader makes
    // it one.
    // One that has lost its vote meanwhile may have been closed by the engine: it is opened again.
    boolean lostVote = node.nodesChange() && state.isClosingOrClosed();
    if (state != LifeCycle.State.RUNNING
        && !lostVote
        && (state != LifeCycle.State.STARTING || votes(division))) {
      throw new LogStartException(
          "the log of group '" + group.name() + "' was opened but does not run: " + state);
    }
    // A lone node applies only what its own log holds on disk. (In a cluster a majority of others
    // may have committed what this node's disk had not taken yet; they send it again.)
    if (division.getRaftConf().getCurrentPeers().size() == 1) {
      checkHolds(division, group.name(), group.copy().adapter().atStart());
      AppliedPositions.Position last = positions.get(group.name());
      checkHolds(division, group.name(), last == null ? null : last.applied());
    }
    group.started(server, division);
  }

  /**
   * The state of a division; one that has just got its vote is still in state STARTING for a
   * moment.
   */
  private static LifeCycle.State started(RaftServer.Division division) throws IOException {
    LifeCycle.State state = division.getInfo().getLifeCycleState();
    long until = System.nanoTime() + VOTES_NANOS_MAX;
    try {
      while (state == LifeCycle.State.STARTING && votes(division) && System.nanoTime() < until) {
        Thread.sleep(VOTES_LOOK_MILLIS);
        state = division.getInfo().getLifeCycleState();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the start was interrupted");
    }
    return state;
  }

  private static void checkAlive(RaftLogNode node) throws LogStartException {
    if (node.hasFailed()) {
      throw new LogStartException(
          "the logs failed while starting: " + node.failure().join().getMessage());
    }
  }

  /**
   * Whether the division is a voter. While a change of voters is under way, it must be one before
   * and after the change: else the engine leaves it in state STARTING until it hears from a leader,
   * and a leader that has ended the change says nothing to one that is removed.
   */
  private static boolean votes(RaftServer.Division division) {
    RaftConfiguration voters = division.getRaftConf();
    Predicate<RaftPeer> own = peer -> peer.getId().equals(division.getId());
    return voters.getCurrentPeers().stream().anyMatch(own)
        && (voters.getPreviousPeers().isEmpty()
            || voters.getPreviousPeers().stream().anyMatch(own));
  }

  /**
   * Waits until the node is a voter of every log group; where nodes have come or gone, of meta, and
   * others may have all votes in the other log groups.
   */
  private void awaitVoting(RaftLogNode node) throws LogStartException, InterruptedException {
    long begun = System.nanoTime();
    while (!node.needsVote().allMatch(group -> group.voters().isMember())) {
      checkAlive(node);
      link.waitingFor(
          String.format(
              "the cluster is taking this node in; if that was interrupted, run 'evenkeel "
                  + "cluster replace %s' again",
              settings.nodeId()),
          System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(VOTING_HINT_MILLIS));
      link.awaitInvitation(VOTING_CHECK_MILLIS);
    }
    link.waitingFor(null, false);
  }

  private static void checkHolds(RaftServer.Division division, String group, TermIndex applied)
      throws LogStartException {
    SnapshotInfo snapshot = division.getStateMachine().getLatestSnapshot();
    long covered = snapshot == null ? -1 : snapshot.getIndex();
    // Compares term and index: the node may lead already and have written new entries.
    if (applied != null
        && applied.getIndex() > covered
        && !applied.equals(division.getRaftLog().getTermIndex(applied.getIndex()))) {
      throw new LogStartException(
          String.format(
              "the log of group '%s' lacks entry %s, which had been applied: files of the "
                  + "log are missing or cut off; restore the data directory from a backup",
              group, applied.getIndex()));
    }
  }

  private static void checkPort(LogSettings.Peer own) throws LogStartException {
    int port = own.raftPort();
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(own.listenHost(), port));
    } catch (BindException e) {
      throw busy(port, e);
    } catch (IOException | IllegalArgumentException e) {
      throw new LogStartException(
          "cannot open the Raft port " + port + " at " + own.listenHost() + ": " + e.getMessage(),
          e);
    }
  }

  private static LogStartException busy(int port, Throwable cause) {
    return new LogStartException(
        String.format(
            "the Raft port %s is in use by another process; stop it, or choose another "
                + "port for the node (Raft takes the second one after it)",
            port),
        cause);
  }
}
