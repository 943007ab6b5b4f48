package dev.evenkeel.broker;

import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Knows whether there is room on the disk for more messages. */
public final class DiskGuard {
  private static final Logger LOG = LoggerFactory.getLogger(DiskGuard.class);

  private final Path directory;
  private final long freeBytesMin;
  private final LongSupplier freeBytes;
  private volatile String full;
  private volatile double lastFreeBytes = Double.NaN;

  /**
   * @param freeBytes free space, or null to ask the file system of {@code directory}
   */
  DiskGuard(Path directory, long freeBytesMin, LongSupplier freeBytes) {
    this.directory = directory;
    this.freeBytesMin = freeBytesMin;
    this.freeBytes = freeBytes == null ? this::usableSpace : freeBytes;
  }

  private long usableSpace() {
    try {
      return Files.getFileStore(directory).getUsableSpace();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Measures; of two at a time the later counts. May wait for the disk: never on an event loop. */
  synchronized void check() {
    long free;
    try {
      free = freeBytes.getAsLong();
    } catch (UncheckedIOException e) {
      lastFreeBytes = Double.NaN;
      LOG.warn("free space of {} is unknown: {}", directory, e.toString());
      return;
    }
    lastFreeBytes = free;
    String before = full;
    full =
        free >= freeBytesMin
            ? null
            : free
                + " bytes are free in "
                + directory
                + ", fewer than the limit of "
                + freeBytesMin
                + ": free space there, shorten retention, or lower the limit";
    if (full != null && before == null) {
      LOG.error("appends are refused: {}", full);
    } else if (full == null && before != null) {
      LOG.info("there is room again in {}: appends go on", directory);
    }
  }

  /** Free space by the last measurement; NaN if it is unknown. */
  public double freeBytes() {
    return lastFreeBytes;
  }

  public long freeBytesMin() {
    return freeBytesMin;
  }

  /**
   * By the last measurement.
   *
   * @throws RefusedException DISK_FULL, naming free space, limit and directory
   */
  public void requireRoom() {
    String reason = full;
    if (reason != null) {
      throw new RefusedException(Refusal.DISK_FULL, reason);
    }
  }
}
