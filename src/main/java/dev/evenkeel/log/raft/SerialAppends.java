package dev.evenkeel.log.raft;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;

/**
 * Gives a follower the entries of one log group one request after another: each request waits until
 * the one before it is on disk or refused. Chunks of a snapshot wait in the same queue. Heartbeats
 * do not wait.
 *
 * <p>Without it Ratis 3.3.0 loses what it has acknowledged. A follower that is still writing the
 * entries 10 to 12 takes a repeated request with the entries 10 to 15 for the same one, since both
 * begin at 10, and answers that it has 15 (see {@code ServerImplUtils.NavigableIndices.append}).
 * The leader counts it for the majority of 13 to 15, and can never send these again. A leader
 * repeats requests whenever one was refused while others were on their way, as when a follower
 * comes back under load.
 *
 * <p>The option {@code append-entries.compose.enabled}, to which that bookkeeping belongs, is off
 * as well: with it a heartbeat can make a follower apply uncommitted entries of a former leader.
 * Without it the engine acknowledges repeated entries at once. Here they are on disk by then, or
 * the disk has refused them, and the node takes nothing any more.
 *
 * <p>Three more gaps are closed here. An append is not acknowledged if the term has moved on
 * meanwhile: the vote for the later term may have been given to a candidate without its entries. A
 * request that names no entry before its own commits none but its own: the engine would commit
 * entry 0, too, which may be a former leader's. And a snapshot is not installed while entries are
 * being written: the engine would drop the writes, and nobody would hear of them again.
 *
 * <p>A follower without room on its disk takes nothing: each request with entries counts as a
 * heartbeat, so that it goes on knowing its leader, and is refused, so that the leader sends it
 * again. When there is room, the follower catches up as any that was away.
 */
final class SerialAppends implements InvocationHandler {
  private static final String APPEND = "appendEntriesAsync";
  private static final String SNAPSHOT = "installSnapshot";

  /** How long a chunk of a snapshot waits for entries that are being written. */
  private static final long SNAPSHOT_WAIT_MILLIS_MAX = 2_000;

  private final RaftServer server;

  /** Log group → the last request that came. */
  private final Map<ByteString, AtomicReference<CompletableFuture<?>>> queues =
      new ConcurrentHashMap<>();

  private final Supplier<String> refusing;

  private SerialAppends(RaftServer server, Supplier<String> refusing) {
    this.server = server;
    this.refusing = refusing;
  }

  /** The server that the network sees. */
  static RaftServer before(RaftServer server, Supplier<String> refusing) {
    return (RaftServer)
        Proxy.newProxyInstance(
            RaftServer.class.getClassLoader(),
            new Class<?>[] {RaftServer.class},
            new SerialAppends(server, refusing));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
    Object request = args == null || args.length != 1 ? null : args[0];
    if (method.getName().equals(APPEND) && request instanceof AppendEntriesRequestProto append) {
      AppendEntriesRequestProto bounded = bounded(append);
      return bounded.getEntriesCount() > 0 ? queued(bounded) : server.appendEntriesAsync(bounded);
    }
    if (method.getName().equals(SNAPSHOT) && request instanceof InstallSnapshotRequestProto chunk) {
      return queued(chunk);
    }
    try {
      return method.invoke(server, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** A request that names no entry before its own commits none but its own. */
  private static AppendEntriesRequestProto bounded(AppendEntriesRequestProto request) {
    if (request.hasPreviousLog()) {
      return request;
    }
    int entries = request.getEntriesCount();
    long last =
        entries == 0 ? RaftLog.INVALID_LOG_INDEX : request.getEntries(entries - 1).getIndex();
    return request.getLeaderCommit() <= last
        ? request
        : request.toBuilder().setLeaderCommit(last).build();
  }

  /** Takes the last place in the queue of a log group. Returns the place before it. */
  private CompletableFuture<?> place(RaftRpcRequestProto request, CompletableFuture<?> mine) {
    return queues
        .computeIfAbsent(
            request.getRaftGroupId().getId(),
            group -> new AtomicReference<>(CompletableFuture.completedFuture(null)))
        .getAndSet(mine);
  }

  private CompletableFuture<AppendEntriesReplyProto> queued(AppendEntriesRequestProto request) {
    CompletableFuture<AppendEntriesReplyProto> mine = new CompletableFuture<>();
    place(request.getServerRequest(), mine).whenComplete((reply, failure) -> append(request, mine));
    return mine;
  }

  /** Blocks, as the engine does while it installs a snapshot. */
  private InstallSnapshotReplyProto queued(InstallSnapshotRequestProto chunk) throws IOException {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<?> before = place(chunk.getServerRequest(), mine);
    try {
      before.handle((reply, failure) -> null).get(SNAPSHOT_WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      before.whenComplete((reply, failure) -> mine.complete(null));
      throw new IOException("entries are still being written: send the snapshot again", e);
    } catch (InterruptedException e) {
      before.whenComplete((reply, failure) -> mine.complete(null));
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted before a snapshot was installed");
    }
    try {
      String reason = refusing.get();
      if (reason != null) {
        throw new IOException(reason);
      }
      return server.installSnapshot(chunk);
    } finally {
      mine.complete(null);
    }
  }

  private void append(
      AppendEntriesRequestProto request, CompletableFuture<AppendEntriesReplyProto> mine) {
    String reason = refusing.get();
    if (reason != null) {
      refuse(request, mine, reason);
      return;
    }
    try {
      server
          .appendEntriesAsync(request)
          .whenComplete(
              (reply, failure) -> {
                if (failure == null) {
                  acknowledge(request, reply, mine);
                } else {
                  mine.completeExceptionally(Refusals.unwrap(failure));
                }
              });
    } catch (Exception e) {
      mine.completeExceptionally(e);
    }
  }

  /** A leader that is still the leader sends again what is not acknowledged. */
  private void acknowledge(
      AppendEntriesRequestProto request,
      AppendEntriesReplyProto reply,
      CompletableFuture<AppendEntriesReplyProto> mine) {
    try {
      long term = term(request.getServerRequest());
      if (reply.getResult() == AppendResult.SUCCESS && term > request.getLeaderTerm()) {
        throw new IOException(
            "the term is " + term + " now, and these entries came from " + request.getLeaderTerm());
      }
      mine.complete(reply);
    } catch (IOException | RuntimeException e) {
      mine.completeExceptionally(e);
    }
  }

  private long term(RaftRpcRequestProto request) throws IOException {
    return server
        .getDivision(ProtoUtils.toRaftGroupId(request.getRaftGroupId()))
        .getInfo()
        .getCurrentTerm();
  }

  private void refuse(
      AppendEntriesRequestProto request,
      CompletableFuture<AppendEntriesReplyProto> mine,
      String reason) {
    IOException refusal = new IOException(reason);
    try {
      server
          .appendEntriesAsync(request.toBuilder().clearEntries().build())
          .whenComplete((reply, failure) -> mine.completeExceptionally(refusal));
    } catch (Exception e) {
      mine.completeExceptionally(refusal);
    }
  }
}
