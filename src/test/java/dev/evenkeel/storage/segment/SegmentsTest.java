package dev.evenkeel.storage.segment;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class SegmentsTest {
  private static final int SECTOR = 64;

  /**
   * @param partial whether only the first half of the body is left
   */
  private record Stored(long term, byte[] bytes, boolean partial) {}

  private final TreeMap<Long, Stored> model = new TreeMap<>();
  private final Map<Path, Long> flushedBytes = new HashMap<>();
  private Path directory;
  private Segments segments;
  private Random random;
  private long term = 1;
  private long flushed = -1;

  /** A machine that loses power keeps what was forced, and any sectors of what was not. */
  @Property(tries = 40)
  void afterALossOfPowerForcedBodiesAreThereAndOthersAreWholeOrMissing(
      @ForAll long seed, @ForAll @IntRange(min = 200, max = 4000) int segmentBytes)
      throws IOException {
    random = new Random(seed);
    model.clear();
    flushedBytes.clear();
    term = 1;
    flushed = -1;
    directory = Files.createTempDirectory(Path.of("target"), "segments");
    segments = Segments.open(directory, segmentBytes, -1);
    for (int life = 0; life < 4; life++) {
      for (int step = random.nextInt(25); step > 0; step--) {
        step();
      }
      loseUnflushed();
      segments = Segments.open(directory, segmentBytes, flushed);
      afterTheLoss();
    }
    segments.close();
    deleteTree(directory);
  }

  private void step() throws IOException {
    int kind = random.nextInt(10);
    if (kind == 0) {
      force();
    } else if (kind == 1 && !model.isEmpty()) {
      // Another leader's entries replace uncommitted ones.
      long from = model.lastKey() - random.nextInt(Math.min(5, model.size()));
      term++;
      flushed = Math.min(flushed, from - 1);
      model.tailMap(from, true).clear();
      append(from);
    } else if (kind == 2) {
      rewrite();
    } else if (kind == 3) {
      link();
    } else {
      append(Math.max(flushed, model.isEmpty() ? -1 : model.lastKey()) + 1 + random.nextInt(2));
    }
  }

  private void rewrite() throws IOException {
    for (Segments.Info info : segments.list()) {
      if (info.sealed() && random.nextBoolean()) {
        // Bodies that are not flushed stay: their entries may still be replaced.
        model
            .keySet()
            .removeIf(
                index ->
                    index >= info.firstIndex()
                        && index <= Math.min(info.lastIndex(), flushed)
                        && random.nextInt(3) == 0);
        segments.rewrite(info, new Halves(info), bytes -> {});
      }
    }
    noteSizesOfSealed();
  }

  /** Of some bodies, only the first half is left. */
  private final class Halves implements Segments.Needs {
    private final Set<Long> halves = new HashSet<>();

    Halves(Segments.Info info) {
      for (long index : model.headMap(flushed, true).keySet()) {
        if (index >= info.firstIndex() && index <= info.lastIndex() && random.nextInt(3) == 0) {
          halves.add(index);
        }
      }
    }

    @Override
    public boolean any(long index) {
      return model.containsKey(index);
    }

    @Override
    public boolean all(long index) {
      return !halves.contains(index);
    }

    @Override
    public ByteBuffer part(long index, ByteBuffer content, boolean partial) {
      Stored stored = model.get(index);
      assertThat(content).isEqualTo(ByteBuffer.wrap(stored.bytes()));
      assertThat(partial).isEqualTo(stored.partial());
      if (stored.bytes().length == 1) {
        return null;
      }
      byte[] half = Arrays.copyOf(stored.bytes(), stored.bytes().length / 2);
      model.put(index, new Stored(stored.term(), half, true));
      return ByteBuffer.wrap(half);
    }
  }

  private void noteSizesOfSealed() throws IOException {
    Set<Long> sealed = new HashSet<>();
    for (Segments.Info info : segments.list()) {
      if (info.sealed()) {
        sealed.add(info.number());
      }
    }
    for (Path file : files()) {
      if (sealed.contains(Segment.Name.of(file).number())) {
        flushedBytes.put(file, Files.size(file));
      }
    }
  }

  private void link() throws IOException {
    Path copy = directory.resolveSibling(directory.getFileName() + "-link");
    segments.link(copy, flushed);
    flushed = model.isEmpty() ? -1 : model.lastKey();
    noteSizes(flushedBytes);
    try (Segments linked = Segments.open(copy, 1000, flushed)) {
      each(model.entrySet(), each -> assertHolds(linked, each.getKey(), each.getValue()));
    }
    deleteTree(copy);
  }

  private void append(long first) throws IOException {
    List<Segments.Body> bodies = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(4); i++) {
      byte[] bytes = new byte[1 + random.nextInt(300)];
      random.nextBytes(bytes);
      int cut = random.nextInt(bytes.length + 1);
      bodies.add(
          new Segments.Body(
              term,
              first + i,
              List.of(
                  ByteBuffer.wrap(bytes, 0, cut),
                  ByteBuffer.wrap(bytes, cut, bytes.length - cut))));
      model.put(first + i, new Stored(term, bytes, false));
    }
    segments.append(bodies);
  }

  private void force() throws IOException {
    segments.force();
    flushed = model.isEmpty() ? -1 : model.lastKey();
    noteSizes(flushedBytes);
  }

  private void noteSizes(Map<Path, Long> sizes) throws IOException {
    each(files(), file -> sizes.put(file, Files.size(file)));
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(file -> file.toString().endsWith(Segment.SUFFIX)).sorted().toList();
    }
  }

  private void loseUnflushed() throws IOException {
    segments.close();
    // A segment that was followed by another one has been forced.
    List<Path> files = files();
    for (Path file : files) {
      long kept = flushedBytes.getOrDefault(file, 0L);
      if (file.equals(files.get(files.size() - 1))) {
        lose(file, kept);
      }
    }
  }

  private void lose(Path file, long kept) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      for (long at = kept; at < open.length(); at = (at / SECTOR + 1) * SECTOR) {
        if (random.nextInt(4) == 0) {
          open.seek(at);
          open.write(new byte[(int) (Math.min(open.length(), (at / SECTOR + 1) * SECTOR) - at)]);
        }
      }
      if (random.nextBoolean()) {
        open.setLength(kept + (long) (random.nextDouble() * (open.length() - kept)));
      }
    }
  }

  private void afterTheLoss() throws IOException {
    for (Map.Entry<Long, Stored> each : model.headMap(flushed, true).entrySet()) {
      assertHolds(segments, each.getKey(), each.getValue());
    }
    long end = flushed;
    for (Map.Entry<Long, Stored> each : model.tailMap(flushed, false).entrySet()) {
      if (segments.term(each.getKey()) != each.getValue().term()) {
        break;
      }
      assertHolds(segments, each.getKey(), each.getValue());
      end = each.getKey();
    }
    segments.cutAfter(end);
    model.tailMap(end, false).clear();
    for (long index = end + 1; index < end + 10; index++) {
      assertThat(segments.length(index)).isZero();
    }
    force();
  }

  private static void assertHolds(Segments segments, long index, Stored stored) throws IOException {
    assertThat(segments.term(index)).as("entry %s", index).isEqualTo(stored.term());
    ByteBuffer bytes = ByteBuffer.wrap(stored.bytes());
    assertThat(segments.readVerified(index)).isEqualTo(stored.partial() ? null : bytes);
    assertThat(segments.readPart(index)).isEqualTo(stored.partial() ? bytes : null);
    assertThat(segments.read(index, 0, ByteBuffer.allocate(1))).isEqualTo(!stored.partial());
  }

  private static void deleteTree(Path tree) throws IOException {
    try (Stream<Path> all = Files.walk(tree)) {
      each(all.sorted(Comparator.reverseOrder()).toList(), path -> Files.delete(path));
    }
  }
}
