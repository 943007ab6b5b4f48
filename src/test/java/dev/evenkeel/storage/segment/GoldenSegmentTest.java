package dev.evenkeel.storage.segment;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Golden;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of segments keep their format: names, records, tables, and the file that completes the
 * segments of a snapshot. Another format needs another format of {@code cluster.json}.
 */
class GoldenSegmentTest {
  private static final String DIRECTORY = "data/bodies";
  private static final List<String> BODIES = List.of("first", "second, which is longer", "3", "4");
  private static final int SEGMENT_BYTES = 100;

  @TempDir Path temp;

  private static ByteBuffer bytes(String body) {
    return ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8));
  }

  /** Of term 7, with gaps in the indices: not every entry has a body. */
  private static long index(int body) {
    return 10 + 3L * body;
  }

  @Test
  void segmentsAreWrittenAsTheyWere() throws IOException {
    Path snapshot = temp.resolve("snapshot");
    try (Segments segments = Segments.open(temp.resolve("live"), SEGMENT_BYTES, -1)) {
      for (int i = 0; i < BODIES.size(); i++) {
        segments.append(List.of(new Segments.Body(7, index(i), List.of(bytes(BODIES.get(i))))));
      }
      segments.link(snapshot, index(2));
    }
    List<String> names = names(snapshot);
    each(names, name -> Golden.checkBytes(DIRECTORY + "/" + name, snapshot.resolve(name)));
    assertThat(names(Golden.path(DIRECTORY))).isEqualTo(names);
  }

  @Test
  void segmentsAreRead() throws IOException {
    try (Segments segments = Segments.open(temp.resolve("live"), SEGMENT_BYTES, -1)) {
      segments.restore(copy(true));
      assertHolds(segments);
      assertThat(segments.list()).hasSize(2).allMatch(Segments.Info::sealed);
    }
  }

  @Test
  void segmentsWithoutATableAreRead() throws IOException {
    try (Segments segments = Segments.open(copy(false), SEGMENT_BYTES, -1)) {
      assertHolds(segments);
      assertThat(segments.list()).hasSize(2).noneMatch(Segments.Info::sealed);
    }
  }

  private static void assertHolds(Segments segments) throws IOException {
    for (int i = 0; i < BODIES.size(); i++) {
      assertThat(segments.term(index(i))).isEqualTo(7);
      assertThat(segments.readVerified(index(i))).isEqualTo(bytes(BODIES.get(i)));
    }
  }

  /** A copy of the files, as links must be on one file system. */
  private Path copy(boolean tables) throws IOException {
    Path copy = Files.createDirectory(temp.resolve("copy"));
    for (String name : names(Golden.path(DIRECTORY))) {
      if (tables || name.endsWith(Segment.SUFFIX)) {
        Files.copy(Golden.path(DIRECTORY).resolve(name), copy.resolve(name));
      }
    }
    return copy;
  }

  private static List<String> names(Path directory) throws IOException {
    return DurableFiles.list(directory).stream()
        .map(file -> file.getFileName().toString())
        .sorted()
        .toList();
  }
}
