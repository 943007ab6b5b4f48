package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.log.LogSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A follower has uncommitted entries of a former leader. The next leader overwrites them, and sends
 * heartbeats meanwhile.
 */
class StaleTailTest {
  private static final int ROUNDS = 50;
  private static final int TAIL = 3;
  private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 1));

  private static final ClientId CLIENT = ClientId.randomId();

  private record Entry(long term, long index) {}

  @TempDir Path directory;

  /** Entry → the term of what was applied. */
  private final Map<Long, Long> applied = new ConcurrentSkipListMap<>();

  private final AtomicLong calls = new AtomicLong();

  private final class Recording extends BaseStateMachine {
    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
      LogEntryProto entry = transaction.getLogEntry();
      applied.put(entry.getIndex(), entry.getTerm());
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
      return CompletableFuture.completedFuture(Message.EMPTY);
    }
  }

  @Test
  void isNeverApplied() throws Exception {
    try (RaftServer server = follower()) {
      var wire = SerialAppends.before(server, () -> null, any -> false, (group, leader) -> null);
      Entry committed = new Entry(0, -1);
      for (int round = 0; round < ROUNDS; round++) {
        long staleTerm = 2L * round + 1;
        Entry before = committed;
        Entry last = new Entry(staleTerm + 1, before.index + TAIL + 1);
        assertTaken(append(wire, "n2", staleTerm, before, TAIL, before.index));
        CyclicBarrier together = new CyclicBarrier(2);
        var overlapping = CompletableFuture.runAsync(() -> heartbeats(wire, last, together));
        together.await();
        var replaced = append(wire, "n3", last.term, before, TAIL + 1, before.index);
        CompletableFuture<AppendEntriesReplyProto> heard = heartbeat(wire, last, last.index);
        assertTaken(replaced);
        heard.join();
        overlapping.join();
        assertTaken(heartbeat(wire, last, last.index));
        committed = last;
      }
      long end = committed.index;
      Wait.until(() -> applied.containsKey(end));
      assertThat(applied).hasSize((int) end + 1);
    }
    applied.forEach(
        (index, term) ->
            assertThat(term).as("term of entry %d", index).isEqualTo(2 * (index / (TAIL + 1) + 1)));
  }

  /** A leader that does not know what the follower has names no entry before. */
  @Test
  void ofOneEntryIsReplacedAlthoughAHeartbeatComesFirst() throws Exception {
    try (RaftServer server = follower()) {
      var wire = SerialAppends.before(server, () -> null, any -> false, (group, leader) -> null);
      Entry none = new Entry(0, -1);
      assertTaken(append(wire, "n2", 1, none, 1, -1));
      heartbeat(wire, new Entry(2, -1), 2).join();
      assertTaken(append(wire, "n3", 2, none, 3, 2));
      Wait.until(() -> applied.containsKey(2L));
    }
    assertThat(applied).isEqualTo(Map.of(0L, 2L, 1L, 2L, 2L, 2L));
  }

  private void heartbeats(RaftServer follower, Entry last, CyclicBarrier together) {
    try {
      together.await();
      times(3, i -> heartbeat(follower, last, last.index));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private CompletableFuture<AppendEntriesReplyProto> heartbeat(
      RaftServer follower, Entry previous, long committed) throws IOException {
    return append(follower, "n3", previous.term, previous, 0, committed);
  }

  private static void assertTaken(CompletableFuture<AppendEntriesReplyProto> reply) {
    assertThat(reply.join().getResult()).isEqualTo(AppendResult.SUCCESS);
  }

  /** Requests as a leader sends them: the entry before, and those that follow it. */
  private CompletableFuture<AppendEntriesReplyProto> append(
      RaftServer follower, String leader, long term, Entry previous, int count, long committed)
      throws IOException {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(ByteString.copyFromUtf8(leader))
                    .setReplyId(ByteString.copyFromUtf8("n1"))
                    .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(GROUP))
                    .setCallId(calls.incrementAndGet()))
            .setLeaderTerm(term)
            .setLeaderCommit(committed);
    if (previous.index >= 0) {
      request.setPreviousLog(
          TermIndexProto.newBuilder().setTerm(previous.term).setIndex(previous.index));
    }
    for (int i = 1; i <= count; i++) {
      request.addEntries(
          LogEntryProto.newBuilder()
              .setTerm(term)
              .setIndex(previous.index + i)
              .setStateMachineLogEntry(
                  StateMachineLogEntryProto.newBuilder()
                      .setClientId(CLIENT.toByteString())
                      .setLogData(ByteString.copyFromUtf8("of term " + term))));
    }
    return follower.appendEntriesAsync(request.build());
  }

  private RaftServer follower() throws IOException {
    List<LogSettings.Peer> peers =
        Stream.of("n1", "n2", "n3").map(id -> TestNode.peer(id, TestNode.freePort())).toList();
    LogSettings settings = TestNode.settings("n1", directory, peers, 1, 1_000_000);
    Parameters parameters = new Parameters();
    new SerialRpc.Hooks(
            () -> null,
            group -> false,
            (group, leader) -> null,
            group -> new ReadFailures(damage -> {}),
            group -> false)
        .putInto(parameters);
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(RaftPeerId.valueOf("n1"))
            .setGroup(
                RaftGroup.valueOf(
                    GROUP,
                    peers.stream()
                        .map(
                            peer ->
                                RaftPeer.newBuilder()
                                    .setId(peer.nodeId())
                                    .setAddress(peer.host() + ":" + peer.raftPort())
                                    .build())
                        .toList()))
            .setParameters(parameters)
            .setProperties(
                RaftSettings.of(
                    settings, peers.get(0), directory.resolve("raft").toFile(), peers.size() == 1))
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setStateMachine(new Recording())
            .build();
    server.start();
    return server;
  }
}
