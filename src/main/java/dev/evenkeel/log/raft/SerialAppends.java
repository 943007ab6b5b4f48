package dev.evenkeel.log.raft;

import dev.evenkeel.util.Daemon;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.impl.QuietListener;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a follower the entries of one log group one request after another: each request waits until
 * the one before it is on disk or refused. Reminders of a snapshot wait in the same queue.
 * Heartbeats do not wait.
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
 * entry 0, too, which may be a former leader's. And a snapshot is not taken over while entries are
 * being written: the engine would drop the writes, and nobody would hear of them again.
 *
 * <p>A snapshot that was copied is taken over before the next request. The engine does that only
 * when a leader reminds it of the snapshot; it takes no entries until then. A new leader need not
 * know of any snapshot, and this one goes on with entries if the follower has more than it lacks.
 *
 * <p>While the engine starts a log group, requests of others are refused, as they are before it has
 * the group. One that comes in the middle of it makes the engine a follower twice, and the start
 * fails.
 *
 * <p>Who follows without a vote ends the thread that would look for a leader before it hears of
 * other voters: see {@link QuietListener}. And it opens its log group again before it gets entries
 * as one that is to vote: it could vote for nobody until the change is over.
 *
 * <p>A leader tells everybody of a snapshot who is to get a vote. A follower that has the leader's
 * first entry answers that it has the snapshot: the engine would copy it, set the state back to it,
 * and fail with the next entry.
 *
 * <p>A follower without room on its disk takes nothing: each request with entries counts as a
 * heartbeat, so that it goes on knowing its leader, and is refused, so that the leader sends it
 * again. When there is room, the follower catches up as any that was away.
 */
final class SerialAppends implements InvocationHandler {
  private static final Logger LOG = LoggerFactory.getLogger(SerialAppends.class);
  private static final String APPEND = "appendEntriesAsync";
  private static final String SNAPSHOT = "installSnapshot";

  private static final Executor ON_A_THREAD = task -> Daemon.start("log-entries", task);

  /** How long the reminder of a snapshot waits for entries that are being written. */
  private static final long SNAPSHOT_WAIT_MILLIS_MAX = 2_000;

  private final RaftServer server;

  private final Map<ByteString, Queue> queues = new ConcurrentHashMap<>();

  /**
   * The requests to one log group, as long as the engine has it open.
   *
   * @param last the last request that came
   * @param owed the answers that are missing
   */
  private record Queue(
      RaftServer.Division division,
      AtomicReference<CompletableFuture<?>> last,
      Set<CompletableFuture<AppendEntriesReplyProto>> owed) {
    Queue(RaftServer.Division division) {
      this(
          division,
          new AtomicReference<>(CompletableFuture.completedFuture(null)),
          ConcurrentHashMap.newKeySet());
    }

    /**
     * The engine has closed the log group. It may never answer what it owes, and the network
     * answers in order.
     */
    void fail() {
      owed.forEach(
          each ->
              each.completeExceptionally(
                  new ServerNotReadyException("the log group was opened again")));
    }
  }

  private final Supplier<String> refusing;
  private final Predicate<RaftGroupId> starting;
  private final Copies copies;

  /** What this node's copies of log groups are good for. */
  interface Copies {
    /**
     * The entry that a leader named when it told of the snapshot that is here and was not taken
     * over; null: there is none.
     *
     * @param leader the voter that leads now
     */
    TermIndex firstOfCopied(RaftGroupId group, ByteString leader);

    /** Called before entries of a log group that are on the disk are acknowledged. */
    default void acknowledges(RaftGroupId group) throws IOException {}

    /**
     * Called before a log group gets entries as one that is to vote. Returns whether it is opened
     * again first.
     */
    default boolean opensAgain(RaftGroupId group) {
      return false;
    }

    /** Whether the engine has asked for a snapshot, and has not taken the answer yet. */
    default boolean installs(RaftGroupId group) {
      return false;
    }
  }

  private SerialAppends(
      RaftServer server,
      Supplier<String> refusing,
      Predicate<RaftGroupId> starting,
      Copies copies) {
    this.server = server;
    this.refusing = refusing;
    this.starting = starting;
    this.copies = copies;
  }

  /** The server that the network sees. */
  static RaftServer before(
      RaftServer server,
      Supplier<String> refusing,
      Predicate<RaftGroupId> starting,
      Copies copies) {
    return (RaftServer)
        Proxy.newProxyInstance(
            RaftServer.class.getClassLoader(),
            new Class<?>[] {RaftServer.class},
            new SerialAppends(server, refusing, starting, copies));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
    Object request = args == null || args.length != 1 ? null : args[0];
    if (request instanceof RequestVoteRequestProto vote) {
      requireStarted(vote.getServerRequest());
    }
    if (method.getName().equals(APPEND) && request instanceof AppendEntriesRequestProto append) {
      requireStarted(append.getServerRequest());
      if (append.getInitializing() && copies.opensAgain(groupOf(append.getServerRequest()))) {
        throw new ServerNotReadyException("the log group is about to be opened again");
      }
      takeCopied(append.getServerRequest(), append.getLeaderTerm());
      AppendEntriesRequestProto bounded = bounded(append);
      return bounded.getEntriesCount() > 0 ? queued(bounded) : server.appendEntriesAsync(bounded);
    }
    if (method.getName().equals(SNAPSHOT) && request instanceof InstallSnapshotRequestProto told) {
      requireStarted(told.getServerRequest());
      takeCopied(told.getServerRequest(), told.getLeaderTerm());
      InstallSnapshotReplyProto hasIt = hasIt(told);
      return hasIt == null ? queued(told) : hasIt;
    }
    try {
      return method.invoke(server, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private void requireStarted(RaftRpcRequestProto request) throws IOException {
    RaftGroupId group = groupOf(request);
    if (starting.test(group)) {
      throw new ServerNotReadyException("log group " + group + " is starting");
    }
  }

  /**
   * The answer of one that has the leader's first entry; else null. It must have that one: a leader
   * that has no entry before those that it sends names none, and the engine takes these only right
   * behind a snapshot. While the engine waits for a snapshot, it refuses all entries, and only a
   * request that reaches it ends that.
   */
  private InstallSnapshotReplyProto hasIt(InstallSnapshotRequestProto told) throws IOException {
    RaftRpcRequestProto request = told.getServerRequest();
    RaftServer.Division own = division(request);
    long term = own.getInfo().getCurrentTerm();
    if (!told.hasNotification()
        || told.getLeaderTerm() < term
        || copies.installs(groupOf(request))) {
      return null;
    }
    TermIndex first = TermIndex.valueOf(told.getNotification().getFirstAvailableTermIndex());
    long applied = own.getInfo().getLastAppliedIndex();
    // After a crash, its log has more than its state. The same entry stands for all before it.
    boolean logged =
        own.getRaftLog().getFlushIndex() >= first.getIndex()
            && first.equals(own.getRaftLog().getTermIndex(first.getIndex()));
    if (applied < first.getIndex() && !logged) {
      return null;
    }
    return InstallSnapshotReplyProto.newBuilder()
        .setServerReply(
            RaftRpcReplyProto.newBuilder()
                .setRequestorId(request.getRequestorId())
                .setReplyId(request.getReplyId())
                .setRaftGroupId(request.getRaftGroupId())
                .setCallId(request.getCallId())
                .setSuccess(true))
        .setTerm(term)
        .setResult(InstallSnapshotResult.ALREADY_INSTALLED)
        .setSnapshotIndex(Math.max(applied, first.getIndex()))
        .build();
  }

  /** Takes a snapshot over that is here, as if the leader had told of it. */
  private void takeCopied(RaftRpcRequestProto request, long leaderTerm) {
    TermIndex first = copies.firstOfCopied(groupOf(request), request.getRequestorId());
    if (first == null) {
      return;
    }
    try {
      queued(
          InstallSnapshotRequestProto.newBuilder()
              .setServerRequest(request)
              .setLeaderTerm(leaderTerm)
              .setNotification(
                  InstallSnapshotRequestProto.NotificationProto.newBuilder()
                      .setFirstAvailableTermIndex(first.toProto()))
              .build());
    } catch (IOException | RuntimeException e) {
      LOG.info("a snapshot that is here is not taken over yet: {}", e.toString());
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

  private Queue queue(RaftRpcRequestProto request) throws IOException {
    RaftServer.Division now = division(request);
    Queue known = queues.get(request.getRaftGroupId().getId());
    if (known != null && known.division != now && division(request) != now) {
      throw new ServerNotReadyException("the log group was opened again: send it again");
    }
    Queue[] former = new Queue[1];
    Queue queue =
        queues.compute(
            request.getRaftGroupId().getId(),
            (group, there) -> {
              former[0] = there;
              return there != null && there.division == now ? there : new Queue(now);
            });
    if (former[0] != null && former[0] != queue) {
      former[0].fail();
    }
    return queue;
  }

  private CompletableFuture<AppendEntriesReplyProto> queued(AppendEntriesRequestProto request)
      throws IOException {
    CompletableFuture<AppendEntriesReplyProto> mine = new CompletableFuture<>();
    Queue queue = queue(request.getServerRequest());
    queue.owed.add(mine);
    mine.whenComplete((reply, failure) -> queue.owed.remove(mine));
    queue.last.getAndSet(mine).whenComplete((reply, failure) -> append(queue, request, mine));
    return mine;
  }

  /** Blocks, as the engine does while it installs a snapshot. */
  private InstallSnapshotReplyProto queued(InstallSnapshotRequestProto told) throws IOException {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<?> before = queue(told.getServerRequest()).last.getAndSet(mine);
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
      // The entries that it has waited for may be those that the follower lacked.
      InstallSnapshotReplyProto hasIt = hasIt(told);
      return hasIt == null ? server.installSnapshot(told) : hasIt;
    } finally {
      mine.complete(null);
    }
  }

  private void append(
      Queue queue,
      AppendEntriesRequestProto request,
      CompletableFuture<AppendEntriesReplyProto> mine) {
    String reason = refusing.get();
    if (reason != null) {
      refuse(request, mine, reason);
      return;
    }
    try {
      if (division(request.getServerRequest()) != queue.division) {
        throw new ServerNotReadyException("the log group was opened again: send the entries again");
      }
      CompletableFuture<Void> ready =
          request.getEntriesList().stream().anyMatch(LogEntryProto::hasConfigurationEntry)
              ? QuietListener.of(queue.division)
              : CompletableFuture.completedFuture(null);
      // The thread that ends was interrupted: it must not write the entries itself.
      ready.thenRunAsync(() -> write(request, mine), ready.isDone() ? Runnable::run : ON_A_THREAD);
    } catch (Exception e) {
      mine.completeExceptionally(e);
    }
  }

  private void write(
      AppendEntriesRequestProto request, CompletableFuture<AppendEntriesReplyProto> mine) {
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
      if (reply.getResult() == AppendResult.SUCCESS) {
        copies.acknowledges(groupOf(request.getServerRequest()));
      }
      mine.complete(reply);
    } catch (IOException | RuntimeException e) {
      mine.completeExceptionally(e);
    }
  }

  private long term(RaftRpcRequestProto request) throws IOException {
    return division(request).getInfo().getCurrentTerm();
  }

  private RaftServer.Division division(RaftRpcRequestProto request) throws IOException {
    return server.getDivision(groupOf(request));
  }

  private static RaftGroupId groupOf(RaftRpcRequestProto request) {
    return ProtoUtils.toRaftGroupId(request.getRaftGroupId());
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
