package dev.evenkeel.log.raft;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * The bodies of the newest entries of a log group in memory. They are kept until they are written
 * and applied, if they are not too large together; then fewer of them, for followers that are not
 * quite as fast. A body counts {@link LogMemory#BODY_BYTES} more than it has.
 */
final class RecentBodies {
  /**
   * One body.
   *
   * @param written completes when it can be read from its file
   */
  record Recent(long term, ByteString body, CompletableFuture<Void> written) {
    long cost() {
      return body.size() + LogMemory.BODY_BYTES;
    }
  }

  private final LongSupplier bytesMax;
  private final LongSupplier appliedBytesMax;
  private final TreeMap<Long, Recent> byIndex = new TreeMap<>();
  private long bytes;
  private long applied = -1;

  /**
   * @param bytesMax of all; more only while they are not written
   * @param appliedBytesMax entries that are applied are forgotten beyond this
   */
  RecentBodies(LongSupplier bytesMax, LongSupplier appliedBytesMax) {
    this.bytesMax = bytesMax;
    this.appliedBytesMax = appliedBytesMax;
  }

  /** Adds a body. It replaces that of the same index and all above. */
  synchronized void put(long index, Recent added) {
    dropFrom(index);
    byIndex.put(index, added);
    bytes += added.cost();
    trim();
  }

  /** The body of an entry, or null. */
  synchronized Recent get(long term, long index) {
    Recent recent = byIndex.get(index);
    return recent == null || recent.term() != term ? null : recent;
  }

  /** Forgets this entry and all above: they are not in the log any more. */
  synchronized void dropFrom(long index) {
    Map<Long, Recent> above = byIndex.tailMap(index, true);
    above.values().forEach(each -> bytes -= each.cost());
    above.clear();
  }

  /** This entry and all below are written and applied. */
  synchronized void applied(long index) {
    applied = index;
    trim();
  }

  /** Keeps the limits, as far as bodies are written. */
  synchronized void trim() {
    long max = bytesMax.getAsLong();
    long appliedMax = appliedBytesMax.getAsLong();
    while (bytes > appliedMax) {
      Map.Entry<Long, Recent> oldest = byIndex.firstEntry();
      boolean due = oldest.getKey() <= applied || bytes > max;
      if (!due || !oldest.getValue().written().isDone()) {
        return;
      }
      byIndex.pollFirstEntry();
      bytes -= oldest.getValue().cost();
    }
  }

  synchronized long bytes() {
    return bytes;
  }
}
