package dev.evenkeel.storage.segment;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The disk damages segments and their tables while they are open. */
class MendTest {
  private static final int TERM = 7;

  private final TreeMap<Long, byte[]> model = new TreeMap<>();
  private Random random;
  private Path directory;
  private Segments segments;

  /** Bytes of records, of headers, of tables: a check finds what they were, and all is mended. */
  @Property(tries = 60)
  void whateverIsDamagedIsFoundAndMended(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int flips) throws IOException {
    begin(seed);
    times(flips, i -> flip(anyFile()));
    repair();
    assertSound();
    // What is written on goes behind it.
    append(model.lastKey() + 1, 5);
    assertSound();
    reopen();
    assertSound();
    end();
  }

  /** A node that starts finds no table, and records of which it misses the headers. */
  @Property(tries = 30)
  void whatWasDamagedWhileTheNodeWasStoppedIsMendedToo(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int flips) throws IOException {
    begin(seed);
    segments.close();
    times(flips, i -> flip(anyFile()));
    segments = Segments.open(directory, 1_500, model.lastKey());
    append(model.lastKey() + 1, 3);
    repair();
    assertSound();
    reopen();
    assertSound();
    end();
  }

  /** What no replica has stays damaged, and takes nothing else with it. */
  @Property(tries = 30)
  void whatCannotBeMendedStaysDamagedAndTheRestIsMended(@ForAll long seed) throws IOException {
    begin(seed);
    List<Long> damaged = new ArrayList<>();
    for (Segments.Info info : segments.list()) {
      Segment segment = segments.segments.of(info.firstIndex());
      int row = random.nextInt(segment.table().count());
      damaged.add(segment.table().index(row));
      flipAt(segment.path(), segment.table().position(row) + RecordHeader.BYTES);
    }
    long lost = damaged.remove(random.nextInt(damaged.size()));
    for (long index : damaged) {
      mend(index);
    }
    for (long index : model.keySet()) {
      if (index == lost) {
        assertThat(segments.readVerified(index)).isNull();
        assertThat(segments.term(index)).isEqualTo(TERM);
      } else {
        assertThat(segments.readVerified(index)).isEqualTo(ByteBuffer.wrap(model.get(index)));
      }
    }
    end();
  }

  /** Nothing is deleted or left out because a damaged table does not name it any more. */
  @Property(tries = 30)
  void aSegmentWithADamagedTableIsNotRewritten(@ForAll long seed) throws IOException {
    begin(seed);
    List<Segments.Info> before = segments.list();
    each(files(".idx"), file -> flip(file));
    assertThat(segments.list()).isEqualTo(before);
    each(before, info -> segments.rewrite(info, index -> true, bytes -> {}));
    repair();
    assertSound();
    end();
  }

  /** What is mapped behind the end of a file ends the process when it is read. */
  @Property(tries = 10)
  void aTableThatEndsEarlyIsMended(@ForAll long seed) throws IOException {
    begin(seed);
    for (Path file : files(".idx")) {
      try (RandomAccessFile table = new RandomAccessFile(file.toFile(), "rw")) {
        table.setLength(random.nextBoolean() ? 0 : random.nextInt((int) table.length()));
      }
    }
    repair();
    assertSound();
    reopen();
    assertSound();
    end();
  }

  /** The table is made anew from the records that are left, and the others are fetched. */
  @Property(tries = 20)
  void segmentsThatEndEarlyLikeTheirTablesAreMended(@ForAll long seed) throws IOException {
    begin(seed);
    for (Path file : files(".idx")) {
      String name = file.toString();
      Path segment = Path.of(name.substring(0, name.length() - 4) + Segment.SUFFIX);
      for (Path each : List.of(file, segment)) {
        try (RandomAccessFile bytes = new RandomAccessFile(each.toFile(), "rw")) {
          bytes.setLength(random.nextInt((int) bytes.length()));
        }
      }
    }
    repair();
    assertSound();
    reopen();
    assertSound();
    end();
  }

  private void begin(long seed) throws IOException {
    random = new Random(seed);
    model.clear();
    directory = Files.createTempDirectory(Path.of("target"), "mend");
    segments = Segments.open(directory, 1_500, -1);
    append(100, 40 + random.nextInt(40));
  }

  private void end() throws IOException {
    segments.close();
    try (Stream<Path> files = Files.list(directory)) {
      each(files.toList(), file -> Files.delete(file));
    }
    Files.delete(directory);
  }

  private void reopen() throws IOException {
    segments.close();
    segments = Segments.open(directory, 1_500, model.lastKey());
  }

  private void append(long first, int count) throws IOException {
    long index = first;
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[1 + random.nextInt(300)];
      random.nextBytes(bytes);
      model.put(index, bytes);
      segments.append(List.of(body(index)));
      index += 1 + random.nextInt(3);
    }
    segments.force();
  }

  private Segments.Body body(long index) {
    return new Segments.Body(TERM, index, List.of(ByteBuffer.wrap(model.get(index))));
  }

  private List<Path> files(String suffix) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  private Path anyFile() throws IOException {
    List<Path> files = files(random.nextInt(3) == 0 ? ".idx" : ".seg");
    return files.get(random.nextInt(files.size()));
  }

  private void flip(Path file) throws IOException {
    long length = Files.size(file);
    if (length > 0) {
      flipAt(file, random.nextInt((int) length));
    }
  }

  private void flipAt(Path file, long at) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(at);
      int old = bytes.read();
      bytes.seek(at);
      bytes.write(old ^ (1 << random.nextInt(8)));
    }
  }

  /** As a node does it, with replicas that have everything. */
  private void repair() throws IOException {
    for (Segments.Info info : segments.list()) {
      SegmentCheck check = segments.check(info.number(), bytes -> {});
      if (!check.tableIsSound()) {
        assertThat(segments.mend(info.number(), new TreeMap<>(), any -> true)).isTrue();
        check = segments.check(info.number(), bytes -> {});
      }
      for (long index : check.damaged()) {
        assertThat(segments.readVerified(index)).as("entry %s", index).isNull();
        mend(index);
      }
    }
    for (long index : model.keySet()) {
      if (segments.length(index) == 0) {
        mend(index);
      }
    }
  }

  private void mend(long index) throws IOException {
    NavigableMap<Long, Segments.Body> bodies = new TreeMap<>(Map.of(index, body(index)));
    long number = segments.numberOf(index);
    assertThat(segments.mend(number, bodies, any -> true)).isTrue();
  }

  private void assertSound() throws IOException {
    for (Map.Entry<Long, byte[]> each : model.entrySet()) {
      long index = each.getKey();
      assertThat(segments.readVerified(index))
          .as("entry %s", index)
          .isEqualTo(ByteBuffer.wrap(each.getValue()));
      assertThat(segments.header(index))
          .isEqualTo(RecordHeader.of(index, TERM, ByteBuffer.wrap(each.getValue())));
    }
    TreeSet<Long> numbers = new TreeSet<>();
    for (Segments.Info info : segments.list()) {
      assertThat(segments.check(info.number(), bytes -> {})).isEqualTo(SegmentCheck.NOTHING);
      assertThat(numbers.add(info.number())).isTrue();
    }
  }
}
