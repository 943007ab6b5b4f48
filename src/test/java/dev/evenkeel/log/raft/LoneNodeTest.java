package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Fails;
import dev.evenkeel.Wait;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.log.NodeRemovedException;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoneNodeTest {
  @TempDir Path home;
  private final int port = TestNode.freePort();

  @Test
  void leadsAtOnceAndAnswersAppendsFromTheState() throws Exception {
    var asMany = TestNode.settings("a", home, List.of(TestNode.peer("a", port)), 0, 1_000_000);
    try (TestNode node = new TestNode(asMany, TestNode.live(home)).awaitReady()) {
      assertThat(node.node.nodes()).containsExactly("a");
      assertThat(node.node.meta().name()).isEqualTo("meta");
      assertThat(node.node.data()).hasSize(ClusterFile.defaultDataGroups(1));
      long index = TestNode.append(node.d0(), "one").get().getLong();
      assertThat(node.state("d0").at(index)).isEqualTo("one");
      assertThat(node.d0().leadership().leader()).isEqualTo("a");
      LogStatus status = node.d0().status();
      assertThat(status.appliedIndex()).isGreaterThanOrEqualTo(index);
      assertThat(status.pendingEntries()).isZero();
      assertThat(status.pendingBytes()).isZero();
    }
  }

  /** Nothing is wrong with it, so its process must not end as if something were. */
  @Test
  void aNodeThatWasRemovedEndsWithoutAFaultAndDoesNotStartAgain() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      node.node.removed();
      assertThat(node.node.failure().get())
          .isInstanceOf(NodeRemovedException.class)
          .hasMessageContaining("removed from the cluster");
    }
    Fails.with(
        LogStartException.class, () -> TestNode.alone(home, port), "was removed from its cluster");
  }

  /**
   * The first entries of a log may say that this node is the only voter, and it is not any more.
   */
  @Test
  void aCopyThatIsMadeAnewElectsNobodyByWhatItHasSoFar() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      TestNode.append(node.d0(), "one").get();
      node.node.setPeers(node.node.peers());
    }
    DroppedCopy dropped = new DroppedCopy(home.resolve("dropped"), "d0");
    dropped.begin(1_000);
    Path mark = home.resolve("dropped/d0");
    Files.writeString(mark, Files.readString(mark).replace("drop", "copying"));
    try (TestNode node = TestNode.alone(home, port)) {
      RaftLogGroup d0 = node.node.groups().get(1);
      Wait.until(() -> !d0.copy().adapter().division().getInfo().isFollower());
      assertThat(d0.copy().adapter().division().getInfo().isCandidate()).isTrue();
      Wait.until(() -> node.node.meta().leadership().ready());
      assertThat(d0.leadership().leader()).isNull();
      assertThat(d0.isVoteless()).isTrue();
    }
    dropped.read();
    dropped.voting();
    try (TestNode node = TestNode.alone(home, port)) {
      Wait.until(() -> node.d0().leadership().ready());
    }
  }

  @Test
  void joinsPartsAndLeavesThemAsTheyWere() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      ByteBuffer heap = ByteBuffer.wrap(bytes("xxheap-"), 2, 5);
      ByteBuffer direct = ByteBuffer.allocateDirect(6).put(bytes("direct")).flip();
      ByteBuffer readOnly = ByteBuffer.wrap(bytes("-ro")).asReadOnlyBuffer();
      ByteBuffer head = ByteBuffer.wrap(bytes("bhead-"));
      long index = node.d0().append(head, List.of(heap, direct, readOnly)).get().getLong();
      assertThat(node.state("d0").at(index)).isEqualTo("head-heap-direct-ro");
      long single = node.d0().append(head, List.of(heap)).get().getLong();
      assertThat(node.state("d0").at(single)).isEqualTo("head-heap-");
      long alone = node.d0().append(bytes("ahead")).get().getLong();
      assertThat(node.state("d0").at(alone)).isEqualTo("head");
      assertThat(heap.remaining() + direct.remaining() + readOnly.remaining()).isEqualTo(14);
    }
  }

  @Test
  void keepsTheOrderOfAppends() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      List<CompletableFuture<ByteBuffer>> replies = new ArrayList<>();
      times(2_000, i -> replies.add(TestNode.append(node.d0(), "e" + i)));
      CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new)).get();
      assertThat(node.state("d0").entries())
          .containsExactlyElementsOf(IntStream.range(0, 2_000).mapToObj(i -> "e" + i).toList());
    }
  }

  @Test
  void refusesTooMuchAtOnceAndTooLarge() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      ByteBuffer head = ByteBuffer.wrap(bytes("bhead"));
      ByteBuffer large = ByteBuffer.allocate(RaftSettings.CONTENT_BYTES_MAX - head.remaining());
      List<CompletableFuture<ByteBuffer>> taken = new ArrayList<>();
      CompletableFuture<ByteBuffer> reply = node.d0().append(head, List.of(large));
      // The log takes some of it meanwhile, but not for ever.
      for (int i = 0; i < 200 && !reply.isCompletedExceptionally(); i++) {
        taken.add(reply);
        reply = node.d0().append(head, List.of(large));
      }
      assertThat(refusalOf(reply)).isEqualTo(Refusal.OVERLOADED);
      assertThat(taken).isNotEmpty().allMatch(each -> refusalOf(each) == null);
      assertThat(refusalOf(node.d0().append(head, List.of(large, ByteBuffer.allocate(1)))))
          .isEqualTo(Refusal.TOO_LARGE);
      await().until(() -> node.d0().status().pendingBytes() == 0);
      TestNode.append(node.d0(), "after").get();
    }
  }

  @Test
  void replaysAfterARestartAndGoesOn() throws Exception {
    String cluster;
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      cluster = node.node.clusterId();
      times(10, i -> TestNode.append(node.d0(), "e" + i).get());
      TestNode.append(node.node.meta(), "m").get();
    }
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      assertThat(node.node.clusterId()).isEqualTo(cluster);
      assertThat(node.state("d0").entries()).hasSize(10).endsWith("e9");
      assertThat(node.state("meta").entries()).containsExactly("m");
      TestNode.append(node.d0(), "e10").get();
      assertThat(node.state("d0").entries()).hasSize(11);
      assertThat(node.state("d0").restores).hasValue(0);
    }
  }

  @Test
  void takesASnapshotAfterSoManyBytesAndPurgesTheLog() throws Exception {
    LogSettings few =
        new LogSettings(
            "a",
            home.resolve("log"),
            List.of(TestNode.peer("a", port)),
            1,
            1_000_000,
            20L << 20,
            1 << 30);
    try (TestNode node = new TestNode(few, TestNode.live(home)).awaitReady()) {
      ByteBuffer mebibyte = ByteBuffer.allocate(1 << 20).put(0, RocksState.WITH_BODY);
      times(30, i -> node.d0().append(mebibyte, List.of(mebibyte)).get());
      // The last 20 MiB may have no snapshot; before them one file is kept, and one is begun.
      await().until(() -> segmentBytes(node) < 14L << 20);
    }
    try (TestNode node = new TestNode(few, TestNode.live(home)).awaitReady()) {
      assertThat(node.state("d0").entries()).hasSize(30);
    }
  }

  /** Files may go while they are counted. */
  private static long segmentBytes(TestNode node) throws IOException {
    return DurableFiles.list(node.groupDirectory("d0").resolve("current")).stream()
        .mapToLong(file -> file.toFile().length())
        .sum();
  }

  @Test
  void restoresALostLiveStateFromTheSnapshotAndTheLog() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      times(5, i -> TestNode.append(node.d0(), "e" + i).get());
      long index = node.d0().copy().snapshot().get();
      assertThat(index).isGreaterThanOrEqualTo(5);
      TestNode.append(node.d0(), "e5").get();
    }
    DurableFiles.deleteTree(TestNode.live(home));
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      assertThat(node.state("d0").restores).hasValue(1);
      assertThat(node.state("d0").entries()).containsExactly("e0", "e1", "e2", "e3", "e4", "e5");
      TestNode.append(node.d0(), "e6").get();
    }
  }

  @Test
  void purgesTheLogUpToTheSnapshotAndKeepsTwoSnapshots() throws Exception {
    String large = "x".repeat(1 << 20);
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      for (int round = 0; round < 4; round++) {
        times(10, i -> TestNode.append(node.d0(), large).get());
        node.d0().copy().snapshot().get();
      }
      assertThat(node.state("d0").snapshots.get()).isEqualTo(4);
      Wait.untilAsserted(
          () -> {
            // 40 MiB went in; what stays is the open segment and at most one closed one.
            assertThat(segmentBytes(node)).isLessThan(20L << 20);
            assertThat(DurableFiles.list(node.groupDirectory("d0").resolve("sm"))).hasSize(2);
          });
    }
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      assertThat(node.state("d0").entries()).hasSize(40);
      TestNode.append(node.d0(), "more").get();
    }
  }

  /** It would keep the files that it has links to, and fill the disk. */
  @Test
  void nothingStaysOfASnapshotThatCouldNotBeTaken() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      TestNode.append(node.d0(), "e0").get();
      node.state("d0").full = true;
      node.d0().copy().snapshot().get();
      assertThat(node.state("d0").snapshots).hasValue(1);
      assertThat(DurableFiles.list(node.groupDirectory("d0").resolve("tmp"))).isEmpty();
      assertThat(DurableFiles.list(node.groupDirectory("d0").resolve("sm"))).isEmpty();
    }
  }

  @Test
  void takesSnapshotsByItself() throws Exception {
    try (TestNode node =
        new TestNode(
                TestNode.settings("a", home, List.of(TestNode.peer("a", port)), 1, 20),
                TestNode.live(home))
            .awaitReady()) {
      times(50, i -> TestNode.append(node.d0(), "e" + i).get());
      await().until(() -> node.state("d0").snapshots.get() >= 2);
      assertThat(node.state("d0").snapshots.get()).isLessThan(5);
    }
  }

  @Test
  void aBugInApplyingEndsTheNodeAndAnswersEverything() throws Exception {
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      TestNode.append(node.d0(), "good").get();
      List<Leadership> heard = new CopyOnWriteArrayList<>();
      node.d0().elections().onLeadership(heard::add);
      node.state("d0").broken = true;
      CompletableFuture<ByteBuffer> reply = TestNode.append(node.d0(), "bad");
      assertThat(refusalOf(reply)).isEqualTo(Refusal.INDETERMINATE);
      assertThat(node.node.failure().get()).hasMessageContaining("a bug in apply");
      Wait.until(() -> !node.d0().leadership().ready() && !node.node.meta().leadership().ready());
      // It counts at once, and is told a moment later.
      await().until(() -> !heard.isEmpty());
      assertThat(heard).noneMatch(Leadership::ready);
      assertThat(refusalOf(TestNode.append(node.d0(), "later"))).isEqualTo(Refusal.UNAVAILABLE);
    }
  }

  @Test
  void nothingIsAnsweredNeverWhenTheNodeCloses() throws Exception {
    TestNode node = TestNode.alone(home, port).awaitReady();
    List<CompletableFuture<ByteBuffer>> replies = new ArrayList<>();
    times(1_000, i -> replies.add(TestNode.append(node.d0(), "e" + i)));
    node.close();
    assertThat(replies).allMatch(CompletableFuture::isDone);
    long acknowledged = replies.stream().filter(r -> !r.isCompletedExceptionally()).count();
    try (TestNode again = TestNode.alone(home, port).awaitReady()) {
      assertThat(again.state("d0").entries().size()).isGreaterThanOrEqualTo((int) acknowledged);
    }
    assertThatThrownBy(() -> TestNode.append(node.d0(), "x").get())
        .hasCauseInstanceOf(RefusedException.class);
  }

  private static Refusal refusalOf(CompletableFuture<?> future) {
    RefusedException refused = TestNode.refused(future);
    return refused == null ? null : refused.refusal();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
