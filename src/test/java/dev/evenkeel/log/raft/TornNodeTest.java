package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Wait;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of a lone node are cut off. It has five entries, a mark that says so, and then three
 * more.
 */
class TornNodeTest {
  private static final int CUTS = 3 * Math.max(1, Integer.getInteger("evenkeel.rounds", 1));

  @TempDir Path temp;
  private final int port = TestNode.freePort();
  private Path sound;
  private Path older;

  @BeforeEach
  void run() throws Exception {
    sound = temp.resolve("sound");
    older = temp.resolve("older");
    try (TestNode node = TestNode.alone(sound, port).awaitReady()) {
      times(5, i -> TestNode.append(node.d0(), entry(i)).get());
      await().until(() -> Files.readString(mark(sound)).contains("d0 "));
      long last = node.d0().status().appliedIndex();
      Wait.until(
          () -> {
            var at = new AppliedPositions(sound.resolve("log")).read().get("d0");
            return at != null && at.flushed() == last;
          });
    }
    copy(sound, older);
    try (TestNode node = TestNode.alone(sound, port).awaitReady()) {
      for (int i = 5; i < 8; i++) {
        TestNode.append(node.d0(), entry(i)).get();
      }
    }
  }

  /** The files without the snapshot that the node took when it stopped. */
  private Path copyAsIfKilled() throws IOException {
    Path torn = temp.resolve("torn");
    DurableFiles.deleteTree(torn);
    copy(sound, torn);
    Path snapshots = logFile(torn).resolve("../../sm").normalize();
    List<Path> all = DurableFiles.list(snapshots);
    assertThat(all).hasSize(2);
    long newest = SnapshotFiles.latestIndex(snapshots);
    for (Path each : all) {
      if (each.toString().endsWith("_" + newest)) {
        DurableFiles.deleteTree(each);
      }
    }
    return torn;
  }

  private static String entry(int i) {
    return "entry " + i + " " + "x".repeat(50 + i);
  }

  private static Path mark(Path home) {
    return home.resolve("log/applied");
  }

  /** The store and the mark are as fresh as the log, so the node knows that something is gone. */
  @Test
  void whatTheStoreHadAppliedIsThereOrTheStartIsRefused() throws Exception {
    for (Path file : List.of(logFile(sound), segment(sound))) {
      long length = used(file);
      for (long at : cuts(length, 40)) {
        Path torn = copyAsIfKilled();
        cut(torn.resolve(sound.relativize(file)), at);
        try (TestNode node = TestNode.alone(torn, port).awaitReady()) {
          assertThat(node.state("d0").entries()).hasSize(8);
        } catch (LogStartException refused) {
          assertThat(refused.getMessage()).contains("lacks entry").doesNotContain("\n");
        }
      }
    }
  }

  /** As after a loss of power: the store and the mark are older. */
  @Test
  void whatIsBehindTheMarkAndTornIsCutOffAndTheNodeGoesOn() throws Exception {
    for (Path file : List.of(logFile(sound), segment(sound))) {
      long length = used(file);
      for (long at : cuts(length, 15)) {
        Path torn = copyAsIfKilled();
        Files.copy(mark(older), mark(torn), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        DurableFiles.deleteTree(torn.resolve("live/d0"));
        copy(older.resolve("live/d0"), torn.resolve("live/d0"));
        cut(torn.resolve(sound.relativize(file)), at);
        List<String> kept;
        try (TestNode node = TestNode.alone(torn, port).awaitReady()) {
          kept = new ArrayList<>(node.state("d0").entries());
          assertThat(kept).hasSizeBetween(5, 7);
          times(kept.size(), k -> assertThat(kept.get(k)).isEqualTo(entry(k)));
          TestNode.append(node.d0(), "and on, with a body").get();
          kept.add("and on, with a body");
        }
        try (TestNode node = TestNode.alone(torn, port).awaitReady()) {
          assertThat(node.state("d0").entries()).isEqualTo(kept);
        }
      }
    }
  }

  /** The last file of the group's log. */
  private static Path logFile(Path home) throws IOException {
    return last(home, "log_");
  }

  private static Path segment(Path home) throws IOException {
    return last(home.resolve("bodies/d0"), "0");
  }

  /** The fullest file whose name begins so: the other groups have none of these entries. */
  private static Path last(Path directory, String prefix) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> found =
          files
              .filter(file -> file.getFileName().toString().startsWith(prefix))
              .filter(file -> !file.toString().endsWith(".idx"))
              .toList();
      Path best = null;
      for (Path file : found) {
        best = best == null || rank(file) > rank(best) ? file : best;
      }
      return best;
    }
  }

  /** Where the last three entries are. */
  private static long rank(Path file) throws IOException {
    String text = Files.readString(file, java.nio.charset.StandardCharsets.ISO_8859_1);
    return text.contains("xxxx") ? Files.getLastModifiedTime(file).toMillis() : -1;
  }

  /** The length without what is only reserved. */
  private static long used(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int length = bytes.length;
    while (bytes[length - 1] == 0) {
      length--;
    }
    return length;
  }

  /** Shorter and shorter lengths. */
  private static long[] cuts(long length, long step) {
    return LongStream.iterate(length - step, at -> at > 0, at -> at - step).limit(CUTS).toArray();
  }

  private static void cut(Path file, long length) throws IOException {
    try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
      open.truncate(length);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    }
  }
}
