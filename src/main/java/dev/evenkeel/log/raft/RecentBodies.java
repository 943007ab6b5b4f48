package dev.evenkeel.log.raft;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * The bodies of the newest entries of a log group in memory, until they are written and applied. If
 * they are too large together, the oldest ones that are written are forgotten before that.
 */
final class RecentBodies {
  /**
   * One body.
   *
   * @param written completes when it can be read from its file
   */
  record Recent(long term, ByteString body, CompletableFuture<Void> written) {}

  private final long bytesMax;
  private final TreeMap<Long, Recent> byIndex = new TreeMap<>();
  private long bytes;

  RecentBodies(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Adds a body. It replaces that of the same index and all above. */
  synchronized void put(long index, Recent added) {
    dropFrom(index);
    byIndex.put(index, added);
    bytes += added.body().size();
    trim();
  }

  /** The body of an entry, or null. */
  synchronized Recent get(long term, long index) {
    Recent recent = byIndex.get(index);
    return recent == null || recent.term() != term ? null : recent;
  }

  /** Forgets this entry and all above: they are not in the log any more. */
  synchronized void dropFrom(long index) {
    drop(byIndex.tailMap(index, true));
  }

  /** Forgets this entry and all below: they are applied. */
  synchronized void dropUpTo(long index) {
    drop(byIndex.headMap(index, true));
  }

  private void drop(Map<Long, Recent> part) {
    part.values().forEach(each -> bytes -= each.body().size());
    part.clear();
  }

  /** Keeps the limit, as far as bodies are written. */
  synchronized void trim() {
    while (bytes > bytesMax && byIndex.firstEntry().getValue().written().isDone()) {
      bytes -= byIndex.pollFirstEntry().getValue().body().size();
    }
  }

  synchronized long bytes() {
    return bytes;
  }
}
