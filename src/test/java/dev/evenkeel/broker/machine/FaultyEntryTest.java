package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.broker.state.TailMemory;
import dev.evenkeel.log.UnreadableEntryException;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.MemoryStore;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What becomes of an entry that cannot be read, or that a decider cannot decide about. */
class FaultyEntryTest {
  private final MemoryStore.Disk disk = new MemoryStore.Disk();
  private final HeapBodies bodies = new HeapBodies();
  private final Path directory = Path.of("target", "faulty", UUID.randomUUID().toString());

  private DataState state(int levelRead) throws IOException {
    DataState state =
        new DataState(
            directory.resolve("d0"),
            disk::open,
            bodies,
            new TailMemory(1 << 20),
            levelRead,
            () -> levelRead);
    state.open();
    return state;
  }

  private static ByteBuffer bytes(int level, int type, int tag) {
    return ByteBuffer.wrap(new Bytes().u8(level).u8(type).i64(1_000).u8(tag).toArray());
  }

  private static ByteBuffer bytes(DataCommand command) {
    return ByteBuffer.wrap(Entry.of(command, 1_000));
  }

  private static DataCommand open() {
    return Commands.openShards(1, "orders", List.of(0), TopicConfig.DEFAULT);
  }

  @Test
  void aStateWithAnEntryThatTheLogDoesNotHaveStopsItsGroup() throws IOException {
    DataState state = state(FeatureLevel.NEWEST);
    Entries.apply(state, 1, 0, bytes(open()));
    Entries.apply(state, 1, 1, bytes(open()));
    state.close();
    DataState again = state(FeatureLevel.NEWEST);
    Entries.apply(again, 1, 0, bytes(open()));
    assertThatThrownBy(() -> Entries.apply(again, 2, 1, bytes(open())))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("entry 1 of term 1, and the log has one of term 2");
    Entries.apply(again, 1, 1, bytes(open()));
    assertThat(again.appliedIndex()).isEqualTo(1);
  }

  @Test
  void anEntryAboveTheNodesLevelStopsItAndItsPositionDoesNotMove() throws IOException {
    DataState state = state(1);
    Entries.apply(state, 1, 0, bytes(open()));
    assertThatThrownBy(() -> Entries.apply(state, 1, 1, bytes(2, Entry.DATA_COMMAND, 10)))
        .isInstanceOf(UnreadableEntryException.class)
        .hasMessageMatching(
            "log entry 1 needs feature level 2, and this node( of version .*)? reads up to level 1:"
                + " start it with the version that the other nodes run");
    assertThat(state.appliedIndex()).isZero();
    state.close();

    DataState newer = state(2);
    Entries.apply(newer, 1, 1, bytes(2, Entry.DATA_COMMAND, 10));
    assertThat(newer.appliedIndex()).isEqualTo(1);
  }

  @Test
  void anEntryOfAnUnknownKindStopsTheNodeAndItsPositionDoesNotMove() throws IOException {
    DataState state = state(1);
    Entries.apply(state, 1, 0, bytes(open()));
    Bytes longer = new Bytes().raw(Entry.of(new DataCommand.Retain(), 1_000)).u8(1);
    for (ByteBuffer entry :
        List.of(
            bytes(1, Entry.DATA_COMMAND, 99),
            bytes(0, Entry.DATA_COMMAND, 10),
            ByteBuffer.wrap(new byte[] {1, 2, 0}),
            bytes(1, 9, 0),
            bytes(1, Entry.META_COMMAND, 7),
            ByteBuffer.wrap(longer.toArray()))) {
      assertThatThrownBy(() -> Entries.apply(state, 1, 1, entry))
          .isInstanceOf(UnreadableEntryException.class)
          .hasMessageContaining("start this node with the version that the other nodes run");
      assertThat(state.appliedIndex()).isZero();
    }
  }

  @Test
  void aStateThatHoldsALaterLevelIsNotOpenedByAnEarlierBuild() throws IOException {
    DataState state = state(2);
    Entries.apply(state, 1, 0, bytes(2, Entry.DATA_COMMAND, 10));
    Path snapshot = Files.createDirectories(directory).resolve("snapshot");
    state.snapshot(snapshot);
    state.close();
    assertThatThrownBy(() -> state(1))
        .isInstanceOf(UnreadableEntryException.class)
        .hasMessageContaining("the state of log group d0 needs feature level 2");

    DataState other =
        new DataState(
            directory.resolve("d1"), disk::open, bodies, new TailMemory(1 << 20), 1, () -> 1);
    other.open();
    assertThatThrownBy(() -> other.restore(snapshot)).isInstanceOf(UnreadableEntryException.class);
  }

  @Test
  void aLeaderLogsNothingThatSomeNodeCouldNotRead() throws IOException {
    DataState state =
        new DataState(
            directory.resolve("d0"), disk::open, bodies, new TailMemory(1 << 20), 9, () -> 8);
    state.open();
    state.admit(bytes(8, Entry.DATA_COMMAND, 10));
    Refused.with(
        Refusal.UNAVAILABLE,
        () -> state.admit(bytes(9, Entry.DATA_COMMAND, 10)),
        "needs feature level 9, and the cluster is at level 8");
    Refused.with(
        Refusal.UNAVAILABLE,
        () -> state.admit(bytes(10, Entry.DATA_COMMAND, 10)),
        "needs feature level 10, and the cluster is at level 8");
  }

  @Test
  void aLeaderLogsWhatItsLogHasAlreadyThoughItsNodeKnowsNothingOfTheClusterYet()
      throws IOException {
    DataState state =
        new DataState(
            directory.resolve("d0"), disk::open, bodies, new TailMemory(1 << 20), 10, () -> 8);
    state.open();
    Entries.apply(state, 1, 0, bytes(9, Entry.DATA_COMMAND, 10));
    state.admit(bytes(9, Entry.DATA_COMMAND, 10));
    assertThat(state.levelOfCluster()).isEqualTo(9);
    assertThatThrownBy(() -> state.admit(bytes(10, Entry.DATA_COMMAND, 10)))
        .hasMessageContaining("needs feature level 10, and the cluster is at level 9");
  }

  @Test
  void theLevelOfTheClusterIsRaisedByTheLogAndNeverGoesDown() throws IOException {
    MetaState meta = new MetaState(directory.resolve("meta"), disk::open, 5);
    meta.open();
    ByteBuffer raise = ByteBuffer.wrap(Entry.of(new MetaCommand.RaiseFeatureLevel(3), 1_000));
    assertThat(Entry.level(raise)).isEqualTo(3);
    meta.admit(raise.duplicate());
    Entries.apply(meta, 1, 0, raise.duplicate());
    assertThat(meta.tables().featureLevel()).isEqualTo(3);
    Entries.apply(
        meta, 1, 1, ByteBuffer.wrap(Entry.of(new MetaCommand.RaiseFeatureLevel(2), 1_000)));
    assertThat(meta.tables().featureLevel()).isEqualTo(3);
    meta.close();
    meta = new MetaState(directory.resolve("meta"), disk::open, 3);
    meta.open();
    assertThat(meta.tables().featureLevel()).isEqualTo(3);
    meta.close();
    MetaState older = new MetaState(directory.resolve("meta"), disk::open, 2);
    assertThatThrownBy(older::open).isInstanceOf(UnreadableEntryException.class);
  }

  @Test
  void whatIsMalformedIsNotAdmitted() throws IOException {
    DataState state = state(1);
    List<Outcome> damaged = List.of(new Outcome.Parked(0, 0, new byte[] {1, 2, 3}));
    for (DataCommand command :
        List.of(
            new DataCommand.ReplayDeadLetters(null, Rig.SHARD, List.of(1L)),
            new DataCommand.DropDeadLetters("", Rig.SHARD, List.of(1L)),
            Commands.forgetLeases(null),
            new DataCommand.RecordOutcomes("g", Rig.SHARD, 1, damaged))) {
      assertThatThrownBy(() -> state.admit(bytes(command)))
          .as("%s", command)
          .isInstanceOfSatisfying(
              RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.INVALID));
    }
  }

  /** A store on which some calls fail. */
  private static Store failing(Store store, String method, Supplier<RuntimeException> failure) {
    return (Store)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, called, arguments) -> {
              if (called.getName().equals("begin")) {
                return failingWrite(store.begin(), method, failure);
              }
              if (called.getName().equals(method)) {
                throw failure.get();
              }
              return call(called, store, arguments);
            });
  }

  private static Store.Write failingWrite(
      Store.Write write, String method, Supplier<RuntimeException> failure) {
    return (Store.Write)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.Write.class},
            (proxy, called, arguments) -> {
              if (called.getName().equals(method)) {
                throw failure.get();
              }
              return call(called, write, arguments);
            });
  }

  private static Object call(Method method, Object on, Object[] arguments) throws Throwable {
    try {
      return method.invoke(on, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private DataState failing(String method, Supplier<RuntimeException> failure) throws IOException {
    DataState sound = state(2);
    Entries.apply(sound, 1, 0, bytes(open()));
    sound.close();
    DataState state =
        States.data(
            directory.resolve("d0"), at -> failing(disk.open(at), method, failure), 1 << 20);
    state.open();
    return state;
  }

  private static final DataCommand REPLAY =
      new DataCommand.ReplayDeadLetters("g", Rig.SHARD, List.of(1L));

  @Test
  void aDeciderThatThrowsRefusesTheEntryAndTheLogGoesOn() throws IOException {
    DataState state = failing("get", () -> new IllegalStateException("a bug"));
    Reply reply = ReplyCodec.decode(Entries.apply(state, 1, 1, bytes(REPLAY)));
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Refused.class,
            refused -> {
              assertThat(refused.refusal()).isEqualTo(Refusal.INTERNAL);
              assertThat(refused.detail()).contains("log entry 1 of d0", "nothing changed");
            });
    assertThat(state.failedDecisions()).isEqualTo(1);
    assertThat(state.appliedIndex()).isEqualTo(1);
    Entries.apply(state, 1, 2, bytes(new DataCommand.OpenProducer(1, 0)));
    assertThat(state.tables().producer(1)).isNotNull();
  }

  @Test
  void aDiskThatCannotBeReadStopsTheNode() throws IOException {
    var state = failing("get", () -> new UncheckedIOException(new IOException("a broken disk")));
    Fails.with(UncheckedIOException.class, () -> Entries.apply(state, 1, 1, bytes(REPLAY)));
    assertThat(state.appliedIndex()).isZero();
    assertThat(state.failedDecisions()).isZero();
  }

  @Test
  void aRecordThatCannotBeReadStopsTheNode() throws IOException {
    var state = failing("get", () -> new MalformedException(Refusal.INVALID, "a damaged record"));
    assertThatThrownBy(() -> Entries.apply(state, 1, 1, bytes(REPLAY)))
        .hasMessage("a record of the state cannot be read");
    assertThat(state.appliedIndex()).isZero();
  }

  @Test
  void changesThatCannotBeWrittenDownRefuseEveryBatchOfTheEntry() throws IOException {
    DataState state = failing("put", () -> new IllegalStateException("a bug"));
    byte[] entry =
        Rig.appendEntry(
            1_000,
            new AppendBody.Item(Rig.SHARD, Rig.batch(0, 0, 0, 2)),
            new AppendBody.Item(Rig.SHARD, Rig.batch(0, 0, 0, 1)));
    var results = AppendResults.decode(Entries.apply(state, 1, 1, ByteBuffer.wrap(entry)));
    assertThat(results.logIndex()).isEqualTo(1);
    assertThat(results.results())
        .hasSize(2)
        .allMatch(result -> result.refusal() == Refusal.INTERNAL);
    assertThat(state.tables().shard(Rig.SHARD).end()).isZero();
    assertThat(state.appliedIndex()).isEqualTo(1);
    assertThat(state.failedDecisions()).isEqualTo(1);
  }
}
