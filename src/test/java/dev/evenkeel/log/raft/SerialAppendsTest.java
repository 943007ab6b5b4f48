package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Wait;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.Test;

class SerialAppendsTest {
  private static final RaftGroupId ONE = RaftGroupId.valueOf(new UUID(1, 1));
  private static final RaftGroupId OTHER = RaftGroupId.valueOf(new UUID(2, 2));
  private static final long APPLIED = 7;
  private static final long LOGGED = 9;

  private record Taken(
      AppendEntriesRequestProto request, CompletableFuture<AppendEntriesReplyProto> answer) {}

  private final List<Taken> taken = new ArrayList<>();
  private final Map<RaftGroupId, RaftServer.Division> divisions = new HashMap<>();
  private IOException refusal;
  private long term = 1;
  private int snapshots;
  private String full;
  private boolean starting;
  private TermIndex former;
  private long logged = LOGGED;
  private boolean installs;
  private final RaftServer server =
      SerialAppends.before(
          follower(),
          () -> full,
          any -> starting,
          new SerialAppends.Copies() {
            @Override
            public TermIndex firstOfCopied(RaftGroupId group, ByteString leader) {
              return former;
            }

            @Override
            public boolean installs(RaftGroupId group) {
              return installs;
            }
          });

  /** A follower that answers when the test says so. */
  private RaftServer follower() {
    return (RaftServer)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {RaftServer.class},
            (proxy, method, args) -> {
              switch (method.getName()) {
                case "appendEntriesAsync":
                  if (refusal != null) {
                    throw refusal;
                  }
                  CompletableFuture<AppendEntriesReplyProto> answer = new CompletableFuture<>();
                  taken.add(new Taken((AppendEntriesRequestProto) args[0], answer));
                  return answer;
                case "getDivision":
                  return divisions.computeIfAbsent((RaftGroupId) args[0], group -> division());
                case "installSnapshot":
                  snapshots++;
                  return InstallSnapshotReplyProto.getDefaultInstance();
                case "getId":
                  return RaftPeerId.valueOf("n1");
                default:
                  throw new IOException("broken");
              }
            });
  }

  private RaftServer.Division division() {
    DivisionInfo info =
        (DivisionInfo)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DivisionInfo.class},
                (proxy, method, args) ->
                    method.getName().equals("getLastAppliedIndex") ? APPLIED : term);
    RaftLog log =
        (RaftLog)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RaftLog.class},
                (proxy, method, args) ->
                    method.getName().equals("getFlushIndex")
                        ? logged
                        : TermIndex.valueOf(1, (long) args[0]));
    return (RaftServer.Division)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {RaftServer.Division.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "getInfo" -> info;
                  case "getRaftLog" -> log;
                  default -> null;
                });
  }

  private static AppendEntriesRequestProto request(RaftGroupId group, long first, int count) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(group)))
            .setLeaderTerm(1)
            .setLeaderCommit(first + count)
            .setPreviousLog(TermIndexProto.newBuilder().setTerm(1).setIndex(first - 1));
    for (int i = 0; i < count; i++) {
      request.addEntries(LogEntryProto.newBuilder().setTerm(1).setIndex(first + i));
    }
    return request.build();
  }

  private static InstallSnapshotRequestProto reminder() {
    return InstallSnapshotRequestProto.newBuilder()
        .setServerRequest(request(ONE, 0, 0).getServerRequest())
        .build();
  }

  /** A leader whose log begins there tells of a snapshot. */
  private InstallSnapshotReplyProto told(long leaderTerm, long firstTerm, long first)
      throws IOException {
    return server.installSnapshot(
        reminder().toBuilder()
            .setLeaderTerm(leaderTerm)
            .setNotification(
                InstallSnapshotRequestProto.NotificationProto.newBuilder()
                    .setFirstAvailableTermIndex(
                        TermIndexProto.newBuilder().setTerm(firstTerm).setIndex(first)))
            .build());
  }

  @Test
  void whoHasTheFirstEntryOfTheLeaderCopiesNoSnapshot() throws IOException {
    for (long first : new long[] {0, APPLIED, LOGGED}) {
      InstallSnapshotReplyProto reply = told(1, 1, first);
      assertThat(reply.getResult()).isEqualTo(InstallSnapshotResult.ALREADY_INSTALLED);
      assertThat(reply.getSnapshotIndex()).isEqualTo(Math.max(APPLIED, first));
      assertThat(reply.getTerm()).isEqualTo(term);
    }
    assertThat(snapshots).isZero();
    told(1, 1, LOGGED + 1);
    assertThat(snapshots).as("the leader has no entry before its first one").isEqualTo(1);
    told(1, 0, LOGGED);
    assertThat(snapshots).as("another entry of this index").isEqualTo(2);
    told(0, 1, APPLIED);
    assertThat(snapshots).as("a former leader is for the engine to refuse").isEqualTo(3);
  }

  /** Else the engine would refuse all entries, and nobody would tell it of the answer. */
  @Test
  void anEngineThatWaitsForASnapshotHearsOfItAlthoughItNeedsNone() throws IOException {
    installs = true;
    told(1, 1, 0);
    assertThat(snapshots).isEqualTo(1);
  }

  @Test
  void whoGetsTheFirstEntryWhileASnapshotWaitsCopiesNone() throws Exception {
    server.appendEntriesAsync(request(ONE, LOGGED + 1, 3));
    FutureTask<InstallSnapshotReplyProto> telling = new FutureTask<>(() -> told(1, 1, LOGGED + 3));
    Thread leader = new Thread(telling);
    leader.start();
    Wait.until(() -> leader.getState() == Thread.State.TIMED_WAITING);
    logged = LOGGED + 3;
    answer(0);
    assertThat(telling.get().getResult()).isEqualTo(InstallSnapshotResult.ALREADY_INSTALLED);
    assertThat(snapshots).isZero();
  }

  private void answer(int index) {
    taken
        .get(index)
        .answer
        .complete(AppendEntriesReplyProto.newBuilder().setResult(AppendResult.SUCCESS).build());
  }

  @Test
  void aGroupThatIsOpenedAgainFailsWhatTheFormerOneOwes() throws IOException {
    var running = server.appendEntriesAsync(request(ONE, 10, 1));
    var waiting = server.appendEntriesAsync(request(ONE, 11, 1));
    divisions.clear();
    var next = server.appendEntriesAsync(request(ONE, 10, 2));
    assertThat(running).as("the engine may never answer").isCompletedExceptionally();
    assertThat(waiting).isCompletedExceptionally();
    assertThat(taken).hasSize(2);
    answer(1);
    assertThat(next)
        .isCompletedWithValueMatching(reply -> reply.getResult() == AppendResult.SUCCESS);
    answer(0);
    assertThat(running).isCompletedExceptionally();
    assertThat(taken).hasSize(2);
  }

  @Test
  void aGroupHearsOfNobodyWhileItStarts() throws IOException {
    starting = true;
    Fails.with(ServerNotReadyException.class, () -> server.appendEntriesAsync(request(ONE, 10, 0)));
    Fails.with(
        ServerNotReadyException.class,
        () ->
            server.requestVote(
                RequestVoteRequestProto.newBuilder()
                    .setServerRequest(request(ONE, 10, 0).getServerRequest())
                    .build()));
    assertThat(taken).isEmpty();
    starting = false;
    var later = server.appendEntriesAsync(request(ONE, 10, 1));
    answer(0);
    assertThat(later).isCompleted();
  }

  @Test
  void aRequestWaitsForTheOneBeforeIt() throws IOException {
    var shorter = server.appendEntriesAsync(request(ONE, 10, 3));
    var longer = server.appendEntriesAsync(request(ONE, 10, 6));
    assertThat(taken).hasSize(1);
    assertThat(shorter).isNotDone();
    answer(0);
    assertThat(shorter).isCompleted();
    assertThat(taken).hasSize(2);
    assertThat(taken.get(1).request.getEntriesCount()).isEqualTo(6);
    assertThat(longer).isNotDone();
    answer(1);
    assertThat(longer).isCompleted();
  }

  @Test
  void heartbeatsAndOtherGroupsDoNotWait() throws IOException {
    server.appendEntriesAsync(request(ONE, 10, 3));
    server.appendEntriesAsync(request(ONE, 13, 0));
    server.appendEntriesAsync(request(OTHER, 10, 3));
    assertThat(taken).hasSize(3);
  }

  @Test
  void oneThatFailsLetsTheNextIn() throws IOException {
    var first = server.appendEntriesAsync(request(ONE, 10, 3));
    var second = server.appendEntriesAsync(request(ONE, 13, 3));
    var third = server.appendEntriesAsync(request(ONE, 16, 3));
    taken.get(0).answer.completeExceptionally(new IOException("disk"));
    assertThat(first).isCompletedExceptionally();
    assertThat(taken).hasSize(2);
    refusal = new IOException("not ready");
    answer(1);
    assertThat(second).isCompleted();
    assertThatThrownBy(third::join).hasCause(refusal);
    refusal = null;
    server.appendEntriesAsync(request(ONE, 16, 3));
    assertThat(taken).hasSize(3);
  }

  @Test
  void everythingElseGoesStraightThrough() {
    assertThat(server.getId()).isEqualTo(RaftPeerId.valueOf("n1"));
    assertThatThrownBy(server::start).isInstanceOf(IOException.class).hasMessage("broken");
  }

  @Test
  void withoutRoomEntriesAndSnapshotsAreRefusedAndTheLeaderStaysKnown() throws IOException {
    full = "no room";
    var refused = server.appendEntriesAsync(request(ONE, 10, 3));
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).request.getEntriesCount()).as("a heartbeat").isZero();
    assertThat(taken.get(0).request.getServerRequest().getRaftGroupId())
        .isEqualTo(request(ONE, 10, 3).getServerRequest().getRaftGroupId());
    answer(0);
    assertThatThrownBy(refused::join).hasMessageContaining("no room");
    assertThatThrownBy(() -> server.installSnapshot(reminder())).hasMessage("no room");
    full = null;
    var next = server.appendEntriesAsync(request(ONE, 10, 3));
    assertThat(taken.get(1).request.getEntriesCount()).isEqualTo(3);
    answer(1);
    assertThat(next).isCompleted();
  }

  @Test
  void afterAFailureOfTheDiskNothingIsAcknowledgedAnyMore() throws IOException {
    var failed = server.appendEntriesAsync(request(ONE, 10, 3));
    var repeated = server.appendEntriesAsync(request(ONE, 10, 3));
    full = "the log of this node has failed";
    taken.get(0).answer.completeExceptionally(new IOException("disk"));
    assertThat(failed).isCompletedExceptionally();
    assertThat(taken.get(1).request.getEntriesCount()).as("a heartbeat").isZero();
    answer(1);
    assertThatThrownBy(repeated::join).hasMessageContaining("has failed");
  }

  @Test
  void entriesAreNotAcknowledgedToALeaderOfATermThatHasPassed() throws IOException {
    var late = server.appendEntriesAsync(request(ONE, 10, 3));
    var next = server.appendEntriesAsync(request(ONE, 10, 3));
    term = 2;
    answer(0);
    assertThatThrownBy(late::join).hasMessageContaining("the term is 2 now");
    term = 1;
    answer(1);
    assertThat(next).isCompleted();
  }

  @Test
  void whoeverNamesNoEntryBeforeCommitsNoneButItsOwn() throws IOException {
    server.appendEntriesAsync(request(ONE, 0, 3).toBuilder().clearPreviousLog().build());
    server.appendEntriesAsync(request(OTHER, 7, 0).toBuilder().clearPreviousLog().build());
    server.appendEntriesAsync(request(OTHER, 7, 0));
    assertThat(taken)
        .extracting(each -> each.request.getLeaderCommit())
        .containsExactly(2L, -1L, 7L);
  }

  @Test
  void aSnapshotOfAFormerLeaderIsTakenOverBeforeARequestOfAnother() throws IOException {
    server.appendEntriesAsync(request(ONE, 10, 0));
    assertThat(snapshots).isZero();
    former = TermIndex.valueOf(1, 10);
    server.appendEntriesAsync(request(ONE, 10, 0));
    assertThat(snapshots).isEqualTo(1);
    server.appendEntriesAsync(request(ONE, 10, 3));
    assertThat(snapshots).isEqualTo(2);
    assertThat(taken).hasSize(3);
    // Also if it does not work, heartbeats pass.
    full = "no room";
    server.appendEntriesAsync(request(ONE, 10, 0));
    assertThat(snapshots).isEqualTo(2);
    assertThat(taken).hasSize(4);
  }

  @Test
  void aSnapshotWaitsForTheEntriesBeforeItAndTheseForNoSnapshotThatWasRefused() throws Exception {
    InstallSnapshotRequestProto reminder = reminder();
    server.appendEntriesAsync(request(ONE, 10, 3));
    Fails.saying(() -> server.installSnapshot(reminder), "still being written");
    var behind = server.appendEntriesAsync(request(ONE, 13, 3));
    assertThat(taken).hasSize(1);
    assertThat(snapshots).isZero();
    answer(0);
    answer(1);
    assertThat(behind).isCompleted();
    server.installSnapshot(reminder);
    assertThat(snapshots).isEqualTo(1);
  }
}
