package dev.evenkeel.broker.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The size of the files in a directory, a file with several names once; measured at most every 30
 * s.
 */
public final class DiskUse {
  private static final long FRESH_MILLIS = 30_000;

  private final Path directory;
  private final List<Path> others;
  private volatile double bytes = Double.NaN;
  private long measuredNanos;

  /**
   * @param others directories whose files do not count, although they have names here, too
   */
  public DiskUse(Path directory, List<Path> others) {
    this.directory = directory;
    this.others = List.copyOf(others);
  }

  /** By the last measurement; NaN if there was none. */
  public double bytes() {
    return bytes;
  }

  /**
   * Measures, unless the last measurement is younger than 30 s. Waits for the disk; one thread at a
   * time.
   */
  public void measure() {
    long now = System.nanoTime();
    if (!Double.isNaN(bytes) && now - measuredNanos < FRESH_MILLIS * 1_000_000) {
      return;
    }
    measuredNanos = now;
    Sum sum = new Sum();
    try {
      for (Path other : others) {
        Files.walkFileTree(other, sum);
      }
      sum.bytes = 0;
      Files.walkFileTree(directory, sum);
    } catch (IOException e) {
      bytes = Double.NaN;
      throw new UncheckedIOException(e);
    }
    bytes = sum.bytes;
  }

  private static final class Sum extends SimpleFileVisitor<Path> {
    private final Set<Object> seen = new HashSet<>();
    private long bytes;

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      // Without keys of files, as on Windows, each name counts.
      Object key = attributes.fileKey();
      if (key == null || seen.add(key)) {
        bytes += attributes.size();
      }
      return FileVisitResult.CONTINUE;
    }

    /** Files may disappear during the walk. */
    @Override
    public FileVisitResult visitFileFailed(Path file, IOException gone) {
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path visited, IOException gone) {
      return FileVisitResult.CONTINUE;
    }
  }
}
