package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.log.SnapshotTransfer;
import dev.evenkeel.util.files.DurableFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A follower copies the snapshot of the leader, and something happens meanwhile. */
class SnapshotInstallTest {
  private static final int ENTRIES = 12;

  @TempDir Path temp;
  private final List<LogSettings.Peer> peers =
      List.of("a", "b", "c").stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();
  private final TestLines lines = TestLines.of(peers);
  private final Map<String, TestNode> nodes = new ConcurrentSkipListMap<>();
  private final Appends appends = new Appends(() -> nodes.get(leader()).d0());

  /** Bytes of each file of d0's snapshots that have come. */
  private final Map<String, Long> received = new ConcurrentHashMap<>();

  private long missed;
  private String away;

  @BeforeEach
  void startAll() throws LogStartException {
    each(peers, peer -> start(peer.nodeId()));
    appends.append("first");
    missed = appends.lastIndex();
  }

  @AfterEach
  void stopAll() {
    nodes.values().forEach(TestNode::close);
  }

  private void start(String id) throws LogStartException {
    Path home = temp.resolve(id);
    LogSettings settings = TestNode.settings(id, home, peers, 1, 1_000_000);
    nodes.put(id, new TestNode(settings, TestNode.live(home)));
  }

  private String leader() {
    return TestNode.leader(nodes);
  }

  /** One node is away while entries come; the others drop from their logs what it lacks. */
  private void leaveBehind() throws Exception {
    writeWithoutOne();
    nodes.values().forEach(node -> node.purgeBehind(missed));
    appends.append("last");
  }

  private void writeWithoutOne() {
    String leader = leader();
    away = nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
    nodes.remove(away).close();
    String large = "x".repeat(2 << 20);
    times(ENTRIES, i -> appends.append(large + i));
  }

  private void awaitEntriesEverywhere() {
    for (TestNode node : nodes.values()) {
      Wait.untilAsserted(() -> appends.assertAllIn(node.state("d0").entries()));
    }
  }

  private void awaitRestored() {
    RocksState state = nodes.get(away).state("d0");
    Wait.until(() -> state.restores.get() > 0);
    awaitEntriesEverywhere();
  }

  private SnapshotTransfer transfer() {
    return nodes.get(away).d0().copy().snapshotTransfer();
  }

  /** Between the nodes: what happens to a chunk of d0. Others pass. */
  private interface Chunks {
    CompletableFuture<ByteBuffer> read(
        SnapshotSource source, SnapshotSource.Chunk chunk, int number);
  }

  private void through(Chunks chunks) {
    AtomicInteger number = new AtomicInteger();
    lines.snapshotFilter =
        (node, source) ->
            new SnapshotSource() {
              @Override
              public CompletableFuture<SnapshotManifest> newest(String group) {
                return source.newest(group);
              }

              @Override
              public CompletableFuture<ByteBuffer> read(Chunk chunk) {
                return chunk.group().equals("d0")
                    ? chunks
                        .read(source, chunk, number.getAndIncrement())
                        .thenApply(bytes -> counted(chunk, bytes))
                    : source.read(chunk);
              }
            };
  }

  private ByteBuffer counted(SnapshotSource.Chunk chunk, ByteBuffer bytes) {
    received.merge(chunk.file(), (long) bytes.remaining(), Long::sum);
    return bytes;
  }

  private long receivedBytes() {
    return received.values().stream().mapToLong(bytes -> bytes).sum();
  }

  /** The newest snapshot of d0 that a node has. */
  private SnapshotManifest newest(String node) {
    return lines.of(node).snapshots.newest("d0").join();
  }

  /** The engine would ask it for ever to install a snapshot, and send it nothing. */
  @Test
  void aFollowerWhoseSnapshotEndsWhereTheLogOfTheLeaderBeginsGetsTheRest() throws Exception {
    String leader = leader();
    away = nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
    times(ENTRIES, i -> appends.append("early"));
    Wait.until(() -> applied(away) == applied(leader) && applied(away) >= appends.lastIndex());
    long end =
        nodes.get(away).d0().copy().snapshot().get(TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    nodes.remove(away).close();
    // With the next term, another file of the log begins.
    nodes.remove(leader).close();
    start(leader);
    appends.append("late");
    for (TestNode node : nodes.values()) {
      node.purgeBehind(end);
      assertThat(node.groupDirectory("d0").resolve("current/log_inprogress_" + (end + 1))).exists();
    }
    start(away);
    awaitEntriesEverywhere();
  }

  private long applied(String node) {
    return nodes.get(node).d0().status().appliedIndex();
  }

  @Tag("full")
  @Test
  void aTransferThatIsCutAgainAndAgainKeepsWhatHasCome() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    leaveBehind();
    String leader = leader();
    through(
        (source, chunk, number) ->
            random.nextInt(3) == 0
                ? CompletableFuture.failedFuture(new IllegalStateException("cut"))
                : source.read(chunk));
    start(away);
    awaitRestored();
    SnapshotTransfer transfer = transfer();
    assertThat(transfer.restarts()).as("seed %s", seed).isPositive();
    assertThat(transfer.damagedFiles()).isZero();
    // The chunks behind the one that failed came in vain.
    assertThat(transfer.bytesReceived()).isLessThanOrEqualTo(receivedBytes());
    assertThat(transfer.from()).isNull();
    if (leader().equals(leader)) {
      assertThat(transfer.bytesReceived())
          .as("seed %s", seed)
          .isLessThanOrEqualTo(newest(leader).bytes());
      // Small files of the store may be equal to those of its own snapshot.
      assertThat(transfer.bytesReceived()).isGreaterThan(newest(leader).bytes() / 2);
    }
    assertThat(incoming()).as("what is not needed any more").doesNotExist();

    // It can lead, and give the snapshot to others.
    assertThat(newest(away).bytes()).isPositive();
    nodes.remove(away).close();
    start(away);
    appends.append("more");
    awaitEntriesEverywhere();
  }

  private Path incoming() {
    Path directory = nodes.get(away).groupDirectory("d0").resolve("sm/incoming");
    Wait.until(() -> DurableFiles.list(directory).isEmpty());
    return directory;
  }

  @Test
  void aFollowerThatStartsAgainGoesOnWhereItWas() throws Exception {
    leaveBehind();
    String leader = leader();
    CountDownLatch halfway = new CountDownLatch(20);
    through(
        (source, chunk, number) -> {
          halfway.countDown();
          return number < 20 ? source.read(chunk) : new CompletableFuture<>();
        });
    start(away);
    assertThat(halfway.await(TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    Wait.until(() -> transfer().bytesHere() > 0);
    assertThat(transfer().from()).isEqualTo(leader);
    assertThat(transfer().bytesTotal()).isEqualTo(newest(leader).bytes());
    nodes.remove(away).close();
    through((source, chunk, number) -> source.read(chunk));
    start(away);
    awaitRestored();
    if (leader().equals(leader)) {
      // The chunks that were on their way may have come in vain.
      assertThat(receivedBytes())
          .isLessThanOrEqualTo(
              newest(leader).bytes() + SnapshotPull.CHUNKS_ON_THEIR_WAY * SnapshotPull.CHUNK_BYTES);
    }
  }

  @Test
  void aNewLeaderTakesTheTransferOver() throws Exception {
    leaveBehind();
    String first = leader();
    var second = nodes.keySet().stream().filter(id -> !id.equals(first)).findFirst().orElseThrow();
    CountDownLatch stuck = new CountDownLatch(1);
    through(
        (source, chunk, number) -> {
          if (number < 10 || !nodes.containsKey(first)) {
            return source.read(chunk);
          }
          stuck.countDown();
          return new CompletableFuture<>();
        });
    start(away);
    assertThat(stuck.await(TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    nodes.remove(first).close();
    awaitRestored();
    assertThat(nodes.keySet()).containsExactlyInAnyOrder(second, away);
    appends.append("more");
    awaitEntriesEverywhere();
  }

  /** The new leader has all entries that the follower lacks, and so knows of no snapshot. */
  @Tag("full")
  @Test
  void whatCameFromALeaderThatIsGoneIsTakenOver() throws Exception {
    writeWithoutOne();
    String first = leader();
    nodes.get(first).purgeBehind(missed);
    appends.append("last");
    var second = nodes.keySet().stream().filter(id -> !id.equals(first)).findFirst().orElseThrow();
    AtomicBoolean last = new AtomicBoolean();
    through(
        (source, chunk, number) -> {
          SnapshotTransfer transfer = nodes.containsKey(away) ? transfer() : SnapshotTransfer.NONE;
          if (transfer.bytesHere() + chunk.bytes() == transfer.bytesTotal()) {
            // From now on the leader cannot remind the follower.
            nodes.get(away).node.refuseEntries("no room");
            last.set(true);
          }
          return source.read(chunk);
        });
    start(away);
    Wait.until(() -> last.get() && transfer().from() == null);
    nodes.remove(first).close();
    Wait.until(() -> second.equals(nodes.get(away).d0().leadership().leader()));
    assertThat(nodes.get(away).state("d0").restores).hasValue(0);
    nodes.get(away).node.refuseEntries(null);
    awaitRestored();
    appends.append("more");
    awaitEntriesEverywhere();
  }

  @Tag("full")
  @Test
  void aChunkThatIsDamagedOnItsWayIsFetchedAgain() throws Exception {
    leaveBehind();
    AtomicBoolean damaged = new AtomicBoolean();
    through(
        (source, chunk, number) ->
            source
                .read(chunk)
                .thenApply(
                    bytes -> {
                      if (number == 5 && damaged.compareAndSet(false, true)) {
                        bytes.put(0, (byte) ~bytes.get(0));
                      }
                      return bytes;
                    }));
    start(away);
    awaitRestored();
    assertThat(damaged).isTrue();
    assertThat(transfer().damagedFiles()).isEqualTo(1);
  }

  @Tag("full")
  @Test
  void filesThatAreHereNeedNotComeAgain() throws Exception {
    leaveBehind();
    start(away);
    awaitRestored();
    String leader = leader();
    // Now the same files lie in a snapshot of its own, and only new ones have to come.
    nodes.get(away).d0().copy().snapshot().get(TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    newest(away);
    nodes.remove(away).close();
    long before = appends.lastIndex();
    String large = "y".repeat(2 << 20);
    times(2, i -> appends.append(large + i));
    nodes.values().forEach(node -> node.purgeBehind(before));
    appends.append("last");
    through((source, chunk, number) -> source.read(chunk));
    start(away);
    awaitRestored();
    if (leader().equals(leader)) {
      assertThat(receivedBytes()).isLessThan(newest(leader).bytes() / 2);
    }
  }

  @Tag("full")
  @Test
  void withoutRoomNothingComesAndThenItGoesOn() throws Exception {
    leaveBehind();
    AtomicInteger chunks = new AtomicInteger();
    through(
        (source, chunk, number) -> {
          if (chunks.incrementAndGet() == 5) {
            nodes.get(away).node.refuseEntries("no room");
          }
          return source.read(chunk);
        });
    start(away);
    Wait.until(() -> chunks.get() >= 5);
    String first = leader();
    Wait.until(() -> Objects.equals(nodes.get(away).d0().leadership().leader(), first));
    assertThat(chunks).hasValue(5);
    assertThat(nodes.get(away).state("d0").restores).hasValue(0);
    nodes.get(away).node.refuseEntries(null);
    awaitRestored();
  }
}
