package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Wait;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.broker.machine.States;
import dev.evenkeel.broker.machine.StoredState;
import dev.evenkeel.broker.node.ReplicaCheck;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import dev.evenkeel.storage.StoreWalk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes with the broker's states, over a real log: which of them are equal is seen. */
class StateDigestTest {
  private static final List<String> IDS = List.of("a", "b", "c");
  private static final String ERRS = "b";

  @TempDir Path temp;
  private final RocksShared shared = new RocksShared();
  private final List<LogSettings.Peer> peers =
      IDS.stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();
  private final Map<String, RaftLogNode> nodes = new TreeMap<>();
  private final Map<String, StoredState<?, ?>> states = new HashMap<>();
  private long now = 1_000_000;

  @AfterEach
  void close() {
    nodes.values().forEach(RaftLogNode::close);
    shared.close();
  }

  private void start(String id) throws Exception {
    LogSettings settings = TestNode.settings(id, temp.resolve(id), peers, 1, 1_000_000);
    TestNode.agree(settings);
    Path live = TestNode.live(temp.resolve(id));
    nodes.put(
        id,
        RaftLogNode.start(
            settings,
            group -> {
              Path directory = live.resolve(group);
              if (group.equals(LogNode.META)) {
                return States.meta(directory, path -> RocksStore.open(path, shared));
              }
              DataState state =
                  States.data(
                      directory,
                      path -> RocksStore.open(path, shared),
                      new SegmentBodies(live.resolve(group + "-bodies"), 4 << 20),
                      1 << 20);
              states.put(id, state);
              return id.equals(ERRS) ? new Erring(state) : state;
            },
            TestLines.of(peers).line(id)));
  }

  private void stop(String id) {
    nodes.remove(id).close();
    states.remove(id);
  }

  /** As a replica that reads its own clock while it applies retention. */
  private record Erring(ReplicatedState state) implements ReplicatedState {
    private static final int LENGTH = Entry.of(new DataCommand.Retain(), 0).length;

    @Override
    public void open() throws IOException {
      state.open();
    }

    @Override
    public EntryBodies bodies() {
      return state.bodies();
    }

    @Override
    public ByteBuffer apply(long term, long index, ByteBuffer head, EntryBody body) {
      return state.apply(
          term,
          index,
          head.remaining() == LENGTH
              ? ByteBuffer.wrap(Entry.of(new DataCommand.Retain(), 7))
              : head,
          body);
    }

    @Override
    public long appliedIndex() {
      return state.appliedIndex();
    }

    @Override
    public long appliedTerm() {
      return state.appliedTerm();
    }

    @Override
    public void snapshot(Path directory) throws IOException {
      state.snapshot(directory);
    }

    @Override
    public void restore(Path directory) throws IOException {
      state.restore(directory);
    }

    @Override
    public void close() throws IOException {
      state.close();
    }
  }

  private LogGroup leader() {
    return await()
        .atMost(TestNode.PATIENCE)
        .until(
            () ->
                nodes.values().stream()
                    .map(node -> node.data().get(0))
                    .filter(group -> group.leadership().ready())
                    .findFirst()
                    .orElse(null),
            group -> group != null);
  }

  /** Again until a leader has taken it: doubled entries do no harm here. */
  private void append(byte[] head, ByteBuffer... body) {
    await()
        .atMost(TestNode.PATIENCE)
        .ignoreExceptions()
        .until(
            () -> {
              leader().append(ByteBuffer.wrap(head), List.of(body)).get(20, TimeUnit.SECONDS);
              return true;
            });
  }

  private void fill(int entries) {
    append(Entry.of(Commands.openShards(1, "t", List.of(0, 1), TopicConfig.DEFAULT), now));
    for (int i = 0; i < entries; i++) {
      now++;
      AppendBody.Item item = new AppendBody.Item(Rig.SHARD, Rig.batch(0, 0, i, 3));
      Bytes head = Entry.appending(FeatureLevel.FIRST, now);
      AppendHead.write(head, item);
      Bytes body = new Bytes();
      AppendBody.write(body, item);
      append(head.toArray(), body.view());
    }
  }

  private void awaitSameEntry() {
    Wait.until(
        () -> states.values().stream().map(StoredState::appliedIndex).distinct().count() == 1);
  }

  private void assertEqual() {
    awaitSameEntry();
    assertThat(states.values().stream().map(state -> state.digest().toString()).distinct())
        .hasSize(1);
    assertThat(states.values().stream().map(state -> state.read(StoreWalk::digests)).distinct())
        .hasSize(1);
  }

  @Test
  void nodesThatStartAgainOrGetASnapshotAreEqualAndOneThatErredIsNot() throws Exception {
    each(IDS, this::start);
    fill(5);
    assertEqual();
    assertThat(states.get("a").digest().since()).isZero();

    stop("c");
    fill(5);
    start("c");
    assertEqual();

    stop("c");
    fill(5);
    each(nodes.values(), node -> node.data().get(0).copy().snapshot().get(60, TimeUnit.SECONDS));
    fill(1);
    start("c");
    assertEqual();

    ReplicaCheck check = new ReplicaCheck();
    assertThat(heard(check, ERRS)).isEqualTo(ReplicaCheck.News.NONE);
    long last = states.get("a").appliedIndex();
    append(Entry.of(new DataCommand.Retain(), now));
    fill(1);
    awaitSameEntry();
    assertThat(heard(check, "c")).isEqualTo(ReplicaCheck.News.NONE);
    assertThat(heard(check, ERRS)).isEqualTo(ReplicaCheck.News.DIFFERS);
    assertThat(check.differences().get(ERRS).from()).isEqualTo(last + 1);
  }

  /** What node a finds. */
  private ReplicaCheck.News heard(ReplicaCheck check, String other) {
    return check.heard(other, states.get("a").digest(), states.get(other).digest());
  }
}
