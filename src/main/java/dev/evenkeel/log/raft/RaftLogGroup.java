package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.DISK_FULL;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Follower;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.log.SnapshotTransfer;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.protocol.files.ByteRate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.ReplicationLevel;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.impl.DirectRequests;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One log group on a Raft division. */
final class RaftLogGroup
    implements LogGroup, Submitter.Engine, ReplicaWatch.Engine, StateAdapter.GroupEvents {
  private static final Logger LOG = LoggerFactory.getLogger(RaftLogGroup.class);

  /** After this much silence, a node that follows without a vote no longer names the leader. */
  private static final long LISTENER_SILENCE_MILLIS_MAX = 3_000;

  private static final long TRANSFER_MILLIS_MAX = 5_000;
  private static final long SNAPSHOT_MILLIS_MAX = 60_000;

  /** Without room on the disk larger entries are refused: progress and retention go on. */
  private static final int SMALL_BYTES = 4_096;

  /** For this time a new leader that should not lead does not serve, but looks for another. */
  private static final long YIELD_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final String name;
  private final RaftGroupId id;
  private final RaftPeerId self;
  private volatile StateAdapter adapter;
  private final Executor executor;
  private final RaftLogNode node;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final Submitter submitter;
  private final ReplicaWatch replicas;
  private final List<Consumer<Leadership>> listeners = new CopyOnWriteArrayList<>();
  private final Eligibility eligibility = new Eligibility();
  private final CopyRepair repair;
  private final ReadFailures readFailures = new ReadFailures(this::damaged);
  private volatile CatchUp catchUp = new CatchUp();
  private volatile Leadership leadership = Leadership.UNKNOWN;

  /** What another node has said. */
  private volatile Leadership heard = Leadership.UNKNOWN;

  /**
   * The term in which this node began to look for another leader, and since when; on the executor.
   */
  private long yieldingTerm = -1;

  private long yieldingSinceNanos;
  private final DroppedCopy dropped;
  private volatile RaftServer server;
  private volatile RaftServer.Division division;

  /** The log on this node has entries, whether they are known to be committed or not. */
  private volatile boolean holdsEntries;

  private volatile RaftClientAsynchronousProtocol target;
  private volatile String stopped;

  /**
   * @param executor one thread, which calls listeners and sends requests other than appends
   */
  RaftLogGroup(
      DamagedCopy copy,
      DroppedCopy dropped,
      UUID id,
      StateAdapter adapter,
      RaftLogNode node,
      Executor executor) {
    this.dropped = dropped;
    repair = new CopyRepair(copy, eligibility, node, executor);
    name = copy.group();
    this.id = RaftGroupId.valueOf(id);
    this.adapter = adapter;
    this.node = node;
    this.executor = executor;
    self = RaftPeerId.valueOf(node.voter());
    submitter = new Submitter("log-submit-" + name, this);
    replicas =
        new ReplicaWatch(
            this,
            CompletableFuture.delayedExecutor(
                ReplicaWatch.PAUSE_MILLIS, TimeUnit.MILLISECONDS, Runnable::run));
    adapter.tell(this);
  }

  RaftGroupId id() {
    return id;
  }

  /** What has become of this node's copy since it lost its vote. */
  DroppedCopy dropped() {
    return dropped;
  }

  @Override
  public boolean isVoteless() {
    return dropped.isVoteless() || copy().isVoteless();
  }

  /**
   * Whether this node must keep out of an election of which the engine has just asked or been
   * asked.
   */
  boolean keepsOut() {
    return copy().keepsOut() || dropped.isVoteless();
  }

  /**
   * The node is about to acknowledge entries, which are on its disk. If they gave it its vote
   * again, this must be noted first: from then on, others count what it has acknowledged.
   */
  void acknowledges() throws IOException {
    RaftServer.Division running = division;
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
        && now.getCurrentPeers().stream().anyMatch(peer -> peer.getId().equals(self))) {
      dropped.voting();
      LOG.info("log group {}: this node has its vote again", name);
    }
  }

  /** Index of the last entry that this node has; -1: none. */
  long lastIndex() {
    RaftServer.Division running = division;
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

  /** Lets the engine take part in elections again, once nothing speaks against it. */
  private void lookAtVote(RaftServer.Division running) {
    if (!adapter.keptOut()) {
      return;
    }
    try {
      voteIfGiven(running, adapter.state().appliedIndex());
    } catch (IOException e) {
      LOG.warn("log group {}: this node still has no vote: {}", name, e.toString());
    }
    if (!isVoteless()) {
      adapter.letIn();
    }
  }

  ReadFailures readFailures() {
    return readFailures;
  }

  StateAdapter adapter() {
    return adapter;
  }

  DamagedCopy copy() {
    return repair.copy();
  }

  /** Whether this node may have a vote: it follows a leader, or leads. */
  boolean hearsLeader() {
    RaftServer.Division running = division;
    return running != null
        && running.getInfo().isAlive()
        && running.getInfo().getLeaderId() != null
        && running.getRaftConf().getCurrentPeers().stream()
            .anyMatch(peer -> peer.getId().equals(self));
  }

  /** The division is about to end; there may be another later. */
  void closed() {
    division = null;
    target = null;
    executor.execute(this::refresh);
  }

  /** Takes another adapter for the next division. */
  void use(StateAdapter next) {
    adapter = next;
    catchUp = new CatchUp();
    next.tell(this);
  }

  @Override
  public boolean holdsCopy() {
    RaftServer.Division running = division;
    if (running != null && running.getInfo().isAlive()) {
      holdsEntries = lastEntry(running) != null;
    }
    return holdsEntries || adapter.state().appliedIndex() >= 0;
  }

  /** The division runs; appends may go to it. */
  void started(RaftServer server, RaftServer.Division division) {
    repair.started();
    this.server = server;
    this.division = division;
    // The server would hand each request to another thread and wait for it, which this group's
    // submitting thread is for; the division itself takes it on the thread that calls.
    target =
        division instanceof RaftClientAsynchronousProtocol direct
            ? direct
            : server::submitClientRequestAsync;
    executor.execute(this::refresh);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public CompletableFuture<ByteBuffer> append(ByteBuffer head, List<ByteBuffer> body) {
    long bytes = head.remaining();
    for (ByteBuffer part : body) {
      bytes += part.remaining();
    }
    if (bytes > head.remaining() && adapter.state().bodies() == null) {
      throw new IllegalArgumentException("entries of the log group " + name + " have no bodies");
    }
    if (bytes > RaftSettings.CONTENT_BYTES_MAX) {
      return refused(
          TOO_LARGE,
          "an entry of %s bytes; at most %s are allowed"
              .formatted(bytes, RaftSettings.CONTENT_BYTES_MAX));
    }
    if (stopped != null || target == null) {
      return refused(UNAVAILABLE, stopped == null ? "the log is starting" : stopped);
    }
    String noRoom = node.noRoom();
    if (noRoom != null && bytes > SMALL_BYTES) {
      return refused(DISK_FULL, noRoom);
    }
    try {
      adapter.state().admit(head);
    } catch (RefusedException refused) {
      return CompletableFuture.failedFuture(refused);
    }
    return submitter.submit(new PendingAppend(head, body));
  }

  @Override
  public CompletableFuture<Replicas> awaitReplicas(long index, long timeoutMillis) {
    return replicas.await(index < 0 ? status().commitIndex() : index, timeoutMillis);
  }

  @Override
  public CompletableFuture<?> watch(long index) {
    return ask(
        () ->
            target.submitClientRequestAsync(
                request(RaftClientRequest.watchRequestType(index, ReplicationLevel.ALL), null)));
  }

  /**
   * A follower answers for entries once it has flushed them, so what it is known to have is on its
   * disk; of itself the leader counts what is flushed.
   */
  @Override
  public Map<String, Long> marks() {
    RaftServer.Division running = division;
    if (running == null || !running.getInfo().isLeader()) {
      return null;
    }
    Map<String, Long> marks = new HashMap<>();
    Map<String, Long> known = new HashMap<>();
    for (Follower follower : followers()) {
      // Two voters of one node, while one takes the other's place: both must have it.
      known.merge(follower.node(), follower.matchIndex(), Math::min);
    }
    for (RaftPeer voter : running.getRaftConf().getCurrentPeers()) {
      String node = nodeOf(voter.getId());
      long mark =
          voter.getId().equals(self)
              ? running.getRaftLog().getFlushIndex()
              : known.getOrDefault(node, -1L);
      marks.merge(node, mark, Math::min);
    }
    return marks;
  }

  @Override
  public String leader() {
    String leader = leadership().leader();
    return leader == null ? "" : leader;
  }

  private RaftClientRequest request(RaftClientRequest.Type type, PendingAppend message) {
    return RaftClientRequest.newBuilder()
        .setClientId(client)
        .setServerId(self)
        .setGroupId(id)
        .setCallId(calls.incrementAndGet())
        .setMessage(message)
        .setType(type)
        .build();
  }

  @Override
  public CompletableFuture<ByteBuffer> submit(PendingAppend append) throws Exception {
    return target
        .submitClientRequestAsync(request(RaftClientRequest.writeRequestType(), append))
        .thenApply(reply -> checked(reply).getMessage().getContent().asReadOnlyByteBuffer());
  }

  private static RaftClientReply checked(RaftClientReply reply) {
    if (!reply.isSuccess()) {
      Throwable failure = reply.getException();
      throw new CompletionException(
          failure == null ? new IllegalStateException("refused without a reason") : failure);
    }
    return reply;
  }

  @Override
  public Leadership leadership() {
    Leadership known = leadership;
    // Stopping counts at once, even before the listeners hear of it.
    return stopped == null ? known : new Leadership(null, known.term(), false);
  }

  @Override
  public boolean caughtUp() {
    RaftServer.Division running = division;
    return catchUp.done() || running != null && catchUp.look(running);
  }

  @Override
  public void onLeadership(Consumer<Leadership> listener) {
    listeners.add(listener);
  }

  @Override
  public void offLeadership(Consumer<Leadership> listener) {
    listeners.remove(listener);
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
  public void damaged(String detail) {
    repair.damaged(detail);
  }

  @Override
  public void copyAnew() {
    repair.giveUpIfLed(leadership().leader());
  }

  @Override
  public long copiedAnew() {
    return repair.copied();
  }

  @Override
  public void checkFiles(ByteRate rate) throws IOException {
    String damage = LogFilesCheck.damage(node.directory(id).resolve("current"), rate);
    if (damage != null) {
      damaged(damage);
    }
  }

  @Override
  public boolean hasFailed() {
    return node.hasFailed();
  }

  @Override
  public void snapshotDue() {
    snapshot();
  }

  /** Finds out who leads, and calls the listeners if that has changed. On the executor only. */
  void refresh() {
    SnapshotTransfer transfer = snapshotTransfer();
    eligibility.set(Eligibility.Reason.FAR_BEHIND, transfer.from() == null ? null : line(transfer));
    if (division != null) {
      repair.look(division, this, System.nanoTime());
      lookAtVote(division);
    }
    Leadership now = leadershipNow();
    if (now.equals(leadership)) {
      return;
    }
    leadership = now;
    LOG.info("log group {}: {}", name, now);
    listeners.forEach(listener -> tell(listener, now));
  }

  private static String line(SnapshotTransfer transfer) {
    return "%s of %s MiB of a snapshot have come from %s"
        .formatted(transfer.bytesHere() >> 20, transfer.bytesTotal() >> 20, transfer.from());
  }

  private static void tell(Consumer<Leadership> listener, Leadership now) {
    try {
      listener.accept(now);
    } catch (RuntimeException e) {
      LOG.error("a leadership listener failed", e);
    }
  }

  @Override
  public void heard(String leader, long term) {
    Leadership known = heard;
    if (term > known.term() && term >= leadership.term() && !leader.equals(node.nodeId())) {
      heard = new Leadership(leader, term, false);
      executor.execute(this::refresh);
    }
  }

  private Leadership leadershipNow() {
    Leadership own = leadershipOfLog();
    Leadership said = heard;
    boolean knowsMore =
        said.term() > own.term() || said.term() == own.term() && own.leader() == null;
    return knowsMore && stopped == null ? said : own;
  }

  private Leadership leadershipOfLog() {
    RaftServer.Division running = division;
    if (running == null) {
      return Leadership.UNKNOWN;
    }
    DivisionInfo info = running.getInfo();
    long term = info.getCurrentTerm();
    if (stopped != null || !info.isAlive()) {
      return new Leadership(null, term, false);
    }
    RaftPeerId leader = isForsaken(info) ? null : info.getLeaderId();
    return new Leadership(
        leader == null ? null : VoterId.node(leader.toString()),
        term,
        info.isLeader() && info.isLeaderReady() && !yields(term));
  }

  /** One without a vote never gives its leader up by itself. */
  private static boolean isForsaken(DivisionInfo info) {
    return info.isListener()
        && info.getRoleInfoProto().getFollowerInfo().getLeaderInfo().getLastRpcElapsedTimeMs()
            > LISTENER_SILENCE_MILLIS_MAX;
  }

  /**
   * Whether a new leader waits with serving because it should not lead: moments later another does,
   * and nobody has begun to rely on this one. Who serves already goes on until then.
   */
  private boolean yields(long term) {
    boolean serves = leadership.ready() && leadership.term() == term;
    if (eligibility.eligible() || serves || current().size() == 1) {
      return false;
    }
    long now = System.nanoTime();
    if (term != yieldingTerm) {
      yieldingTerm = term;
      yieldingSinceNanos = now;
    }
    return now - yieldingSinceNanos < YIELD_NANOS;
  }

  @Override
  public Eligibility eligibility() {
    return eligibility;
  }

  @Override
  public long firstIndex() {
    RaftServer.Division running = division;
    if (running == null) {
      return 0;
    }
    long first = running.getRaftLog().getStartIndex();
    return first < 0 ? running.getRaftLog().getNextIndex() : first;
  }

  /** What is known to be flushed here and committed, so that it never leaves the log; or -1. */
  long flushedIndex() {
    RaftServer.Division running = division;
    return running == null
        ? -1
        : Math.min(running.getRaftLog().getFlushIndex(), adapter.applied().getIndex());
  }

  /** What the engine runs of this group; null: nothing. */
  RaftServer.Division division() {
    return division;
  }

  /** Whether the engine still runs this group. */
  boolean isAlive() {
    RaftServer.Division running = division;
    return running == null || running.getInfo().isAlive();
  }

  /** Answers all pending appends, and takes no more. */
  void stop(String reason) {
    stopped = reason;
    submitter.stop(reason);
  }

  @Override
  public CompletableFuture<Void> handLeadershipTo(String nodeId) {
    RaftPeer next =
        current().stream()
            .filter(peer -> nodeOf(peer.getId()).equals(nodeId))
            .findFirst()
            .orElse(null);
    if (next == null) {
      return refused(INVALID, "node '" + nodeId + "' has no vote in the log group " + name);
    }
    return ask(() ->
            DirectRequests.send(
                running(),
                new TransferLeadershipRequest(
                    client, self, id, calls.incrementAndGet(), next.getId(), TRANSFER_MILLIS_MAX)))
        .thenApply(reply -> null);
  }

  @Override
  public CompletableFuture<Long> snapshot() {
    return ask(() ->
            server.snapshotManagementAsync(
                SnapshotManagementRequest.newCreate(
                    client, self, id, calls.incrementAndGet(), SNAPSHOT_MILLIS_MAX, 1)))
        .thenApply(RaftClientReply::getLogIndex);
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
  public int fileBytes() {
    return RaftSettings.FILE_BYTES_MAX;
  }

  private interface Request {
    CompletableFuture<RaftClientReply> send() throws Exception;
  }

  private RaftServer.Division running() {
    RaftServer.Division running = division;
    if (running == null) {
      throw UNAVAILABLE.error("log group %s is being opened", name);
    }
    return running;
  }

  private static <T> CompletableFuture<T> refused(Refusal refusal, String detail) {
    return CompletableFuture.failedFuture(new RefusedException(refusal, detail));
  }

  private CompletableFuture<RaftClientReply> ask(Request request) {
    if (stopped != null || server == null) {
      return refused(UNAVAILABLE, "the log is not running");
    }
    CompletableFuture<RaftClientReply> answer = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            request
                .send()
                .thenApply(RaftLogGroup::checked)
                .whenComplete(
                    (reply, failure) -> {
                      if (failure == null) {
                        answer.complete(reply);
                      } else {
                        answer.completeExceptionally(Refusals.of(failure, false));
                      }
                    });
          } catch (Exception e) {
            answer.completeExceptionally(Refusals.of(e, false));
          }
        });
    return answer;
  }

  @Override
  public LogStatus status() {
    RaftServer.Division running = division;
    if (running == null) {
      return new LogStatus(name, leadership(), -1, -1, Map.of(), 0, 0);
    }
    return new LogStatus(
        name,
        leadership(),
        running.getRaftLog().getLastCommittedIndex(),
        running.getInfo().getLastAppliedIndex(),
        matchIndex(running.getInfo()),
        submitter.pendingEntries(),
        submitter.pendingBytes());
  }

  private Map<String, Long> matchIndex(DivisionInfo info) {
    Map<String, Long> byNode = new HashMap<>();
    followers(info).forEach(follower -> byNode.put(follower.node(), follower.matchIndex()));
    return byNode;
  }

  @Override
  public SnapshotTransfer snapshotTransfer() {
    return adapter.install().transfer();
  }

  @Override
  public List<Follower> followers() {
    RaftServer.Division running = division;
    return running == null ? List.of() : followers(running.getInfo());
  }

  private List<Follower> followers(DivisionInfo info) {
    long[] indices = info.isLeader() ? info.getFollowerMatchIndices() : null;
    if (indices == null) {
      return List.of();
    }
    List<ServerRpcProto> known = info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
    Set<RaftPeerId> voting = new HashSet<>();
    current().forEach(peer -> voting.add(peer.getId()));
    List<Follower> followers = new ArrayList<>();
    for (int i = 0; i < Math.min(known.size(), indices.length); i++) {
      RaftPeerId peer = RaftPeerId.valueOf(known.get(i).getId().getId());
      if (voting.contains(peer)) {
        followers.add(
            new Follower(nodeOf(peer), indices[i], known.get(i).getLastRpcElapsedTimeMs()));
      }
    }
    return followers;
  }

  /**
   * Whether this leader still sends to one of these, although it is not in the log group any more.
   */
  private boolean sendsStill(List<RaftPeer> peers) {
    RaftServer.Division running = division;
    if (running == null) {
      return false;
    }
    Set<RaftPeerId> gone = new HashSet<>();
    running
        .getInfo()
        .getRoleInfoProto()
        .getLeaderInfo()
        .getFollowerInfoList()
        .forEach(known -> gone.add(RaftPeerId.valueOf(known.getId().getId())));
    Stream.concat(current().stream(), following().stream())
        .forEach(peer -> gone.remove(peer.getId()));
    return peers.stream().anyMatch(peer -> gone.contains(peer.getId()));
  }

  private static String nodeOf(RaftPeerId peer) {
    return VoterId.node(peer.toString());
  }

  /** The current voters, as far as this node knows. */
  private Collection<RaftPeer> current() {
    RaftServer.Division running = division;
    return running == null ? List.of() : running.getRaftConf().getCurrentPeers();
  }

  @Override
  public List<String> voters() {
    return current().stream().map(peer -> peer.getId().toString()).sorted().toList();
  }

  /** Those who follow the log without a vote, as far as this node knows. */
  private Collection<RaftPeer> following() {
    RaftServer.Division running = division;
    return running == null
        ? List.of()
        : running.getRaftConf().getCurrentPeers(RaftPeerRole.LISTENER);
  }

  @Override
  public List<String> listeners() {
    return following().stream().map(peer -> peer.getId().toString()).sorted().toList();
  }

  /** Whether this node has a vote, or follows the log without one. */
  boolean isMember() {
    return Stream.concat(current().stream(), following().stream())
            .anyMatch(peer -> peer.getId().equals(self))
        && !takesItselfForAVoter();
  }

  /**
   * Whether the engine treats this node as one with a vote, though it is to follow without one: it
   * learns that only when it opens the log. It would stand for election, and then close the log.
   */
  boolean takesItselfForAVoter() {
    RaftServer.Division running = division;
    return running != null
        && running.getInfo().isFollower()
        && following().stream().anyMatch(peer -> peer.getId().equals(self));
  }

  /**
   * Whether the engine treats this node as one that follows without a vote, though it is in the log
   * group no longer, as before it gets a vote. It learns that only when it opens the log: until
   * then, the node votes for nobody.
   */
  boolean followsInVain() {
    RaftServer.Division running = division;
    return running != null
        && running.getInfo().isListener()
        && Stream.concat(current().stream(), following().stream())
            .noneMatch(peer -> peer.getId().equals(self));
  }

  @Override
  public CompletableFuture<Void> removeVoters(String node, String except) {
    Predicate<RaftPeer> gone =
        peer -> nodeOf(peer.getId()).equals(node) && !peer.getId().toString().equals(except);
    return change(
        (voters, listeners) -> {
          voters.removeIf(gone);
          listeners.removeIf(gone);
        });
  }

  @Override
  public CompletableFuture<Void> addVoter(String voter) {
    RaftPeer added = node.peer(voter);
    Predicate<RaftPeer> same = peer -> peer.getId().equals(added.getId());
    // The engine cannot lead a log group in which one that follows is just getting its vote: a
    // leader that is elected then counts it twice. So it leaves first.
    CompletableFuture<Void> free =
        following().stream().anyMatch(same)
            ? change((voters, listeners) -> listeners.removeIf(same))
            : CompletableFuture.completedFuture(null);
    return free.thenCompose(
        left ->
            change(
                (voters, listeners) -> {
                  if (listeners.stream().anyMatch(same)) {
                    throw new ReconfigurationInProgressException("it follows again meanwhile");
                  }
                  voters.removeIf(same);
                  voters.add(added);
                }));
  }

  @Override
  public CompletableFuture<Void> addListener(String listener) {
    RaftPeer added = node.peer(listener);
    return change(
        (voters, listeners) -> {
          if (voters.stream().noneMatch(peer -> peer.getId().equals(added.getId()))) {
            listeners.removeIf(peer -> peer.getId().equals(added.getId()));
            listeners.add(added);
          }
        });
  }

  private interface Change {
    void make(List<RaftPeer> voters, List<RaftPeer> listeners)
        throws ReconfigurationInProgressException;
  }

  /** Asks even if nothing changes: the leader knows whether the voters are committed. */
  private CompletableFuture<Void> change(Change change) {
    return ask(() -> {
          List<RaftPeer> voters = List.copyOf(current());
          List<RaftPeer> listeners = List.copyOf(following());
          List<RaftPeer> newVoters = new ArrayList<>(voters);
          List<RaftPeer> newListeners = new ArrayList<>(listeners);
          change.make(newVoters, newListeners);
          if (sendsStill(newVoters) || sendsStill(newListeners)) {
            // The engine would fail half-way, and refuse all later changes.
            throw new ReconfigurationInProgressException("its last change is not quite over");
          }
          return DirectRequests.send(
              running(),
              new SetConfigurationRequest(
                  client,
                  self,
                  id,
                  calls.incrementAndGet(),
                  SetConfigurationRequest.Arguments.newBuilder()
                      .setServersInCurrentConf(voters)
                      .setListenersInCurrentConf(listeners)
                      .setServersInNewConf(newVoters)
                      .setListenersInNewConf(newListeners)
                      .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                      .build()));
        })
        .thenApply(reply -> null);
  }
}
