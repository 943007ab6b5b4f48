package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.log.VoterId;
import dev.evenkeel.protocol.files.LockedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log groups of one node on an embedded Raft server.
 *
 * <p>{@link #failure()} completes when the node cannot continue: its disk refuses a write, its
 * state refuses an entry, or the engine stopped. By then all appends are answered (INDETERMINATE if
 * they may be in the log) and no log group is ready any more. The process should exit; the next
 * start finds everything that was acknowledged. With {@link dev.evenkeel.log.StartAgainException},
 * the node should start again, in this process or another; it may still serve until it is closed.
 */
public final class RaftLogNode implements LogNode {
  private static final Logger LOG = LoggerFactory.getLogger(RaftLogNode.class);
  private static final long WATCH_MILLIS = 200;
  private static final long CLOSE_SECONDS_MAX = 30;

  private final LogSettings settings;
  private final ClusterFile cluster;
  private final LockedFile lock;
  private final NodeThread thread;
  private final List<RaftLogGroup> groups;
  private final AppliedPositions positions;
  private final SnapshotExchange exchange;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final AtomicBoolean failed = new AtomicBoolean();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> serverClosed = new CompletableFuture<>();
  private final AtomicBoolean serverClosing = new AtomicBoolean();
  private volatile RaftServer server;
  private volatile String noRoom;

  RaftLogNode(
      LogSettings settings,
      ClusterFile cluster,
      LockedFile lock,
      Function<String, ReplicatedState> states,
      PeerLink link) {
    this.settings = settings;
    this.cluster = cluster;
    this.lock = lock;
    thread = new NodeThread("log-node-" + settings.nodeId());
    positions = new AppliedPositions(settings.directory().toAbsolutePath());
    exchange = SnapshotExchange.open(settings, link, this::refusing);
    List<RaftLogGroup> made = new ArrayList<>();
    for (String name : cluster.groups()) {
      DamagedCopy copy = damagedCopy(settings, name);
      StateAdapter adapter =
          new StateAdapter(copy, states.apply(name), settings.snapshotEveryBytes(), exchange);
      made.add(new RaftLogGroup(copy, cluster.groupId(name), adapter, this, thread));
    }
    groups = List.copyOf(made);
  }

  /**
   * Opens the logs of a node and starts serving. Blocks until every group runs, not until it has a
   * leader. In an empty directory the logs are made.
   *
   * <p>If the copy of a log group turns out to be damaged, it is set aside, and the node starts
   * again: other nodes have the log group, too. One of fewer than three nodes refuses to start.
   *
   * @param states gives the state of the group with this name, always the same one
   * @param link by which the nodes of a new cluster find each other, and copy snapshots
   * @throws LogStartException if the directory is not this node's, is in use, or has lost or
   *     damaged files, or if the port is busy; nothing is left running
   */
  public static RaftLogNode start(
      LogSettings settings, Function<String, ReplicatedState> states, PeerLink link)
      throws LogStartException, InterruptedException {
    Set<String> setAside = new HashSet<>();
    while (true) {
      try {
        return new NodeStart(settings, states, link).run();
      } catch (DamagedCopyException e) {
        if (!mayCopyAnew(settings) || !setAside.add(e.group())) {
          throw e;
        }
        makeDue(settings, e);
      }
    }
  }

  /**
   * While a node copies a log group it has no vote: then two others are needed to elect a leader.
   */
  private static boolean mayCopyAnew(LogSettings settings) {
    return settings.peers().size() > 2;
  }

  boolean mayCopyAnew() {
    return mayCopyAnew(settings);
  }

  private static void makeDue(LogSettings settings, DamagedCopyException damage)
      throws LogStartException {
    try {
      DamagedCopy copy = damagedCopy(settings, damage.group());
      copy.read();
      copy.makeDue(damage.getMessage());
    } catch (IOException e) {
      throw new LogStartException(
          "%s; and that cannot be noted: %s".formatted(damage.getMessage(), e), e);
    }
  }

  private static DamagedCopy damagedCopy(LogSettings settings, String group) {
    return new DamagedCopy(settings.directory().toAbsolutePath().resolveSibling("damaged"), group);
  }

  /** Completes with the cause when the node cannot continue. */
  public CompletableFuture<Throwable> failure() {
    return failure.copy();
  }

  @Override
  public String nodeId() {
    return settings.nodeId();
  }

  @Override
  public String clusterId() {
    return cluster.info().clusterId();
  }

  @Override
  public List<String> nodes() {
    return cluster.info().peers();
  }

  @Override
  public LogGroup meta() {
    return groups.get(0);
  }

  @Override
  public List<LogGroup> data() {
    return List.copyOf(groups.subList(1, groups.size()));
  }

  @Override
  public void refuseEntries(String reason) {
    noRoom = reason;
  }

  /** Why this node takes no entries now, or null. */
  String noRoom() {
    return noRoom;
  }

  /**
   * Why this node takes no entries from a leader now, or null. After a failed write the engine has
   * entries in memory that are not on disk, and would acknowledge them if the leader sent them
   * again.
   */
  String refusing() {
    if (failed.get()) {
      return "the log of this node has failed";
    }
    return closing.get() ? "this node is stopping" : noRoom;
  }

  /** The name under which this node votes. */
  String voter() {
    return cluster.info().voter();
  }

  /** The first voters, until the log says otherwise. */
  List<String> firstVoters() {
    return cluster.info().voters();
  }

  List<RaftLogGroup> groups() {
    return groups;
  }

  /** Whether this node keeps out of an election of a log group, because it copies it anew. */
  boolean keepsOut(RaftGroupId id) {
    return groups.stream().anyMatch(group -> group.id().equals(id) && group.copy().keepsOut());
  }

  /** Where the engine keeps a log group. */
  Path directory(RaftGroupId id) {
    return settings.directory().toAbsolutePath().resolve("raft").resolve(id.getUuid().toString());
  }

  RaftLogGroup group(RaftGroupId id) {
    return groups.stream().filter(group -> group.id().equals(id)).findFirst().orElseThrow();
  }

  /** A voter and where its Raft port is. */
  RaftPeer peer(String voter) {
    String nodeId = VoterId.node(voter);
    LogSettings.Peer peer =
        settings.peers().stream()
            .filter(each -> each.nodeId().equals(nodeId))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("no peer for the voter " + voter));
    return RaftPeer.newBuilder()
        .setId(voter)
        .setAddress(peer.host() + ":" + peer.raftPort())
        .build();
  }

  /** The engine exists from now on, started or not. */
  void own(RaftServer server) {
    this.server = server;
  }

  /** Every group runs. */
  void started() {
    thread.every(WATCH_MILLIS, this::watch);
  }

  /** The engine can close a group on its own, as after a pause of a minute. */
  private void watch() {
    for (RaftLogGroup group : groups) {
      if (!group.isAlive() && !closing.get()) {
        fail(new IllegalStateException("log group " + group.name() + ": the log engine stopped"));
      }
      group.refresh();
    }
    positions.write(groups);
  }

  boolean hasFailed() {
    return failed.get();
  }

  /** The node should be closed; until then, the logs go on. */
  void end(Throwable cause) {
    LOG.error("this node should stop: {}", cause.getMessage());
    failure.complete(cause);
  }

  void fail(Throwable cause) {
    if (closing.get() || !failed.compareAndSet(false, true)) {
      return;
    }
    LOG.error("this node must stop: {}", cause.getMessage());
    stopGroups("the log of this node has failed: " + cause.getMessage());
    failure.complete(cause);
    // On a thread of its own: this one may be the engine's, which closing waits for. Closing lets
    // other nodes take over without waiting for the process to end.
    closeServer();
  }

  private void stopGroups(String reason) {
    groups.forEach(group -> group.stop(reason));
    thread.execute(() -> groups.forEach(RaftLogGroup::refresh));
  }

  private void closeServer() {
    if (!serverClosing.compareAndSet(false, true)) {
      return;
    }
    Thread closer =
        new Thread(
            () -> {
              try {
                exchange.server().close();
                groups.forEach(group -> group.adapter().install().close());
                if (server != null) {
                  server.close();
                }
                for (RaftLogGroup group : groups) {
                  group.adapter().close();
                  group.adapter().closeBodies();
                }
                serverClosed.complete(null);
              } catch (Exception | Error e) {
                serverClosed.completeExceptionally(e);
              }
            },
            "log-close");
    closer.setDaemon(true);
    closer.start();
  }

  @Override
  public void close() {
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    stopGroups("this node is stopping");
    closeServer();
    try {
      serverClosed.get(CLOSE_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      LOG.warn("the logs did not close cleanly: {}", e.toString());
    }
    thread.close();
    lock.close();
  }
}
