package dev.evenkeel.storage.segment;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JoinedReadTest {
  @TempDir Path directory;

  private static byte[] body(int length, long index) {
    byte[] bytes = new byte[length];
    new Random(index).nextBytes(bytes);
    return bytes;
  }

  private static Segments with(Path directory, int segmentBytes, int... lengths)
      throws IOException {
    Segments segments = Segments.open(directory, segmentBytes, -1);
    for (int index = 0; index < lengths.length; index++) {
      segments.append(
          List.of(
              new Segments.Body(1, index, List.of(ByteBuffer.wrap(body(lengths[index], index))))));
    }
    return segments;
  }

  private static BodyPart part(long index, int offset, int length) {
    return new BodyPart(index, offset, ByteBuffer.allocate(length));
  }

  private static int joined(Segments segments, List<BodyPart> parts) {
    return JoinedRead.of(segments.segments, parts, 0).count();
  }

  @Test
  void smallPartsOfOneSegmentAreReadAtOnce() throws IOException {
    try (Segments segments = with(directory, 1 << 20, 300, 300, 300, 300, 300, 300)) {
      assertThat(joined(segments, List.of(part(0, 0, 100), part(0, 150, 100), part(5, 200, 100))))
          .isEqualTo(3);
      // Backward, beyond the end of a body, and not there.
      assertThat(joined(segments, List.of(part(3, 0, 100), part(1, 0, 100)))).isEqualTo(1);
      assertThat(joined(segments, List.of(part(3, 0, 300), part(4, 1, 300)))).isEqualTo(1);
      assertThat(joined(segments, List.of(part(6, 0, 1), part(5, 0, 1)))).isZero();
    }
  }

  @Test
  void partsThatAreFarApartOrLargeAreReadOneByOne() throws IOException {
    int far = JoinedRead.GAP_BYTES_MAX;
    int large = JoinedRead.BYTES_MAX;
    try (Segments segments = with(directory, 4 << 20, 100, far, 100, large - 1, 100, large)) {
      assertThat(joined(segments, List.of(part(0, 0, 100), part(2, 0, 100)))).isEqualTo(1);
      assertThat(joined(segments, List.of(part(0, 0, 100), part(1, far - RecordHeader.BYTES, 1))))
          .isEqualTo(2);
      assertThat(joined(segments, List.of(part(3, 0, large - 1), part(4, 0, 100)))).isEqualTo(1);
      List<BodyPart> parts = List.of(part(4, 0, 100), part(5, 0, large));
      assertThat(segments.read(parts)).isEqualTo(2);
      assertThat(parts.get(1).into().array()).isEqualTo(body(large, 5));
    }
  }

  @Property(tries = 30)
  void partsHaveTheBytesThatWereWrittenWhereverTheyLie(
      @ForAll long seed, @ForAll @IntRange(min = 500, max = 100_000) int segmentBytes)
      throws IOException {
    Random random = new Random(seed);
    int[] lengths = random.ints(40, 1, random.nextBoolean() ? 200 : 20_000).toArray();
    Path here = Files.createTempDirectory(Path.of("target"), "joined");
    List<BodyPart> parts = new ArrayList<>();
    List<byte[]> expected = new ArrayList<>();
    for (int index = 0; index < lengths.length; index++) {
      for (int at = random.nextInt(50); at < lengths[index]; at += random.nextInt(9_000)) {
        int length = 1 + random.nextInt(Math.min(9_000, lengths[index] - at));
        byte[] bytes = new byte[length];
        System.arraycopy(body(lengths[index], index), at, bytes, 0, length);
        parts.add(part(index, at, length));
        expected.add(bytes);
        at += length;
      }
    }
    try (Segments segments = with(here, segmentBytes, lengths)) {
      assertThat(segments.read(parts)).isEqualTo(parts.size());
      for (int i = 0; i < parts.size(); i++) {
        assertThat(parts.get(i).into().hasRemaining()).isFalse();
        assertThat(parts.get(i).into().array()).isEqualTo(expected.get(i));
      }
      each(segments.list(), info -> segments.delete(info));
    }
  }

  @Test
  void whatLiesBeforeAMissingPartIsRead() throws IOException {
    try (Segments segments = with(directory, 1 << 20, 300, 300, 300)) {
      BodyPart first = part(0, 0, 300);
      BodyPart second = part(1, 0, 300);
      assertThat(segments.read(List.of(first, part(7, 0, 300), second))).isEqualTo(1);
      assertThat(first.into().array()).isEqualTo(body(300, 0));
      assertThat(second.into().position()).isZero();
    }
  }

  @Test
  void whatLiesBeforeTheEndOfACutFileIsRead() throws IOException {
    try (Segments segments = with(directory, 1 << 20, 300, 300, 300)) {
      try (FileChannel file =
          FileChannel.open(file(directory, Segment.SUFFIX), StandardOpenOption.WRITE)) {
        file.truncate(3 * RecordHeader.BYTES + 700);
      }
      List<BodyPart> parts = List.of(part(0, 0, 300), part(1, 0, 300), part(2, 0, 300));
      assertThat(segments.read(parts)).isEqualTo(2);
      assertThat(parts.get(0).into().array()).isEqualTo(body(300, 0));
      assertThat(parts.get(1).into().array()).isEqualTo(body(300, 1));
    }
  }

  @Test
  void aPlaceThatCannotBeIsMissing() throws IOException {
    try (Segments segments = with(directory, 500, 300, 300, 300)) {
      try (FileChannel table =
          FileChannel.open(file(directory, ".idx"), StandardOpenOption.WRITE)) {
        // The position of the second record, see RecordTable.
        table.write(ByteBuffer.wrap(new byte[] {-1}), 24 + 16 + 8);
      }
      assertThat(segments.read(1, 0, ByteBuffer.allocate(300))).isFalse();
      assertThat(segments.read(List.of(part(0, 0, 300), part(1, 0, 300)))).isEqualTo(1);
      assertThat(segments.readVerified(1)).isNull();
    }
  }

  private static Path file(Path directory, String suffix) throws IOException {
    try (var files = Files.list(directory)) {
      return files.filter(path -> path.toString().endsWith(suffix)).sorted().findFirst().get();
    }
  }
}
