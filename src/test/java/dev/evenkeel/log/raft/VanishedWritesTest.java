package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * A machine loses its power: what was flushed is there, and of the later writes to the log and to
 * the bodies any may be missing, or be there in part.
 */
class VanishedWritesTest {
  /** What became of one write: all others are there. */
  private static final int GONE = 0;

  private static final int TORN = 1;

  @Property(tries = 150)
  void theLogEndsBeforeTheFirstEntryOfWhichAWriteIsMissing(
      @ForAll @IntRange(min = 0, max = 6) int flushed,
      @ForAll @IntRange(min = 0, max = 3) int replaced,
      @ForAll @Size(max = 24) List<@IntRange(min = GONE, max = 8) Integer> fates,
      @ForAll boolean shortened,
      @ForAll long seed)
      throws Exception {
    Files.createDirectories(Path.of("target"));
    Path temp = Files.createTempDirectory(Path.of("target"), "vanished").toAbsolutePath();
    Random random = new Random(seed);
    long end = flushed + 8;
    try (LogAndBodies files = new LogAndBodies(temp)) {
      files.bodies().open(-1);
      files.append(1, 0, flushed, true, random);
      if (replaced > 0) {
        // Entries of a former leader, whose bodies stay behind.
        files.append(1, flushed + 1, flushed + replaced, false, random);
        Files.delete(files.current().resolve("log_inprogress_" + (flushed + 1)));
      }
      files.append(2, flushed + 1, end, false, random);
      files.close();
      long whole = lose(files, flushed, end, fates, shortened, random);
      long last = new LogAndBodies(temp).start(flushed, -1);
      assertThat(last).isEqualTo(whole);
    }
    goOn(temp, flushed);
    DurableFiles.deleteTree(temp);
  }

  /** The last entry up to which all is there. */
  private static long lose(
      LogAndBodies files,
      long flushed,
      long end,
      List<Integer> fates,
      boolean shortened,
      Random random)
      throws IOException {
    long whole = flushed;
    boolean sound = true;
    int write = 0;
    for (long index = flushed + 1; index <= end; index++) {
      LogAndBodies.Entry entry = files.entries.get(index);
      for (LogAndBodies.Piece piece : Arrays.asList(entry.head(), entry.record())) {
        if (piece != null && write < fates.size()) {
          sound &= suffer(piece, fates.get(write++), random);
        }
      }
      whole = sound ? index : whole;
    }
    if (shortened) {
      for (Path file : List.of(files.segmentFiles().get(0), files.entries.get(end).head().file())) {
        dropZeros(file);
      }
    }
    return whole;
  }

  /** False if bytes changed. */
  private static boolean suffer(LogAndBodies.Piece piece, int fate, Random random)
      throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(piece.file().toFile(), "rw")) {
      byte[] before = new byte[(int) (piece.to() - piece.from())];
      file.seek(piece.from());
      file.readFully(before);
      byte[] after = before.clone();
      if (fate == GONE) {
        Arrays.fill(after, (byte) 0);
      } else if (fate == TORN) {
        int from = random.nextInt(after.length);
        Arrays.fill(after, from, from + random.nextInt(after.length - from + 1), (byte) 0);
      }
      file.seek(piece.from());
      file.write(after);
      return Arrays.equals(before, after);
    }
  }

  /** A file may also be as short as if what is missing at its end had never been written. */
  private static void dropZeros(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int length = bytes.length;
    while (length > 0 && bytes[length - 1] == 0) {
      length--;
    }
    if (length > 0) {
      // A checksum or a body may end with zeros of its own; one byte more is as good as none.
      Files.write(file, Arrays.copyOf(bytes, Math.min(bytes.length, length + 4)));
    }
  }

  /** What the start has kept is there at the next one, too, and all of it is sound. */
  private static void goOn(Path temp, long flushed) throws Exception {
    LogAndBodies files = new LogAndBodies(temp);
    long last = files.start(flushed, -1);
    assertThat(files.log()).hasSize((int) last + 1);
    files.close();
    try (LogAndBodies again = new LogAndBodies(temp)) {
      assertThat(again.start(last, -1)).isEqualTo(last);
      again
          .bodies()
          .append(
              List.of(
                  new EntryBodies.Body(
                      3, last + 1, List.of(ByteBuffer.wrap(new byte[] {1, 2, 3})))));
      assertThat(again.bodies().read(last + 1)).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
      assertThat(again.bodies().holds(2, last + 2)).isFalse();
    }
  }
}
