package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeRemovedException;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.util.Daemon;
import dev.evenkeel.util.files.LockedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
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

  /** How often a group is tried to be opened again, with pauses between. */
  private static final int REOPEN_TRIES = 10;

  private static final long REOPEN_PAUSE_MILLIS = 1_000;
  private static final long REOPENED_LOOK_MILLIS = 10;
  private static final long WATCH_MILLIS = 200;
  private static final long CLOSE_SECONDS_MAX = 30;

  /** How long a group may stay closed that the engine has closed. */
  private static final long CLOSED_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

  /** Memory outside of the heap for each log group: buffers to write heads and bodies. */
  public static final long GROUP_DIRECT_BYTES = RaftSettings.WRITE_BUFFER_BYTES + (1L << 20);

  private final LogSettings settings;
  private final PeerLink link;
  private volatile ClusterFile cluster;

  /** Null: whoever started the node has it. */
  private LockedFile lock;

  private final NodeThread thread;
  private final Function<String, ReplicatedState> states;

  /** Replaced when one is added. */
  private volatile List<RaftLogGroup> groups;

  private final AppliedPositions positions;
  private final SnapshotExchange exchange;
  private final LogMemory memory;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final AtomicBoolean failed = new AtomicBoolean();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> serverClosed = new CompletableFuture<>();
  private final AtomicBoolean serverClosing = new AtomicBoolean();

  /** Groups that the engine is just starting. */
  private final Set<RaftGroupId> starting = ConcurrentHashMap.newKeySet();

  /** Groups that are taken from the engine and given to it again. */
  private final Set<RaftLogGroup> reopening = ConcurrentHashMap.newKeySet();

  /** When the engine was first seen to have closed a group; on the node's thread. */
  private final Map<RaftLogGroup, Long> closedAtNanos = new HashMap<>();

  private volatile RaftServer server;
  private volatile String noRoom;

  RaftLogNode(
      LogSettings settings,
      ClusterFile cluster,
      Function<String, ReplicatedState> states,
      PeerLink link) {
    this.settings = settings;
    this.cluster = cluster;
    this.link = link;
    this.states = states;
    thread = new NodeThread("log-node-" + settings.nodeId());
    positions = new AppliedPositions(settings.directory().toAbsolutePath());
    exchange = SnapshotExchange.open(settings, link, this::refusing, () -> peers().size() > 1);
    memory = new LogMemory(settings.memoryBytesMax(), () -> this.cluster.groups().size());
    groups = cluster.groups().stream().map(this::made).toList();
  }

  private RaftLogGroup made(String name) {
    DamagedCopy copy = damagedCopy(settings, name);
    StateAdapter adapter = new StateAdapter(copy, states.apply(name), settings, memory, exchange);
    DroppedCopy dropped =
        new DroppedCopy(settings.directory().toAbsolutePath().resolveSibling("dropped"), name);
    return new RaftLogGroup(copy, dropped, cluster.groupId(name), adapter, this, thread);
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
    LockedFile lock = lock(settings.directory());
    try {
      RaftLogNode node = startLocked(settings, states, link);
      node.lock = lock;
      return node;
    } catch (LogStartException | RuntimeException | InterruptedException e) {
      lock.close();
      throw e;
    }
  }

  /**
   * Reserves a directory for one process, before it starts anything there.
   *
   * @param directory made if it is missing
   * @throws LogStartException if another process has it
   */
  public static LockedFile lock(Path directory) throws LogStartException {
    return NodeStart.lock(directory.toAbsolutePath());
  }

  /** As {@link #start}, in a directory that the caller has locked, until the node has closed. */
  public static RaftLogNode startLocked(
      LogSettings settings, Function<String, ReplicatedState> states, PeerLink link)
      throws LogStartException, InterruptedException {
    Set<String> setAside = new HashSet<>();
    while (true) {
      try {
        return new NodeStart(settings, states, link).run();
      } catch (DamagedCopyException e) {
        ClusterFile cluster = ClusterFile.read(settings.directory().toAbsolutePath());
        if (!mayCopyAnew(cluster.nodesOr(settings.peers())) || !setAside.add(e.group())) {
          throw e;
        }
        makeDue(settings, e);
      }
    }
  }

  /**
   * While a node copies a log group it has no vote: then two others are needed to elect a leader.
   */
  private static boolean mayCopyAnew(List<LogSettings.Peer> nodes) {
    return nodes.size() > 2;
  }

  boolean mayCopyAnew() {
    return mayCopyAnew(peers());
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
  public List<LogSettings.Peer> peers() {
    return cluster.nodesOr(settings.peers());
  }

  @Override
  public synchronized void setPeers(List<LogSettings.Peer> peers) throws IOException {
    note(cluster.with(peers));
  }

  /** All logs are open. */
  synchronized void formed() throws IOException {
    if (!cluster.formed() || cluster.founders() != null) {
      note(cluster.with(NodeInfo.Stage.FORMED).opened());
      link.tell(cluster.info());
    }
  }

  @Override
  public synchronized void removed() throws IOException {
    note(cluster.with(NodeInfo.Stage.REMOVED));
    link.tell(cluster.info());
    failure.complete(
        new NodeRemovedException(
            "it was removed from the cluster and ends. Other nodes have what was in "
                + settings.directory()
                + ": delete the data directory"));
  }

  /** Where the nodes of a cluster are, as its directory says; empty if it does not. */
  public static List<LogSettings.Peer> knownPeers(Path directory) throws LogStartException {
    ClusterFile cluster = ClusterFile.read(directory);
    return cluster == null ? List.of() : cluster.nodes();
  }

  /** Whether this is the only node, so that nobody else votes. */
  boolean alone() {
    return peers().size() == 1 && cluster.info().voters().size() == 1;
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
  public int formedGroups() {
    return cluster.info().dataGroups();
  }

  @Override
  public synchronized void addGroup(List<String> founders) throws IOException {
    List<String> voters = founders.contains(voter()) ? founders : List.of();
    List<RaftPeer> peers = voters.stream().map(this::peer).toList();
    // So that the next start expects it, whatever happens from here on.
    note(cluster.adding(voters));
    List<RaftLogGroup> before = groups;
    RaftLogGroup group = made(ShardGroups.name(before.size() - 1));
    reopening.add(group);
    groups = Stream.concat(before.stream(), Stream.of(group)).toList();
    try {
      begin(group, peers);
      note(cluster.opened());
      LOG.info("log group {}: added, with the first voters {}", group.name(), founders);
    } catch (IOException | RuntimeException e) {
      groups = before;
      end(group);
      throw e;
    } finally {
      reopening.remove(group);
    }
  }

  private void note(ClusterFile changed) throws IOException {
    changed.write(settings.directory().toAbsolutePath());
    cluster = changed;
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

  /** The voters of a log group until its log says otherwise. */
  List<String> firstVoters(RaftLogGroup group) {
    return cluster.firstVoters(group.name());
  }

  List<RaftLogGroup> groups() {
    return groups;
  }

  /** Whether nodes have joined or left, so that this one may lose votes. */
  boolean nodesChange() {
    return !cluster.nodes().isEmpty();
  }

  /** The log groups in which it cannot serve without a vote. */
  Stream<RaftLogGroup> needsVote() {
    return !nodesChange() ? groups.stream() : groups.stream().limit(1);
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

  @Override
  public CompletableFuture<Void> dropCopy(LogGroup group, long above) {
    RaftLogGroup own = (RaftLogGroup) group;
    return Daemon.call(
        "log-drop-" + own.name(),
        () -> {
          try {
            drop(own, above);
            return null;
          } catch (IOException | RuntimeException e) {
            LOG.warn("log group {}: its copy cannot be deleted: {}", own.name(), e.toString());
            throw e;
          }
        });
  }

  private void drop(RaftLogGroup group, long above) throws IOException {
    if (!reopening.add(group)) {
      throw UNAVAILABLE.error("the copy of log group %s is being opened", group.name());
    }
    try {
      if (group.voters().hearsLeader()) {
        throw UNAVAILABLE.error("this node may still have a vote in log group %s", group.name());
      }
      LOG.info("log group {}: deleting the copy of this node, which has no vote", group.name());
      DroppedCopy dropped = group.copy().dropped();
      dropped.begin(Math.max(above, group.copy().lastIndex()));
      StateAdapter former = end(group);
      dropped.finish(directory(group.id()), former.state());
      if (group.copy().damage().detail() != null) {
        group.copy().damage().finished();
      }
      beginAgain(group, former);
      // Else the next start would miss what the former copy had.
      CompletableFuture.runAsync(() -> positions.write(groups), thread).join();
      dropped.opened();
    } finally {
      reopening.remove(group);
    }
  }

  /**
   * Opens a group again that the engine has closed because the others have taken this node's vote
   * away, or in which the engine does not know this node's role. It keeps what it has, with the
   * voters that its log knows: whoever gives it a vote finds it open.
   */
  void reopen(RaftLogGroup group) {
    if (closing.get() || !reopening.add(group)) {
      return;
    }
    Daemon.start(
        "log-reopen-" + group.name(),
        () -> {
          try {
            LOG.info("log group {}: opening it again", group.name());
            int left = REOPEN_TRIES;
            while (!closing.get() && !openedAgain(group) && --left > 0) {
              Thread.sleep(REOPEN_PAUSE_MILLIS);
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } finally {
            reopening.remove(group);
          }
        });
  }

  boolean isReopening(RaftLogGroup group) {
    return reopening.contains(group);
  }

  /** The engine may fail in a race of its own as it starts a group: then it is tried again. */
  private boolean openedAgain(RaftLogGroup group) {
    try {
      beginAgain(group, end(group));
      return true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("log group {}: it cannot be opened again", group.name(), e);
      return false;
    }
  }

  /** Takes a group from the engine, and closes its files. */
  private StateAdapter end(RaftLogGroup group) throws IOException {
    group.closed();
    if (runs(group)) {
      request(
          GroupManagementRequest.newRemove(
              ClientId.randomId(), server.getId(), 0, group.id(), false, false));
    }
    StateAdapter former = group.copy().adapter();
    former.close();
    former.closeBodies();
    return former;
  }

  private void beginAgain(RaftLogGroup group, StateAdapter former) throws IOException {
    group.use(new StateAdapter(group.copy().damage(), former.state(), settings, memory, exchange));
    begin(group, List.of());
  }

  /**
   * Opens the files of a group, and gives it to the engine.
   *
   * @param voters until its log says otherwise
   */
  private void begin(RaftLogGroup group, List<RaftPeer> voters) throws IOException {
    try {
      group.copy().adapter().openFiles(directory(group.id()), -1);
    } catch (LogStartException e) {
      throw new IOException(e);
    }
    starting.add(group.id());
    try {
      request(
          GroupManagementRequest.newAdd(
              ClientId.randomId(),
              server.getId(),
              1,
              RaftGroup.valueOf(group.id(), voters),
              false));
      group.started(server, server.getDivision(group.id()));
    } catch (IOException | RuntimeException e) {
      // The engine forgets it without closing it.
      group.copy().adapter().closeDivision();
      throw e;
    } finally {
      starting.remove(group.id());
    }
  }

  /** Whether the engine is just starting a log group, and must not hear of others meanwhile. */
  boolean isStarting(RaftGroupId id) {
    return starting.contains(id);
  }

  /** Whether the engine has the group; it has none after a try that failed half way. */
  private boolean runs(RaftLogGroup group) {
    for (RaftGroupId id : server.getGroupIds()) {
      if (id.equals(group.id())) {
        return true;
      }
    }
    return false;
  }

  private void request(GroupManagementRequest request) throws IOException {
    RaftClientReply reply = server.groupManagement(request);
    if (!reply.isSuccess()) {
      throw new IOException(Refusals.reason(reply.getException()));
    }
  }

  /** A voter and where its Raft port is. */
  RaftPeer peer(String voter) {
    String nodeId = VoterId.node(voter);
    // The settings say where this node is; of the others, the cluster knows it best.
    LogSettings.Peer peer =
        Stream.concat(
                settings.peers().stream().filter(each -> nodeId.equals(settings.nodeId())),
                Stream.concat(peers().stream(), settings.peers().stream()))
            .filter(each -> each.nodeId().equals(nodeId))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("no peer for the voter " + voter));
    return RaftPeer.newBuilder()
        .setId(voter)
        .setAddress(new HostPort(peer.host(), peer.raftPort()).toString())
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
      if (!group.division().isAlive() && !closing.get()) {
        if (mayHaveLostVote(group)) {
          reopen(group);
        } else {
          fail(new IllegalStateException("log group " + group.name() + ": the log engine stopped"));
        }
      }
      if (group.division().isAlive()) {
        closedAtNanos.remove(group);
        if (group.voters().takesItselfForAVoter() && !closing.get()) {
          reopen(group);
        }
        opensAgain(group);
      }
      group.refresh();
    }
    positions.write(groups);
  }

  /** Opens a group again that it follows in vain. Returns whether it does. */
  boolean opensAgain(RaftLogGroup group) {
    boolean inVain = group.voters().followsInVain();
    if (inVain) {
      reopen(group);
    }
    return inVain;
  }

  /** The engine closes a group, too, when the others have taken this node's vote away. */
  private boolean mayHaveLostVote(RaftLogGroup group) {
    if (peers().size() == 1 || groups.stream().noneMatch(each -> each.division().isAlive())) {
      return false;
    }
    long now = System.nanoTime();
    return now - closedAtNanos.computeIfAbsent(group, any -> now) < CLOSED_NANOS_MAX;
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

  /**
   * Waits for those that open a group again, which fails by now: they have files open, and a
   * process that ends meanwhile is aborted.
   */
  private void awaitReopened() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS_MAX / 2);
    while (!reopening.isEmpty() && System.nanoTime() < until) {
      Thread.sleep(REOPENED_LOOK_MILLIS);
    }
  }

  private void closeServer() {
    if (!serverClosing.compareAndSet(false, true)) {
      return;
    }
    Daemon.start(
        "log-close",
        () -> {
          try {
            exchange.server().close();
            groups.forEach(group -> group.copy().adapter().install().close());
            if (server != null) {
              server.close();
            }
            awaitReopened();
            for (RaftLogGroup group : groups) {
              group.copy().adapter().close();
              group.copy().adapter().closeBodies();
            }
            serverClosed.complete(null);
          } catch (Exception | Error e) {
            serverClosed.completeExceptionally(e);
          }
        });
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
    if (lock != null) {
      lock.close();
    }
  }
}
