package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.model.Names;
import dev.evenkeel.model.RefusedException;
import java.io.File;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.LifeCycle;

/** The steps of starting a node, from the checks of its directory to the last group. */
final class NodeStart {
  private final LogSettings settings;
  private final Function<String, ReplicatedState> states;
  private final Path directory;
  private final Path raft;
  private final RaftPeerId self;

  /** The last entry that each group had applied in the last run. */
  private Map<String, TermIndex> marks = Map.of();

  NodeStart(LogSettings settings, Function<String, ReplicatedState> states) {
    this.settings = settings;
    this.states = states;
    directory = settings.directory().toAbsolutePath();
    raft = directory.resolve("raft");
    self = RaftPeerId.valueOf(settings.nodeId());
  }

  RaftLogNode run() throws LogStartException {
    LogSettings.Peer own = checkSettings();
    try {
      Files.createDirectories(raft);
    } catch (IOException e) {
      throw new LogStartException("cannot make the data directory " + directory + ": " + e, e);
    }
    DirectoryLock lock = DirectoryLock.acquire(directory);
    RaftLogNode node = null;
    try {
      ClusterFile cluster = openDirectory();
      marks = new AppliedMarks(directory).read();
      checkPort(own);
      Map<RaftGroupId, RaftGroupLog> byId = new HashMap<>();
      node = new RaftLogNode(settings.nodeId(), directory, cluster, lock, maker(cluster, byId));
      startServer(node, own, byId);
      if (!cluster.formed()) {
        cluster.withFormed().write(directory);
      }
      node.started();
      return node;
    } catch (LogStartException | IOException | RuntimeException e) {
      if (node != null) {
        node.close();
      }
      lock.close();
      throw e instanceof LogStartException refused
          ? refused
          : new LogStartException("cannot start the logs in " + directory + ": " + e, e);
    }
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
        throw new LogStartException("node '" + peer.nodeId() + "' is named twice in --peers");
      }
      if (peer.nodeId().equals(settings.nodeId())) {
        own = peer;
      }
    }
    if (own == null) {
      throw new LogStartException(
          "this node, '" + settings.nodeId() + "', is not in --peers; every node must be listed");
    }
    if (settings.segmentBytesMax() < 2L * RaftSettings.ENTRY_BYTES_MAX) {
      throw new LogStartException(
          "log segments of "
              + settings.segmentBytesMax()
              + " bytes are too small; at least "
              + 2L * RaftSettings.ENTRY_BYTES_MAX
              + " are needed");
    }
    if (settings.snapshotEveryEntries() < 1
        || settings.snapshotEveryBytes() < 1
        || settings.dataGroups() < 0) {
      throw new LogStartException(
          "a snapshot needs at least 1 entry, and the number of data groups cannot be negative");
    }
    return own;
  }

  /** Finds out what the directory belongs to, or claims a new one, and looks at every group. */
  private ClusterFile openDirectory() throws LogStartException, IOException {
    ClusterFile cluster = ClusterFile.read(directory);
    if (cluster == null) {
      // Logs without the file that tells whose they are belong to nobody.
      GroupFiles.checkNoOthers(raft, Set.of());
      cluster = ClusterFile.create(settings);
      cluster.write(directory);
      return cluster;
    }
    cluster.check(settings);
    Set<String> expected = new HashSet<>();
    for (String group : cluster.groups()) {
      expected.add(cluster.groupId(group).toString());
    }
    GroupFiles.checkNoOthers(raft, expected);
    if (cluster.formed()) {
      for (String group : cluster.groups()) {
        GroupFiles.check(group, raft.resolve(cluster.groupId(group).toString()));
      }
    }
    return cluster;
  }

  private RaftLogNode.GroupMaker maker(ClusterFile cluster, Map<RaftGroupId, RaftGroupLog> byId) {
    return (name, node, thread) -> {
      RaftGroupId id = RaftGroupId.valueOf(cluster.groupId(name));
      // The adapter tells its group through the map: one of the two has to be made first.
      StateAdapter.GroupEvents events =
          new StateAdapter.GroupEvents() {
            @Override
            public void leadershipMayHaveChanged() {
              RaftGroupLog group = byId.get(id);
              if (group != null) {
                thread.execute(group::refresh);
              }
            }

            @Override
            public void failed(Throwable cause) {
              node.fail(cause);
            }

            @Override
            public boolean hasFailed() {
              return node.hasFailed();
            }

            @Override
            public void snapshotDue() {
              RaftGroupLog group = byId.get(id);
              if (group != null) {
                group.snapshot();
              }
            }
          };
      StateAdapter adapter =
          new StateAdapter(name, states.apply(name), settings.snapshotEveryBytes(), events);
      RaftGroupLog group = new RaftGroupLog(name, id, self, adapter, thread);
      byId.put(id, group);
      return group;
    };
  }

  private void startServer(
      RaftLogNode node, LogSettings.Peer own, Map<RaftGroupId, RaftGroupLog> byId)
      throws LogStartException, IOException {
    // The engine would look for groups in its directory, open each without knowing its peers, and
    // only log what it cannot open. Shown an empty directory it finds none; then each group is
    // added by name, with an answer of its own.
    File empty = Files.createDirectories(directory.resolve("raft-none")).toFile();
    RaftProperties properties = RaftSettings.of(settings, own, empty);
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(self)
            .setProperties(properties)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setStateMachineRegistry(id -> byId.get(id).adapter())
            .build();
    node.own(server);
    RaftServerConfigKeys.setStorageDir(properties, List.of(raft.toFile()));
    try {
      server.start();
    } catch (IOException | RuntimeException e) {
      if (isBind(e)) {
        throw busy(own.raftPort(), e);
      }
      throw new IOException(Refusals.reason(e), e);
    }
    addGroups(server, node.groups());
    for (RaftGroupLog group : node.groups()) {
      check(server, group);
    }
    if (node.hasFailed()) {
      throw new LogStartException(
          "the logs failed while starting: " + node.failure().join().getMessage());
    }
  }

  private void addGroups(RaftServer server, List<RaftGroupLog> groups) throws LogStartException {
    List<RaftPeer> peers = new ArrayList<>();
    for (LogSettings.Peer peer : settings.peers()) {
      peers.add(
          RaftPeer.newBuilder()
              .setId(peer.nodeId())
              .setAddress(peer.host() + ":" + peer.raftPort())
              .build());
    }
    ClientId client = ClientId.randomId();
    List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      RaftGroup group = RaftGroup.valueOf(groups.get(i).id(), peers);
      replies.add(
          server.groupManagementAsync(
              GroupManagementRequest.newAdd(client, self, i, group, /* format= */ false)));
    }
    // All are waited for before the first failure is told, so that none is opened behind its back.
    LogStartException refusal = null;
    for (int i = 0; i < groups.size(); i++) {
      Throwable failure = failure(replies.get(i));
      if (failure != null && refusal == null) {
        refusal =
            new LogStartException(
                "the log of group '"
                    + groups.get(i).name()
                    + "' in "
                    + raft.resolve(groups.get(i).id().getUuid().toString())
                    + " cannot be opened: "
                    + Refusals.reason(failure)
                    + "; if the disk is sound, restore the data directory from a backup",
                failure);
      }
    }
    if (refusal != null) {
      throw refusal;
    }
  }

  private static Throwable failure(CompletableFuture<RaftClientReply> future) {
    try {
      RaftClientReply reply = future.join();
      return reply.isSuccess() ? null : reply.getException();
    } catch (RuntimeException e) {
      return Refusals.unwrap(e);
    }
  }

  /** A group that is there, runs, and has not lost what its state has applied. */
  private void check(RaftServer server, RaftGroupLog group) throws LogStartException, IOException {
    boolean known = false;
    for (RaftGroupId id : server.getGroupIds()) {
      known |= id.equals(group.id());
    }
    if (!known) {
      throw new LogStartException("the log of group '" + group.name() + "' was not opened");
    }
    RaftServer.Division division = server.getDivision(group.id());
    if (division.getInfo().getLifeCycleState() != LifeCycle.State.RUNNING) {
      throw new LogStartException(
          "the log of group '"
              + group.name()
              + "' was opened but does not run: "
              + division.getInfo().getLifeCycleState());
    }
    // A lone node applies only what its own log holds on disk. (In a cluster a majority of others
    // may have committed what this node's disk had not taken yet; they send it again.)
    if (settings.peers().size() == 1) {
      checkHolds(division, group.name(), group.adapter().atStart());
      checkHolds(division, group.name(), marks.get(group.name()));
    }
    group.started(server, division);
  }

  private static void checkHolds(RaftServer.Division division, String group, TermIndex applied)
      throws LogStartException {
    SnapshotInfo snapshot = division.getStateMachine().getLatestSnapshot();
    long covered = snapshot == null ? -1 : snapshot.getIndex();
    // By term and index: the node may lead already, and have written new entries of its own.
    if (applied != null
        && applied.getIndex() > covered
        && !applied.equals(division.getRaftLog().getTermIndex(applied.getIndex()))) {
      throw new LogStartException(
          "the log of group '"
              + group
              + "' lacks entry "
              + applied.getIndex()
              + ", which had been applied: files of the log are missing or cut off; restore the data"
              + " directory from a backup");
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
        "the Raft port "
            + port
            + " is in use by another process; stop it, or choose other ports with --port (Raft"
            + " takes --port + 2)",
        cause);
  }

  private static boolean isBind(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        return true;
      }
    }
    return false;
  }
}
