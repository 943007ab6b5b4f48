package dev.evenkeel.log.raft;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * Gives a follower the entries of one log group one request after another: each when the one before
 * it is on disk or was refused. Heartbeats do not wait.
 *
 * <p>Without it Ratis 3.3.0 loses what it has acknowledged. A follower that is still writing the
 * entries 10 to 12 takes a repeated request with the entries 10 to 15 for the same one, since both
 * begin at 10, and answers that it has 15 (see {@code ServerImplUtils.NavigableIndices.append}).
 * The leader counts it for the majority of 13 to 15, and can never send these again. A leader
 * repeats requests whenever one was refused while others were on their way, as when a follower
 * comes back under load.
 *
 * <p>A follower without room on its disk takes nothing: each request with entries counts as a
 * heartbeat, so that it goes on knowing its leader, and is refused, so that the leader sends it
 * again. When there is room, the follower catches up as any that was away.
 */
final class SerialAppends implements InvocationHandler {
  private static final String APPEND = "appendEntriesAsync";
  private static final String SNAPSHOT = "installSnapshot";

  private final RaftServer server;

  /** Log group → the last request that came. */
  private final Map<ByteString, AtomicReference<CompletableFuture<?>>> lines =
      new ConcurrentHashMap<>();

  private final SerialRpc.Holding holding;

  private SerialAppends(RaftServer server, SerialRpc.Holding holding) {
    this.server = server;
    this.holding = holding;
  }

  /** The server as the wire shall see it. */
  static RaftServer before(RaftServer server, SerialRpc.Holding holding) {
    return (RaftServer)
        Proxy.newProxyInstance(
            RaftServer.class.getClassLoader(),
            new Class<?>[] {RaftServer.class},
            new SerialAppends(server, holding));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
    if (method.getName().equals(APPEND)
        && args.length == 1
        && args[0] instanceof AppendEntriesRequestProto request
        && request.getEntriesCount() > 0) {
      return inLine(request);
    }
    String reason = method.getName().equals(SNAPSHOT) ? holding.get() : null;
    if (reason != null) {
      throw new IOException(reason);
    }
    try {
      return method.invoke(server, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private CompletableFuture<AppendEntriesReplyProto> inLine(AppendEntriesRequestProto request) {
    CompletableFuture<AppendEntriesReplyProto> mine = new CompletableFuture<>();
    CompletableFuture<?> before =
        lines
            .computeIfAbsent(
                request.getServerRequest().getRaftGroupId().getId(),
                group -> new AtomicReference<>(CompletableFuture.completedFuture(null)))
            .getAndSet(mine);
    before.whenComplete((reply, failure) -> append(request, mine));
    return mine;
  }

  private void append(
      AppendEntriesRequestProto request, CompletableFuture<AppendEntriesReplyProto> mine) {
    String reason = holding.get();
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
                  mine.complete(reply);
                } else {
                  mine.completeExceptionally(Refusals.unwrap(failure));
                }
              });
    } catch (Exception e) {
      mine.completeExceptionally(e);
    }
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
