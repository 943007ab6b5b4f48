package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of a log and of its bodies are cut off or damaged at any byte. The log has the entries
 * 0 to 4 in a closed file, and 5 to 14 in the open one, of which the last three had not been
 * flushed.
 */
class LogTailTest {
  private static final long FLUSHED = 11;
  private static final long LAST = 14;
  private static final int STRIDE = 5;

  @TempDir Path temp;
  private LogAndBodies sound;

  @BeforeEach
  void write() throws IOException {
    sound = new LogAndBodies(temp.resolve("sound"));
    sound.bodies().open(-1);
    // With this seed the last three have bodies, and some before them have none.
    Random random = new Random(9);
    sound.append(1, 0, 4, true, random);
    sound.append(1, 5, LAST, false, random);
    assertThat(sound.entries.tailMap(FLUSHED + 1).values())
        .allMatch(entry -> entry.record() != null);
    assertThat(sound.entries.values()).anyMatch(entry -> entry.record() == null);
  }

  @AfterEach
  void close() throws IOException {
    sound.close();
  }

  private interface Damage {
    void to(Path file, long at) throws IOException;
  }

  private static void cutOff(Path file, long at) throws IOException {
    try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
      open.truncate(at);
    }
  }

  private static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(at);
      int old = open.read();
      open.seek(at);
      open.write(old ^ 1 << at % 8);
    }
  }

  private static void zero(Path file, long at) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(at);
      open.write(new byte[(int) (open.length() - at)]);
    }
  }

  @Test
  void aTailThatIsTornAnywhereIsCutOffThere() throws Exception {
    damageTails(STRIDE);
  }

  @Test
  @Tag("full")
  void aTailThatIsTornAtAnyByteIsCutOffThere() throws Exception {
    damageTails(1);
  }

  private void damageTails(int stride) throws Exception {
    for (long index = FLUSHED + 1; index <= LAST; index++) {
      LogAndBodies.Entry entry = sound.entries.get(index);
      for (LogAndBodies.Piece piece : List.of(entry.head(), entry.record())) {
        for (long at = piece.from() + index % stride; at < piece.to(); at += stride) {
          damageAndStart(piece, at, LogTailTest::cutOff, index - 1);
          damageAndStart(piece, at, LogTailTest::zero, index - 1);
          damageAndStart(piece, at, LogTailTest::flip, index - 1);
        }
        damageAndStart(piece, piece.to(), LogTailTest::cutOff, index);
      }
    }
  }

  private void damageAndStart(LogAndBodies.Piece piece, long at, Damage damage, long last)
      throws Exception {
    try (LogAndBodies torn = sound.copyTo(temp.resolve("torn"))) {
      damage.to(torn.directory.resolve(sound.directory.relativize(piece.file())), at);
      String what = piece.file().getFileName() + " at " + at;
      assertThat(torn.start(FLUSHED, -1)).as(what).isEqualTo(last);
      assertHasUpTo(torn, last, what);
      goOn(torn, last, what);
    }
  }

  private void assertHasUpTo(LogAndBodies torn, long last, String what) throws IOException {
    List<LogEntryProto> log = torn.log();
    assertThat(log).as(what).hasSize((int) last + 1);
    for (LogAndBodies.Entry entry : sound.entries.values()) {
      long index = entry.index();
      if (index > last || entry.body() == null) {
        assertThat(torn.bodies().read(index)).as("%s: %s", what, index).isNull();
      } else {
        assertThat(torn.bodies().holds(1, index)).as("%s: %s", what, index).isTrue();
        assertThat(torn.bodies().read(index)).isEqualTo(ByteBuffer.wrap(entry.body()));
      }
    }
  }

  /** Takes more entries, and starts again. */
  private void goOn(LogAndBodies torn, long last, String what) throws Exception {
    torn.append(2, last + 1, last + 4, false, new Random(at(what)));
    torn.close();
    try (LogAndBodies again = new LogAndBodies(torn.directory)) {
      // The file before this one was closed in the meantime.
      for (LogGroupFiles.Segment file : LogGroupFiles.segments(again.current())) {
        if (file.open() && file.start() <= last) {
          Files.move(file.file(), again.current().resolve("log_" + file.start() + "-" + last));
        }
      }
      assertThat(again.start(last + 4, -1)).as(what).isEqualTo(last + 4);
      for (LogAndBodies.Entry entry : torn.entries.values()) {
        if (entry.index() <= last + 4 && entry.body() != null) {
          assertThat(again.bodies().read(entry.index()))
              .as("%s: %s", what, entry.index())
              .isEqualTo(ByteBuffer.wrap(entry.body()));
        }
      }
    }
  }

  private static long at(String what) {
    return what.hashCode();
  }

  /** Then the disk is at fault: nothing is cut, and nobody reads wrong bytes. */
  @Test
  void whatHadBeenFlushedIsWholeOrTheStartIsRefusedOrTheBodyCountsAsDamaged() throws Exception {
    for (long index = 0; index <= FLUSHED; index++) {
      LogAndBodies.Entry entry = sound.entries.get(index);
      Path head = index < 5 ? sound.current().resolve("log_0-4") : entry.head().file();
      for (long at = entry.head().from(); at < entry.head().to(); at += STRIDE) {
        refused(new LogAndBodies.Piece(head, 0, 0), at, LogTailTest::cutOff);
        refused(new LogAndBodies.Piece(head, 0, 0), at, LogTailTest::flip);
      }
      if (entry.record() != null) {
        for (long at = entry.record().from(); at < entry.record().to(); at += STRIDE) {
          refused(entry.record(), at, LogTailTest::cutOff);
          boolean header = at < entry.record().from() + 36;
          if (header) {
            refused(entry.record(), at, LogTailTest::flip);
          } else {
            damaged(entry, at);
          }
        }
      }
    }
  }

  private void refused(LogAndBodies.Piece piece, long at, Damage damage) throws IOException {
    try (LogAndBodies torn = sound.copyTo(temp.resolve("torn"))) {
      Path file = torn.directory.resolve(sound.directory.relativize(piece.file()));
      damage.to(file, at);
      long before = Files.size(file);
      assertThatThrownBy(() -> torn.start(FLUSHED, -1))
          .as("%s at %s", piece.file().getFileName(), at)
          .isInstanceOf(LogStartException.class)
          .hasMessageContaining("which had been written to disk")
          .message()
          .doesNotContain("\n");
      // (A file of bodies in which no record begins goes.)
      assertThat(!Files.exists(file) || Files.size(file) == before).as("not cut").isTrue();
    }
  }

  private void damaged(LogAndBodies.Entry entry, long at) throws Exception {
    try (LogAndBodies torn = sound.copyTo(temp.resolve("torn"))) {
      flip(torn.directory.resolve(sound.directory.relativize(entry.record().file())), at);
      assertThat(torn.start(FLUSHED, -1)).isEqualTo(LAST);
      assertThat(torn.bodies().read(entry.index())).isNull();
      assertThat(torn.bodies().read(LAST)).isNotNull();
    }
  }

  @Test
  void bodiesThatASnapshotCoversMayBeGoneAndTheFilesOfTheirEntriesGo() throws Exception {
    try (LogAndBodies purged = sound.copyTo(temp.resolve("purged"))) {
      each(purged.segmentFiles(), segment -> Files.delete(segment));
      assertThat(purged.start(FLUSHED, LAST)).isEqualTo(LAST);
      assertThat(LogGroupFiles.segments(purged.current()))
          .singleElement()
          .matches(LogGroupFiles.Segment::open);
    }
    try (LogAndBodies empty = sound.copyTo(temp.resolve("empty"))) {
      DurableFiles.deleteTree(empty.current());
      assertThat(empty.start(FLUSHED, FLUSHED + 1)).isEqualTo(FLUSHED + 1);
      assertThat(empty.bodies().holds(1, FLUSHED + 1)).isTrue();
      assertThat(empty.bodies().holds(1, LAST)).isFalse();
    }
  }

  /** A crash came between the installation of a snapshot and the end of the files before it. */
  @Test
  void filesBeforeAHoleThatASnapshotCoversGo() throws Exception {
    Path directory = temp.resolve("hole");
    try (LogAndBodies installed = new LogAndBodies(directory)) {
      installed.bodies().open(-1);
      installed.append(1, 0, 4, true, new Random(9));
      installed.append(1, 20, 22, false, new Random(9));
    }
    try (LogAndBodies after = new LogAndBodies(directory)) {
      assertThat(after.start(FLUSHED, 19)).isEqualTo(22);
      assertThat(LogGroupFiles.segments(after.current()))
          .singleElement()
          .matches(segment -> segment.start() == 20);
    }
  }

  @Test
  void aLogThatEndsBeforeTheSnapshotGoesAsTheEngineCouldNotAppendToIt() throws Exception {
    try (LogAndBodies behind = sound.copyTo(temp.resolve("behind"))) {
      assertThat(behind.start(FLUSHED, LAST + 1)).isEqualTo(LAST + 1);
      assertThat(LogGroupFiles.segments(behind.current())).isEmpty();
    }
  }

  @Test
  void aLogThatEndsBeforeWhatHadBeenFlushedIsRefusedAlsoIfItEndsCleanly() throws Exception {
    refused(
        sound.entries.get(FLUSHED).head(),
        sound.entries.get(FLUSHED).head().from(),
        LogTailTest::cutOff);
    try (LogAndBodies lacking = sound.copyTo(temp.resolve("lacking"))) {
      Files.delete(lacking.current().resolve("log_inprogress_5"));
      assertThatThrownBy(() -> lacking.start(FLUSHED, -1)).isInstanceOf(LogStartException.class);
    }
  }

  /**
   * The bodies of another leader's entries replace uncommitted ones before the engine has cut these
   * off, be it in a file that was closed.
   */
  @Test
  void aCrashBeforeAnotherLeadersEntriesReplaceOnesInAClosedFileDoesNotStopTheNode()
      throws Exception {
    long replaced =
        sound.entries.headMap(5L).values().stream()
            .filter(entry -> entry.body() != null)
            .mapToLong(LogAndBodies.Entry::index)
            .skip(1)
            .findFirst()
            .getAsLong();
    try (LogAndBodies killed = sound.copyTo(temp.resolve("killed"))) {
      killed.bodies().open(-1);
      killed
          .bodies()
          .append(
              List.of(new EntryBodies.Body(2, replaced, List.of(ByteBuffer.wrap(new byte[9])))));
      killed.close();
      for (int i = 0; i < 2; i++) {
        try (LogAndBodies again = new LogAndBodies(killed.directory)) {
          assertThat(again.start(-1, -1)).isEqualTo(replaced - 1);
          assertThat(again.log()).hasSize((int) replaced);
          assertThat(LogGroupFiles.segments(again.current()))
              .singleElement()
              .matches(LogGroupFiles.Segment::open);
        }
      }
    }
  }

  @Test
  void aNewNodeHasNothingToCut() throws Exception {
    try (LogAndBodies none = new LogAndBodies(temp.resolve("none"))) {
      assertThat(none.start(-1, -1)).isEqualTo(-1);
    }
  }
}
