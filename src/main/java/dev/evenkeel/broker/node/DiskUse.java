package dev.evenkeel.broker.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** The size of the files in a directory, measured at most every 30 s. */
public final class DiskUse {
  private static final long FRESH_MILLIS = 30_000;

  private final Path directory;
  private volatile double bytes = Double.NaN;
  private long measuredNanos;

  public DiskUse(Path directory) {
    this.directory = directory;
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
      Files.walkFileTree(directory, sum);
    } catch (IOException e) {
      bytes = Double.NaN;
      throw new UncheckedIOException(e);
    }
    bytes = sum.bytes;
  }

  private static final class Sum extends SimpleFileVisitor<Path> {
    private long bytes;

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      bytes += attributes.size();
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
