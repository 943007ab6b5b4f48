package dev.evenkeel.broker.node;

import static dev.evenkeel.protocol.Refusal.DISK_FULL;

import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the free space of the disk, by the limit {@code disk-free-min-bytes}:
 *
 * <pre>
 * below 5/4 of the limit   the node should not lead, until there is 3/2 of it
 * below the limit          a leader refuses appends
 * below 1/2 of the limit   a follower takes no entries, until there is 3/4 of it
 * </pre>
 *
 * The last half is for what the node writes without new entries: unflushed memory, compaction,
 * votes, snapshots.
 */
public final class DiskGuard {
  private static final Logger LOG = LoggerFactory.getLogger(DiskGuard.class);

  private final Path directory;
  private final long freeBytesMin;
  private final LongSupplier freeBytes;
  private volatile String full;
  private volatile String low;
  private volatile String exhausted;
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

  /** Measures the free space. May wait for the disk: never call it on an event loop. */
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
    low = reason(low, free, limit(low, 5, 6));
    exhausted =
        logged(
            exhausted,
            reason(exhausted, free, limit(exhausted, 2, 3)),
            "this node takes no entries from other leaders: {}",
            "there is room again in {}: this node takes entries");
    full =
        logged(
            full,
            free >= freeBytesMin ? null : text(free),
            "appends are refused: {}",
            "there is room again in {}: appends go on");
  }

  /** Logs that there is a reason now, or none any more. Returns {@code now}. */
  private String logged(String before, String now, String begun, String ended) {
    if (now != null && before == null) {
      LOG.error(begun, now);
    } else if (now == null && before != null) {
      LOG.info(ended, directory);
    }
    return now;
  }

  /** The limit in quarters; another number once free space was below it. */
  private long limit(String before, int quarters, int quartersAfter) {
    int count = before == null ? quarters : quartersAfter;
    return freeBytesMin / 4 * count + freeBytesMin % 4 * count / 4;
  }

  /** The line does not change while there is too little space. */
  private String reason(String before, long free, long limit) {
    if (free >= limit) {
      return null;
    }
    return before == null ? text(free) : before;
  }

  private String text(long free) {
    return String.format(
        "%s bytes are free in %s, the limit is %s: free space there, shorten "
            + "retention, or lower the limit",
        free, directory, freeBytesMin);
  }

  /** Free space by the last measurement; NaN if it is unknown. */
  public double freeBytes() {
    return lastFreeBytes;
  }

  public long freeBytesMin() {
    return freeBytesMin;
  }

  /** Why this node should not lead, by the last measurement; null if there is room. */
  public String low() {
    return low;
  }

  /** Why this node takes no entries as a follower, by the last measurement; null if it does. */
  public String exhausted() {
    return exhausted;
  }

  /**
   * By the last measurement.
   *
   * @throws RefusedException DISK_FULL, naming free space, limit and directory
   */
  public void requireRoom() {
    String reason = full;
    if (reason != null) {
      throw DISK_FULL.error(reason);
    }
  }
}
