package dev.evenkeel.storage.segment;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segments that are linked, restored and deleted. */
class SegmentFilesTest {
  private static final int SEGMENT_BYTES = 300;
  private static final int BODY_BYTES = 64;

  @TempDir Path temp;
  private Path live;
  private Path snapshot;
  @Closing private Segments segments;

  @BeforeEach
  void open() throws IOException {
    live = temp.resolve("live");
    snapshot = temp.resolve("snapshot");
    segments = Segments.open(live, SEGMENT_BYTES, -1);
  }

  private static byte[] bytes(long term, long index) {
    byte[] bytes = new byte[BODY_BYTES];
    ByteBuffer.wrap(bytes).putLong(term).putLong(index);
    return bytes;
  }

  private static void append(Segments segments, long term, long from, long to) throws IOException {
    for (long index = from; index <= to; index++) {
      segments.append(
          List.of(new Segments.Body(term, index, List.of(ByteBuffer.wrap(bytes(term, index))))));
    }
  }

  private static void assertHolds(Segments segments, long term, long from, long to)
      throws IOException {
    for (long index = from; index <= to; index++) {
      assertThat(segments.term(index)).as("entry %s", index).isEqualTo(term);
      assertThat(segments.readVerified(index)).isEqualTo(ByteBuffer.wrap(bytes(term, index)));
    }
  }

  private static void assertLacks(Segments segments, long term, long from, long to)
      throws IOException {
    for (long index = from; index <= to; index++) {
      assertThat(segments.term(index)).as("entry %s", index).isNotEqualTo(term);
    }
  }

  private void reopen() throws IOException {
    segments.close();
    segments = Segments.open(live, SEGMENT_BYTES, -1);
  }

  /** The segment with this number, or null. */
  private Segments.Info info(long number) {
    return segments.list().stream().filter(i -> i.number() == number).findFirst().orElse(null);
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(Segment.SUFFIX)).sorted().toList();
    }
  }

  @Test
  void aSnapshotBringsBackWhatALostDirectoryHad() throws IOException {
    append(segments, 1, 0, 9);
    segments.link(snapshot, 7);
    segments.close();
    deleteAll(live);
    segments = Segments.open(live, SEGMENT_BYTES, -1);
    segments.restore(snapshot);
    assertHolds(segments, 1, 0, 7);
    for (Path file : files(snapshot)) {
      assertThat(Files.isSameFile(file, live.resolve(file.getFileName()))).isTrue();
    }
    append(segments, 2, 8, 12);
    assertHolds(segments, 2, 8, 12);
    reopen();
    assertHolds(segments, 1, 0, 7);
    assertHolds(segments, 2, 8, 12);
  }

  /** The state was lost, and the log still has what came after the snapshot. */
  @Test
  void whatCameAfterTheSnapshotStays() throws IOException {
    append(segments, 1, 0, 9);
    segments.link(snapshot, 7);
    append(segments, 1, 10, 14);
    // The bodies of 13 and 14 are replaced, and that of 2 is not needed any more.
    append(segments, 2, 13, 20);
    segments.rewrite(info(0), index -> index < 2, bytes -> {});
    assertLacks(segments, 1, 2, 2);
    segments.restore(snapshot);
    for (int i = 0; i < 2; i++) {
      assertHolds(segments, 1, 0, 12);
      assertHolds(segments, 2, 13, 20);
      reopen();
    }
    append(segments, 2, 21, 22);
    assertHolds(segments, 2, 13, 22);
  }

  /** A follower was behind, or had gone astray; the numbers of its segments say nothing. */
  @Test
  void aSnapshotOfAnotherNodeTakesThePlaceOfWhatItCovers() throws IOException {
    Segments other = Segments.open(temp.resolve("other"), 1000, -1);
    append(other, 3, 0, 60);
    other.link(snapshot, 50);
    other.close();
    for (long stale : new long[] {10, 50, 51, 56, 80}) {
      segments.close();
      deleteAll(live);
      segments = Segments.open(live, SEGMENT_BYTES, -1);
      append(segments, 1, 0, stale);
      segments.restore(snapshot);
      for (int i = 0; i < 2; i++) {
        assertHolds(segments, 3, 0, 50);
        assertHolds(segments, 1, 51, stale);
        reopen();
      }
      append(segments, 4, 51, 70);
      segments.restore(snapshot);
      assertHolds(segments, 3, 0, 50);
      assertHolds(segments, 4, 51, 70);
      assertLacks(segments, 1, 0, stale);
    }
  }

  /** The disk is full, or the node is killed, while they are copied. */
  @Test
  void bodiesAboveASnapshotThatCannotBeTakenOverStay() throws IOException {
    try (Segments other = Segments.open(temp.resolve("other"), 1000, -1)) {
      append(other, 3, 0, 60);
      other.link(snapshot, 49);
    }
    append(segments, 3, 0, 80);
    List<Path> before = files(live);
    Path last = before.get(before.size() - 1);
    Path away = temp.resolve("away");
    Files.move(last, away);
    assertThatThrownBy(() -> segments.restore(snapshot)).isInstanceOf(IOException.class);
    Files.move(away, last);
    reopen();
    assertHolds(segments, 3, 50, 80);
    segments.restore(snapshot);
    for (int i = 0; i < 2; i++) {
      assertHolds(segments, 3, 0, 80);
      reopen();
    }
  }

  @Test
  void whatIsNoSnapshotIsRefusedAndChangesNothing() throws IOException {
    append(segments, 1, 0, 5);
    Files.createDirectories(snapshot);
    assertThatThrownBy(() -> segments.restore(snapshot)).hasMessageContaining("no whole copy");
    assertHolds(segments, 1, 0, 5);
  }

  /** A snapshot has other links to a file of which a start cuts off the end. */
  @Test
  void cuttingLeavesASnapshotWhatItCovers() throws IOException {
    append(segments, 1, 0, 9);
    segments.link(snapshot, 7);
    segments.close();
    segments = Segments.open(live, SEGMENT_BYTES, 7);
    segments.cutAfter(7);
    append(segments, 2, 8, 9);
    segments.close();
    deleteAll(live);
    segments = Segments.open(live, SEGMENT_BYTES, -1);
    segments.restore(snapshot);
    assertHolds(segments, 1, 0, 7);
  }

  /** As without room on the disk. */
  @Test
  void aSnapshotThatCannotBeginANewSegmentDoesNotEndWriting() throws IOException {
    append(segments, 1, 0, 3);
    Path next = live.resolve("000000000002-0.seg");
    Files.createFile(next);
    assertThatThrownBy(() -> segments.link(snapshot, 3)).isInstanceOf(IOException.class);
    Files.delete(next);
    segments.force();
    append(segments, 1, 4, 9);
    assertHolds(segments, 1, 0, 9);
    reopen();
    assertHolds(segments, 1, 0, 9);
  }

  /** The node stops while damage is mended: a write that goes on must not fail. */
  @Test
  void anInterruptedThreadThatEndsASegmentLeavesItToItsWriter() throws Exception {
    append(segments, 1, 0, 0);
    CompletableFuture<Boolean> failed = new CompletableFuture<>();
    Thread interrupted =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              try {
                segments.mend(0, new TreeMap<>(), any -> true);
                failed.complete(false);
              } catch (IOException e) {
                failed.complete(true);
              }
            });
    interrupted.start();
    assertThat(failed.get()).isTrue();
    append(segments, 1, 1, 5);
    segments.force();
    assertHolds(segments, 1, 0, 5);
  }

  /** A snapshot of another node has come meanwhile, whose segments have other numbers. */
  @Test
  void aBodyIsNotMendedInASegmentThatIsNotItsPlace() throws IOException {
    append(segments, 1, 10, 30);
    List<Segments.Info> before = segments.list();
    Segments.Body body = new Segments.Body(1, 11, List.of(ByteBuffer.wrap(bytes(1, 11))));
    TreeMap<Long, Segments.Body> bodies = new TreeMap<>(Map.of(11L, body));
    assertThat(segments.mend(3, bodies, any -> true)).isFalse();
    assertHolds(segments, 1, 10, 30);
    assertThat(segments.list()).isEqualTo(before);
    reopen();
    assertHolds(segments, 1, 10, 30);
  }

  @Test
  void aRewrittenSegmentStaysIfTheFormerOneCannotBeDeleted() throws IOException {
    append(segments, 1, 0, 9);
    // Its file is open for readers from now on.
    assertHolds(segments, 1, 0, 9);
    Path former = live.resolve("000000000000-0.seg");
    Files.delete(former);
    Files.createDirectories(former.resolve("full"));
    assertThatThrownBy(() -> segments.rewrite(info(0), index -> index != 1, bytes -> {}))
        .isInstanceOf(IOException.class);
    assertHolds(segments, 1, 0, 0);
    assertHolds(segments, 1, 2, 9);
    Files.delete(former.resolve("full"));
    Files.delete(former);
    reopen();
    assertHolds(segments, 1, 0, 0);
    assertHolds(segments, 1, 2, 9);
  }

  /** What a crash or a full disk left behind; a later segment of that number is not the same. */
  @Test
  void tablesWithoutASegmentAreDeletedAtAStart() throws IOException {
    append(segments, 1, 0, 9);
    segments.close();
    Files.createFile(live.resolve("000000000007-0.idx"));
    Files.createFile(live.resolve("000000000007-1.idx.tmp"));
    segments = Segments.open(live, SEGMENT_BYTES, -1);
    assertHolds(segments, 1, 0, 9);
    assertThat(live.resolve("000000000007-0.idx")).doesNotExist();
    assertThat(live.resolve("000000000007-1.idx.tmp")).doesNotExist();
    assertThat(live.resolve("000000000000-0.idx")).exists();
  }

  @Test
  void aSealedSegmentCanBeDeletedAndOneThatIsWrittenCannot() throws IOException {
    append(segments, 1, 0, 9);
    Segments.Info first = info(0);
    long before = segments.bytes();
    assertThat(segments.delete(first)).isEqualTo(first.bytes());
    assertThat(segments.bytes()).isEqualTo(before - first.bytes());
    assertLacks(segments, 1, 0, first.lastIndex());
    assertThat(segments.read(0, 0, ByteBuffer.allocate(1))).isFalse();
    assertHolds(segments, 1, first.lastIndex() + 1, 9);
    assertThat(segments.delete(first)).isZero();
    Segments.Info open = segments.list().stream().filter(info -> !info.sealed()).findFirst().get();
    assertThat(segments.delete(open)).isZero();
    reopen();
    assertLacks(segments, 1, 0, first.lastIndex());
    assertHolds(segments, 1, first.lastIndex() + 1, 9);
  }

  /** The table beside a rewritten segment is lost or damaged, when the former segment is gone. */
  @Test
  void aRewrittenSegmentWithoutItsTableIsReadFromItsRecords() throws IOException {
    append(segments, 1, 0, 9);
    segments.rewrite(info(0), index -> index != 1, bytes -> {});
    segments.close();
    Path table = live.resolve("000000000000-1.idx");
    byte[] damaged = Files.readAllBytes(table);
    damaged[damaged.length - 1] ^= 1;
    Files.write(table, damaged);
    segments = Segments.open(live, SEGMENT_BYTES, 9);
    assertHolds(segments, 1, 0, 0);
    assertLacks(segments, 1, 1, 1);
    assertHolds(segments, 1, 2, 9);
  }

  @Test
  void linkingForcingRewritingAndReadingGoOnWhileAnotherThreadWrites() throws Exception {
    int last = 2_000;
    AtomicBoolean ended = new AtomicBoolean();
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try {
                append(segments, 1, 0, last);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              } finally {
                ended.set(true);
              }
            });
    for (int round = 0; !ended.get() || round < 3; round++) {
      long end = segments.list().isEmpty() ? -1 : highest();
      segments.force();
      Path copy = temp.resolve("copy" + round);
      segments.link(copy, end);
      try (Segments linked = Segments.open(copy, SEGMENT_BYTES, end)) {
        assertHolds(linked, 1, Math.max(0, end - 20), end);
      }
      deleteAll(copy);
      Segments.Info rewritten = info(round);
      if (rewritten != null) {
        segments.rewrite(rewritten, index -> true, bytes -> {});
      }
      assertHolds(segments, 1, 0, Math.min(20, end));
    }
    writer.join();
    assertHolds(segments, 1, 0, last);
    reopen();
    assertHolds(segments, 1, 0, last);
  }

  /** A snapshot may bring another segment of the same number. */
  @Test
  void aSegmentThatIsNotAsItWasSeenIsNeitherDeletedNorRewritten() throws IOException {
    append(segments, 1, 0, 9);
    Segments.Info seen = info(0);
    segments.rewrite(seen, index -> index != 1, bytes -> {});
    assertThat(segments.delete(seen)).isZero();
    assertThat(segments.rewrite(seen, index -> false, bytes -> {})).isZero();
    assertHolds(segments, 1, 0, 0);
    assertHolds(segments, 1, 2, 9);
  }

  @Test
  void manyReadersOfMoreSegmentsThanFilesMayBeOpenReadWhatWasWritten() throws Exception {
    segments.close();
    FilePool files = new FilePool(3);
    segments = Segments.open(live, SEGMENT_BYTES, -1, files);
    int last = 200;
    append(segments, 1, 0, last);
    int readers = 6;
    assertThat(segments.list()).hasSizeGreaterThan(20);
    AtomicBoolean ended = new AtomicBoolean();
    List<CompletableFuture<Void>> reading = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      Random random = new Random(i);
      reading.add(
          CompletableFuture.runAsync(
              () -> {
                while (!ended.get()) {
                  long index = random.nextInt(last + 1);
                  assertReads(index);
                  assertThat(files.size()).isLessThanOrEqualTo(3 + readers);
                }
              }));
    }
    try {
      for (Segments.Info each : segments.list()) {
        segments.rewrite(each, index -> true, bytes -> {});
        Thread interrupted = new Thread(() -> assertReads(each.firstIndex()));
        interrupted.start();
        interrupted.interrupt();
        interrupted.join();
      }
    } finally {
      ended.set(true);
    }
    reading.forEach(CompletableFuture::join);
    assertThat(files.size()).isLessThanOrEqualTo(3);
    assertHolds(segments, 1, 0, last);
    segments.close();
    assertThat(files.size()).isZero();
  }

  private void assertReads(long index) {
    ByteBuffer body = ByteBuffer.allocate(BODY_BYTES);
    try {
      assertThat(segments.read(index, 0, body)).as("entry %s", index).isTrue();
      assertThat(body.array()).isEqualTo(bytes(1, index));
    } catch (ClosedByInterruptException interrupted) {
      // Of the thread that is.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long highest() {
    List<Segments.Info> list = segments.list();
    return list.get(list.size() - 1).lastIndex();
  }

  private static void deleteAll(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      each(files.toList(), file -> Files.delete(file));
    }
  }
}
