package dev.evenkeel.broker.node;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.machine.BodyUse;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.BatchSource;
import dev.evenkeel.broker.state.KeptPart;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.raft.RaftLogNode;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The space of dropped messages comes back, on a node with its real log and store. */
class BodyCleanerTest {
  private static final int BATCH_BYTES = 64 << 10;
  private static final long MINUTE = 60_000;
  private static final Shard BUSY = new Shard(1, 0);
  private static final Shard LAZY = new Shard(2, 0);

  @TempDir Path directory;
  @Closing private final RocksShared shared = new RocksShared();
  private final AtomicLong clock = new AtomicLong(1_000_000);
  private long nowMillis;
  @Closing private BrokerNode node;

  @BeforeEach
  void start() throws Exception {
    open(1L << 30);
    run(Commands.openShards(1, "busy", List.of(0), TopicConfig.DEFAULT));
    run(Commands.openShards(2, "lazy", List.of(0), TopicConfig.DEFAULT));
  }

  private void open(long rewriteBytesPerSecond) throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    LogSettings log =
        new LogSettings(
            "n1",
            directory.resolve("raft"),
            List.of(new LogSettings.Peer("n1", "localhost", port)),
            1,
            1_000_000,
            1L << 40,
            1 << 30);
    node =
        BrokerNode.start(
            new BrokerSettings(
                log,
                directory,
                1 << 20,
                new BrokerOptions(
                    new JsonObject()
                        .put("segmentBytesMax", 1 << 20)
                        .put("rewriteBytesPerSecond", rewriteBytesPerSecond)
                        .put("diskFreeBytesMin", 0)
                        .put("scrubBytesPerSecond", 0)),
                clock::get,
                () -> Long.MAX_VALUE),
            RaftLogNode::start,
            store -> RocksStore.open(store, shared),
            noPeers());
    await().until(() -> log().leadership().ready());
  }

  private static PeerLink noPeers() {
    return (PeerLink)
        Proxy.newProxyInstance(
            PeerLink.class.getClassLoader(),
            new Class<?>[] {PeerLink.class},
            (proxy, method, arguments) -> null);
  }

  private LogGroup log() {
    return node.log().data().get(0);
  }

  private DataState state() {
    return node.data().get(0);
  }

  private BodyCleaner.Figures figures() {
    return node.maintenance().cleaner(0).figures();
  }

  private void run(DataCommand command) throws Exception {
    log().append(Entry.of(command, clock.get())).get();
  }

  private static Batch batch(Random random, int bytes) {
    byte[] payload = new byte[bytes];
    random.nextBytes(payload);
    BatchBuilder builder = new BatchBuilder(bytes + 256);
    builder.add(new Message(null, null, 1, payload));
    return builder.build(0, 0, 0);
  }

  private void append(Shard shard, int entries, int bytes) throws Exception {
    Random random = new Random(entries);
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < entries; i++) {
      all.add(append(new AppendBody.Item(shard, batch(random, bytes))));
      if (i % 100 == 99) {
        all.get(i).get();
      }
    }
    each(all, each -> each.get());
  }

  private CompletableFuture<?> append(AppendBody.Item item) {
    Bytes head = Entry.appending(FeatureLevel.FIRST, clock.get());
    AppendHead.write(head, item);
    Bytes body = new Bytes();
    AppendBody.write(body, item);
    return log().append(head.view(), List.of(body.view()));
  }

  /** What the directory takes, a file with several names once, as {@code du} counts. */
  private long bytesOnDisk() {
    Set<Object> seen = new HashSet<>();
    long bytes = 0;
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.toList()) {
        if (Files.isRegularFile(file)) {
          BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
          bytes += seen.add(attributes.fileKey()) ? attributes.size() : 0;
        }
      }
      return bytes;
    } catch (IOException goneMeanwhile) {
      return Long.MAX_VALUE;
    } catch (UncheckedIOException goneMeanwhile) {
      return Long.MAX_VALUE;
    }
  }

  private void awaitRounds(long bytesMax) {
    Wait.untilAsserted(
        () -> {
          round();
          assertThat(bytesOnDisk()).isLessThan(bytesMax);
        });
  }

  private void round() throws IOException {
    nowMillis += MINUTE;
    node.maintenance().cleaner(0).run(nowMillis);
  }

  /**
   * All of its entries are in the one file that the log is writing, and it has no snapshot: the
   * worst that can be.
   */
  @Test
  void aDeletedTopicFreesItsSpaceAlthoughNothingElseIsAppended() throws Exception {
    append(BUSY, 500, BATCH_BYTES);
    round();
    assertThat(figures().deadBytes()).isZero();
    assertThat(figures().liveBytes()).isGreaterThan(500L * BATCH_BYTES);
    assertThat(bytesOnDisk()).isGreaterThan(500L * BATCH_BYTES);
    run(new DataCommand.DropShards(BUSY.topicId()));
    awaitRounds(4 << 20);
    assertThat(figures().liveBytes()).isLessThan(1 << 20);
    assertThat(figures().deadBytes()).isLessThan(1 << 20);
  }

  @Test
  void snapshotsDoNotKeepWhatWasDeleted() throws Exception {
    append(BUSY, 300, BATCH_BYTES);
    log().copy().snapshot().get();
    append(BUSY, 300, BATCH_BYTES);
    log().copy().snapshot().get();
    run(new DataCommand.DropShards(BUSY.topicId()));
    awaitRounds(4 << 20);
    append(LAZY, 10, BATCH_BYTES);
    node.close();
    open(1L << 30);
    assertThat(state().tables().shard(LAZY).end()).isEqualTo(10);
    assertThat(state().tables().shard(BUSY)).isNull();
  }

  @Test
  void aTopicOfWhichOnePercentIsNeededDoesNotKeepTheOthers() throws Exception {
    for (int i = 0; i < 5; i++) {
      append(BUSY, 99, BATCH_BYTES);
      append(LAZY, 1, BATCH_BYTES);
    }
    run(new DataCommand.DropShards(BUSY.topicId()));
    awaitRounds(6 << 20);
    assertThat(figures().liveBytes()).isBetween(5L * BATCH_BYTES, 20L * BATCH_BYTES);
    assertThat(node.maintenance().cleaner(0).rewrittenBytes())
        .isGreaterThanOrEqualTo(5L * BATCH_BYTES);
    assertThat(node.maintenance().cleaner(0).freedBytes()).isGreaterThan(400L * BATCH_BYTES);
  }

  /**
   * Messages of 1 KiB, 200 in a batch, of which one in a thousand becomes a dead letter. Once
   * retention has dropped the others, the dead letters do not keep their batches.
   */
  @Test
  void deadLettersTakeWhatTheirMessagesNeed() throws Exception {
    node.log().meta().append(raised()).get();
    await().until(() -> node.meta().tables().featureLevel() == FeatureLevel.NEWEST);
    run(new DataCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
    run(new DataCommand.ConfigureShards(1, new TopicConfig(0, -1, -1)));
    run(Commands.grant("g", BUSY, "a", "a-1", 0, StartAt.EARLIEST));
    int batches = 60;
    int each = 200;
    Random random = new Random(1);
    List<Long> dead = new ArrayList<>();
    List<byte[]> payloads = new ArrayList<>();
    for (int i = 0; i < batches; i++) {
      BatchBuilder builder = new BatchBuilder(1 << 18);
      for (int position = 0; position < each; position++) {
        byte[] payload = new byte[1_024];
        random.nextBytes(payload);
        builder.add(new Message(null, null, 1, payload));
        if (i % 5 == 0 && position == i) {
          dead.add((long) i * each + position);
          payloads.add(payload);
        }
      }
      append(new AppendBody.Item(BUSY, builder.build(0, 0, 0))).get();
    }
    List<Outcome> outcomes = new ArrayList<>();
    dead.forEach(
        offset ->
            outcomes.add(
                new Outcome.Failed(offset, 1, Outcome.Way.DEAD, 0, Outcome.NO_KEY, "no", null)));
    run(new DataCommand.RecordOutcomes("g", BUSY, 1, outcomes));
    run(Commands.commit("g", BUSY, 1, (long) batches * each));
    clock.addAndGet(MINUTE);
    run(new DataCommand.Retain());
    run(new DataCommand.Retain());
    long all = (long) batches * each * 1_024;
    Wait.untilAsserted(
        () -> {
          round();
          assertThat(figures().liveBytes() + figures().deadBytes()).isLessThan(all / 50);
        });
    assertThat(deadLetters()).containsExactlyElementsOf(payloads);
    long rewritten = node.maintenance().cleaner(0).rewrittenBytes();
    run(new DataCommand.DropDeadLetters("g", BUSY, dead.subList(0, 1)));
    round();
    assertThat(node.maintenance().cleaner(0).rewrittenBytes()).isEqualTo(rewritten);
    node.close();
    open(1L << 30);
    assertThat(deadLetters()).containsExactlyElementsOf(payloads.subList(1, payloads.size()));
  }

  private byte[] raised() {
    return Entry.of(new MetaCommand.RaiseFeatureLevel(FeatureLevel.NEWEST), clock.get());
  }

  private List<byte[]> deadLetters() {
    LeaseKey key = new LeaseKey(BUSY, "g");
    BatchSource source =
        new BatchSource() {
          @Override
          public byte[] read(BatchPlace place, int bytes) {
            return state().bytes(place, bytes);
          }

          @Override
          public KeptPart part(BatchPlace place) {
            return state().part(place);
          }
        };
    return state()
        .read(store -> new StoredFailures(store, source, key).deadLetters(0, 100, 1 << 20))
        .opened()
        .stream()
        .map(opened -> opened.message().payload())
        .toList();
  }

  @Test
  void theIndexIsNotLookedThroughForNothing() throws Exception {
    append(BUSY, 10, BATCH_BYTES);
    round();
    long before = node.maintenance().cleaner(0).scans();
    times(5, i -> round());
    assertThat(node.maintenance().cleaner(0).scans()).isEqualTo(before);
    run(new DataCommand.Retain());
    round();
    assertThat(node.maintenance().cleaner(0).scans()).as("nothing was dropped").isEqualTo(before);
    run(new DataCommand.DropShards(BUSY.topicId()));
    round();
    assertThat(node.maintenance().cleaner(0).scans()).isGreaterThan(before);
  }

  @Test
  void aNodeThatStopsInTheMiddleOfARewriteKeepsTheSegmentAsItWas() throws Exception {
    node.close();
    open(1 << 10);
    append(BUSY, 199, BATCH_BYTES);
    append(LAZY, 1, BATCH_BYTES);
    run(new DataCommand.DropShards(BUSY.topicId()));
    CompletableFuture<Throwable> ended = new CompletableFuture<>();
    Thread rounds =
        new Thread(
            () -> {
              try {
                while (true) {
                  round();
                }
              } catch (IOException e) {
                ended.complete(e);
              }
            });
    rounds.start();
    await().until(() -> !rewritten().isEmpty());
    rounds.interrupt();
    assertThat(ended.get()).isInstanceOf(InterruptedIOException.class);
    assertThat(rewritten()).isEmpty();
    assertThat(state().tables().shard(LAZY).end()).isEqualTo(1);
    BodyUse use =
        BodyUse.of(
            state(),
            ((SegmentBodies) state().bodies()).segments().list(),
            1_000,
            ((SegmentBodies) state().bodies()).segments()::length,
            () -> {});
    assertThat(use.missing()).isEmpty();
  }

  /** As without room on the disk; nothing else is dropped until there is room again. */
  @Test
  void aSegmentThatCouldNotBeRewrittenIsRewrittenLater() throws Exception {
    append(LAZY, 1, BATCH_BYTES);
    append(BUSY, 300, BATCH_BYTES);
    run(new DataCommand.DropShards(BUSY.topicId()));
    Path obstacle = directory.resolve("bodies").resolve("d0").resolve("000000000000-1.seg");
    Files.createFile(obstacle);
    await().untilAsserted(() -> assertThatThrownBy(this::round).isInstanceOf(IOException.class));
    for (int i = 0; i < 20; i++) {
      try {
        round();
      } catch (IOException inTheWay) {
        // And nothing else is to be done.
      }
    }
    Files.delete(obstacle);
    times(3, i -> round());
    assertThat(obstacle).exists();
    assertThat(state().tables().shard(LAZY).end()).isEqualTo(1);
  }

  /** Files of segments that were written anew. */
  private List<Path> rewritten() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("bodies").resolve("d0"))) {
      return files.filter(file -> file.toString().endsWith("-1.seg")).toList();
    }
  }
}
