package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.ReplicationLevel;
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
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.impl.DirectRequests;

/** What the engine runs of a log group on this node, now or later, and the requests to it. */
final class RaftDivision implements Submitter.Engine {
  private static final long TRANSFER_MILLIS_MAX = 5_000;
  private static final long SNAPSHOT_MILLIS_MAX = 60_000;

  private final String group;
  private final RaftGroupId id;
  private final RaftPeerId self;
  private final Executor executor;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private volatile RaftServer server;
  private volatile RaftServer.Division running;
  private volatile RaftClientAsynchronousProtocol target;
  private volatile String stopped;

  /**
   * @param executor one thread, which sends requests other than appends
   */
  RaftDivision(String group, RaftGroupId id, RaftPeerId self, Executor executor) {
    this.group = group;
    this.id = id;
    this.self = self;
    this.executor = executor;
  }

  /** The division runs; appends may go to it. */
  void started(RaftServer server, RaftServer.Division division) {
    this.server = server;
    running = division;
    // The server would hand each request to another thread and wait for it, which the group's
    // submitting thread is for; the division itself takes it on the thread that calls.
    target = division instanceof RaftClientAsynchronousProtocol direct ? direct : server;
  }

  /** The division is about to end; there may be another later. */
  void closed() {
    running = null;
    target = null;
  }

  /** Nothing is taken any more. */
  void stop(String reason) {
    stopped = reason;
  }

  boolean isStopped() {
    return stopped != null;
  }

  /** Why no appends are taken; null: they are. */
  String refusing() {
    String reason = stopped;
    return reason != null || target != null ? reason : "the log is starting";
  }

  /** Null: the engine does not run the group. */
  RaftServer.Division running() {
    return running;
  }

  /** Whether the engine still runs the group, or does not yet. */
  boolean isAlive() {
    RaftServer.Division now = running;
    return now == null || now.getInfo().isAlive();
  }

  boolean isSelf(RaftPeer peer) {
    return peer.getId().equals(self);
  }

  /** The current voters, as far as this node knows. */
  Collection<RaftPeer> voters() {
    RaftServer.Division now = running;
    return now == null ? List.of() : now.getRaftConf().getCurrentPeers();
  }

  /** Those who follow the log without a vote, as far as this node knows. */
  Collection<RaftPeer> listeners() {
    RaftServer.Division now = running;
    return now == null ? List.of() : now.getRaftConf().getCurrentPeers(RaftPeerRole.LISTENER);
  }

  /** Voters and listeners. */
  Stream<RaftPeer> peers() {
    return Stream.concat(voters().stream(), listeners().stream());
  }

  @Override
  public CompletableFuture<ByteBuffer> submit(PendingAppend append) throws Exception {
    return target
        .submitClientRequestAsync(request(RaftClientRequest.writeRequestType(), append))
        .thenApply(reply -> checked(reply).getMessage().getContent().asReadOnlyByteBuffer());
  }

  /** As {@link ReplicaWatch.Engine#watch}. */
  CompletableFuture<?> watch(long index) {
    return ask(
        () ->
            target.submitClientRequestAsync(
                request(RaftClientRequest.watchRequestType(index, ReplicationLevel.ALL), null)));
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

  CompletableFuture<Void> transferLeadership(RaftPeerId to) {
    return ask(() ->
            DirectRequests.send(
                opened(),
                new TransferLeadershipRequest(
                    client, self, id, calls.incrementAndGet(), to, TRANSFER_MILLIS_MAX)))
        .thenApply(reply -> null);
  }

  /**
   * @param wanted called on the executor
   */
  CompletableFuture<Void> configure(Callable<SetConfigurationRequest.Arguments> wanted) {
    return ask(() ->
            DirectRequests.send(
                opened(),
                new SetConfigurationRequest(
                    client, self, id, calls.incrementAndGet(), wanted.call())))
        .thenApply(reply -> null);
  }

  /** Completes with the index of the snapshot. */
  CompletableFuture<Long> snapshot() {
    return ask(() ->
            server.snapshotManagementAsync(
                SnapshotManagementRequest.newCreate(
                    client, self, id, calls.incrementAndGet(), SNAPSHOT_MILLIS_MAX, 1)))
        .thenApply(RaftClientReply::getLogIndex);
  }

  private RaftServer.Division opened() {
    RaftServer.Division now = running;
    if (now == null) {
      throw UNAVAILABLE.error("log group %s is being opened", group);
    }
    return now;
  }

  private CompletableFuture<RaftClientReply> ask(
      Callable<CompletableFuture<RaftClientReply>> request) {
    if (isStopped() || server == null) {
      return CompletableFuture.failedFuture(UNAVAILABLE.error("the log is not running"));
    }
    CompletableFuture<RaftClientReply> answer = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            request
                .call()
                .thenApply(RaftDivision::checked)
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

  private static RaftClientReply checked(RaftClientReply reply) {
    if (!reply.isSuccess()) {
      Throwable failure = reply.getException();
      throw new CompletionException(
          failure == null ? new IllegalStateException("refused without a reason") : failure);
    }
    return reply;
  }
}
