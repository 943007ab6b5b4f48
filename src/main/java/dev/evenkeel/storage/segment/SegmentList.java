package dev.evenkeel.storage.segment;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;

/**
 * The segments in a directory, by the index of their first record. A segment counts up to the first
 * record of the next one: what it has behind that was replaced. Any thread may look up; whoever
 * changes it holds the lock of its {@link Segments}.
 */
final class SegmentList {
  private final Path directory;
  private final ConcurrentSkipListMap<Long, Segment> byFirst = new ConcurrentSkipListMap<>();
  private final FilePool files;
  private long nextNumber;

  SegmentList(Path directory, FilePool files) {
    this.directory = directory;
    this.files = files;
  }

  Path directory() {
    return directory;
  }

  /** The names of the segments in a directory, in their order. */
  static List<Segment.Name> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Segment.Name::of).filter(Objects::nonNull).sorted().toList();
    }
  }

  /** Opens what is in the directory. */
  void open(long flushedIndex) throws IOException {
    deleteLeftovers();
    for (Segment.Name name : names(directory)) {
      openOne(name, flushedIndex);
    }
  }

  /** What a crash or a full disk has left of tables and copies. */
  private void deleteLeftovers() throws IOException {
    DurableFiles.deleteTree(aside());
    for (Path file : DurableFiles.list(directory)) {
      if (Segment.isLeftover(file)) {
        Files.deleteIfExists(file);
      }
    }
  }

  private void openOne(Segment.Name name, long flushedIndex) throws IOException {
    Segment segment = Segment.open(directory, name, flushedIndex, files);
    nextNumber = Math.max(nextNumber, name.number() + 1);
    Segment former = numbered(name.number());
    // A rewritten segment gets its table when all of it is on disk, and then the former one goes.
    boolean whole = segment.sealed() || former == null;
    if (!whole || segment.table().count() == 0) {
      segment.delete();
      return;
    }
    if (former != null) {
      remove(former);
    }
    put(segment);
  }

  /** Closes all files and opens what is in the directory now. */
  void openAgain(long flushedIndex) throws IOException {
    close();
    byFirst.clear();
    open(flushedIndex);
  }

  /** A new segment with the next number, which is in the list once it is put there. */
  Segment create() throws IOException {
    return Segment.create(directory, new Segment.Name(nextNumber++, 0), files);
  }

  /** The same in a directory of its own, whose content vanishes when the segments are opened. */
  Segment createAside() throws IOException {
    return Segment.create(
        PrivateFiles.createDirectories(aside()), new Segment.Name(nextNumber++, 0), files);
  }

  private Path aside() {
    return directory.resolve("aside");
  }

  /** A new segment that is to take the place of another one. */
  Segment createFor(Segment former) throws IOException {
    return Segment.create(directory, former.name().next(), files);
  }

  /** The next number is above this one. */
  void skip(long number) {
    nextNumber = Math.max(nextNumber, number + 1);
  }

  /** Adds a segment. Those whose records are all replaced by its own go. */
  void put(Segment segment) throws IOException {
    Map<Long, Segment> tail = byFirst.tailMap(segment.firstIndex(), true);
    List<Segment> replaced = new ArrayList<>(tail.values());
    tail.clear();
    byFirst.put(segment.firstIndex(), segment);
    if (!replaced.isEmpty()) {
      // If both were lost, a start could not tell that their entries were replaced.
      DurableFiles.force(segment.path());
    }
    // A reader that finds no file looks again, so the files go last.
    for (Segment each : replaced) {
      each.delete();
    }
  }

  /** Puts a segment again, whose first record was replaced. */
  void move(Segment segment) throws IOException {
    byFirst.values().remove(segment);
    put(segment);
  }

  /** Puts a rewritten segment, or nothing if it is empty, in the place of the former one. */
  void exchange(Segment former, Segment copy) throws IOException {
    long first = former.firstIndex();
    if (copy.table().count() == 0) {
      copy.delete();
      byFirst.remove(first, former);
    } else if (copy.firstIndex() == first) {
      byFirst.replace(first, former, copy);
    } else {
      // At no moment is a record that both have in neither.
      byFirst.put(copy.firstIndex(), copy);
      byFirst.remove(first, former);
    }
    former.delete();
  }

  /** Deletes a segment. */
  void remove(Segment segment) throws IOException {
    byFirst.values().remove(segment);
    segment.delete();
  }

  /** The segment that has this entry, if any has; or null. */
  Segment of(long index) {
    Map.Entry<Long, Segment> entry = byFirst.floorEntry(index);
    return entry == null ? null : entry.getValue();
  }

  /** The segment with this number, or null. */
  Segment numbered(long number) {
    for (Segment each : byFirst.values()) {
      if (each.name().number() == number) {
        return each;
      }
    }
    return null;
  }

  /** All segments, oldest first. */
  Collection<Segment> all() {
    return Collections.unmodifiableCollection(byFirst.values());
  }

  /** Those that begin above an index. */
  List<Segment> above(long index) {
    return List.copyOf(byFirst.tailMap(index, false).values());
  }

  void forceDirectory() throws IOException {
    DurableFiles.force(directory);
  }

  void close() throws IOException {
    for (Segment segment : byFirst.values()) {
      segment.close();
    }
  }
}
