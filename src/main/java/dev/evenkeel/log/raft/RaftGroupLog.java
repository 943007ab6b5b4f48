package dev.evenkeel.log.raft;

import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One log group on a Raft division. */
final class RaftGroupLog implements LogGroup, Submitter.Engine {
  private static final Logger LOG = LoggerFactory.getLogger(RaftGroupLog.class);
  private static final long TRANSFER_MILLIS_MAX = 5_000;
  private static final long SNAPSHOT_MILLIS_MAX = 60_000;

  private final String name;
  private final RaftGroupId id;
  private final RaftPeerId self;
  private final StateAdapter adapter;
  private final Executor executor;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final Submitter submitter;
  private final List<Consumer<Leadership>> listeners = new CopyOnWriteArrayList<>();
  private volatile Leadership leadership = Leadership.UNKNOWN;
  private volatile RaftServer server;
  private volatile RaftServer.Division division;
  private volatile RaftClientAsynchronousProtocol target;
  private volatile String stopped;

  /**
   * @param executor one thread: listeners are told there, one after another; requests other than
   *     appends are sent from there
   */
  RaftGroupLog(
      String name, RaftGroupId id, RaftPeerId self, StateAdapter adapter, Executor executor) {
    this.name = name;
    this.id = id;
    this.self = self;
    this.adapter = adapter;
    this.executor = executor;
    submitter = new Submitter("log-submit-" + name, this);
  }

  RaftGroupId id() {
    return id;
  }

  StateAdapter adapter() {
    return adapter;
  }

  /** The division runs; appends may go to it. */
  void started(RaftServer server, RaftServer.Division division) {
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
  public CompletableFuture<ByteBuffer> append(List<ByteBuffer> parts) {
    long bytes = 0;
    for (ByteBuffer part : parts) {
      bytes += part.remaining();
    }
    if (bytes > RaftSettings.CONTENT_BYTES_MAX) {
      return CompletableFuture.failedFuture(
          new RefusedException(
              Refusal.TOO_LARGE,
              "an entry of "
                  + bytes
                  + " bytes; at most "
                  + RaftSettings.CONTENT_BYTES_MAX
                  + " are allowed"));
    }
    if (stopped != null || target == null) {
      return CompletableFuture.failedFuture(
          new RefusedException(
              Refusal.UNAVAILABLE, stopped == null ? "the log is starting" : stopped));
    }
    return submitter.submit(new PendingAppend(List.copyOf(parts), (int) bytes));
  }

  @Override
  public CompletableFuture<ByteBuffer> submit(PendingAppend append) throws Exception {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(client)
            .setServerId(self)
            .setGroupId(id)
            .setCallId(calls.incrementAndGet())
            .setMessage(append)
            .setType(RaftClientRequest.writeRequestType())
            .build();
    return target
        .submitClientRequestAsync(request)
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
    // Stopping counts at once, also before it is told.
    return stopped == null ? known : new Leadership(null, known.term(), false);
  }

  @Override
  public void onLeadership(Consumer<Leadership> listener) {
    listeners.add(listener);
  }

  /** Looks at who leads, and tells when it is another than before. On the executor only. */
  void refresh() {
    Leadership now = current();
    if (now.equals(leadership)) {
      return;
    }
    leadership = now;
    LOG.info("group {}: {}", name, now);
    tell(adapter.state()::leadershipChanged, now);
    listeners.forEach(listener -> tell(listener, now));
  }

  private static void tell(Consumer<Leadership> listener, Leadership now) {
    try {
      listener.accept(now);
    } catch (RuntimeException e) {
      LOG.error("a leadership listener failed", e);
    }
  }

  private Leadership current() {
    RaftServer.Division running = division;
    if (running == null) {
      return Leadership.UNKNOWN;
    }
    DivisionInfo info = running.getInfo();
    long term = info.getCurrentTerm();
    if (stopped != null || !info.isAlive()) {
      return new Leadership(null, term, false);
    }
    RaftPeerId leader = info.getLeaderId();
    return new Leadership(
        leader == null ? null : leader.toString(), term, info.isLeader() && info.isLeaderReady());
  }

  /** Whether the engine still runs this group. */
  boolean isAlive() {
    RaftServer.Division running = division;
    return running == null || running.getInfo().isAlive();
  }

  /** Answers all that is pending, and takes no more. */
  void stop(String reason) {
    stopped = reason;
    submitter.stop(reason);
  }

  @Override
  public CompletableFuture<Void> handLeadershipTo(String nodeId) {
    return ask(() ->
            server.transferLeadershipAsync(
                new TransferLeadershipRequest(
                    client,
                    self,
                    id,
                    calls.incrementAndGet(),
                    RaftPeerId.valueOf(nodeId),
                    TRANSFER_MILLIS_MAX)))
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

  private interface Request {
    CompletableFuture<RaftClientReply> send() throws Exception;
  }

  private CompletableFuture<RaftClientReply> ask(Request request) {
    if (stopped != null || server == null) {
      return CompletableFuture.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "the log is not running"));
    }
    CompletableFuture<RaftClientReply> answer = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            request
                .send()
                .thenApply(RaftGroupLog::checked)
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
      return LogGroup.super.status();
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

  private static Map<String, Long> matchIndex(DivisionInfo info) {
    if (!info.isLeader()) {
      return Map.of();
    }
    List<ServerRpcProto> followers = info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
    long[] indices = info.getFollowerMatchIndices();
    Map<String, Long> byNode = new HashMap<>();
    for (int i = 0; i < Math.min(followers.size(), indices.length); i++) {
      byNode.put(followers.get(i).getId().getId().toStringUtf8(), indices[i]);
    }
    return byNode;
  }
}
