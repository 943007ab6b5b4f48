package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.util.Daemon;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the snapshots of this node to other nodes. If there are others, it computes the checksums
 * of a new snapshot's files soon after it was taken, on a thread of its own.
 */
final class SnapshotServer implements SnapshotSource, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotServer.class);
  private static final int READS_WAITING_MAX = 256;

  /** New files are mostly in memory still, and old ones are read once in their lives. */
  private static final long CHECKSUM_BYTES_PER_SECOND_MAX = 256L << 20;

  private final Map<String, SnapshotFiles> groups = new ConcurrentHashMap<>();

  /** What has snapshots that are kept for other nodes. */
  private final Set<SnapshotFiles> holding = ConcurrentHashMap.newKeySet();

  private final Map<String, Described> described = new ConcurrentHashMap<>();

  /** The last snapshot of each log group whose checksums are known; on the thread for these. */
  private final Map<SnapshotFiles, TermIndex> pinned = new HashMap<>();

  private final SnapshotChecksums checksums =
      new SnapshotChecksums(new ByteRate(CHECKSUM_BYTES_PER_SECOND_MAX));
  private final BooleanSupplier hasPeers;
  private final ThreadPoolExecutor describing;
  private final ThreadPoolExecutor reading;

  private record Described(TermIndex position, CompletableFuture<SnapshotManifest> manifest) {}

  SnapshotServer(String node, BooleanSupplier hasPeers) {
    this.hasPeers = hasPeers;
    describing = threads("log-checksums-" + node, 1, Integer.MAX_VALUE);
    reading = threads("log-snapshot-read-" + node, 2, READS_WAITING_MAX);
  }

  /** Daemon threads that end when there is nothing to do. */
  static ThreadPoolExecutor threads(String name, int count, int waitingMax) {
    return Daemon.pool(name, count, 5, new LinkedBlockingQueue<>(waitingMax));
  }

  SnapshotChecksums checksums() {
    return checksums;
  }

  /** A log group has another newest snapshot, or was opened. */
  void changed(String group, SnapshotFiles files) {
    groups.put(group, files);
    if (hasPeers.getAsBoolean() && files.latest() != null) {
      describe(group, files, files.latest());
    }
  }

  @Override
  public CompletableFuture<SnapshotManifest> newest(String group) {
    SnapshotFiles files = groups.get(group);
    if (files == null) {
      return unknown(group);
    }
    SnapshotFiles.Snapshot latest = files.latest();
    if (latest == null) {
      return CompletableFuture.completedFuture(null);
    }
    files.hold(latest.position());
    if (holding.add(files)) {
      letGoLater(files);
    }
    return describe(group, files, latest);
  }

  private void letGoLater(SnapshotFiles files) {
    CompletableFuture.delayedExecutor(SnapshotFiles.HELD_NANOS, TimeUnit.NANOSECONDS, reading)
        .execute(() -> letGo(files));
  }

  private void letGo(SnapshotFiles files) {
    holding.remove(files);
    try {
      if (files.letGo() && holding.add(files)) {
        letGoLater(files);
      }
    } catch (IOException e) {
      LOG.warn("a snapshot that nobody reads any more stays for now: {}", e.toString());
    }
  }

  private static <T> CompletableFuture<T> unknown(String group) {
    return CompletableFuture.failedFuture(INVALID.error("this node has no log group " + group));
  }

  private CompletableFuture<SnapshotManifest> describe(
      String group, SnapshotFiles files, SnapshotFiles.Snapshot snapshot) {
    return described
        .compute(
            group,
            (name, last) -> {
              boolean known =
                  last != null
                      && last.position().equals(snapshot.position())
                      && !last.manifest().isCompletedExceptionally();
              return known ? last : new Described(snapshot.position(), begin(files, snapshot));
            })
        .manifest()
        .copy();
  }

  private CompletableFuture<SnapshotManifest> begin(
      SnapshotFiles files, SnapshotFiles.Snapshot snapshot) {
    CompletableFuture<SnapshotManifest> manifest = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            manifest.complete(checksums(files, snapshot));
          } catch (IOException | RuntimeException e) {
            LOG.debug("no checksums of {}", snapshot, e);
            manifest.completeExceptionally(
                UNAVAILABLE.error("the snapshot cannot be read: " + Refusals.reason(e)));
          }
        };
    run(describing, task, manifest);
    return manifest;
  }

  /** A snapshot is kept until the next one has taken its checksums over. On one thread. */
  private SnapshotManifest checksums(SnapshotFiles files, SnapshotFiles.Snapshot snapshot)
      throws IOException {
    TermIndex position = snapshot.position();
    TermIndex before = pinned.get(files);
    if (!snapshot.equals(files.latest()) || !files.pin(position)) {
      throw UNAVAILABLE.error("there is a newer snapshot");
    }
    try {
      SnapshotManifest manifest = checksums.describe(snapshot, files.all());
      pinned.put(files, position);
      if (before != null && !before.equals(position)) {
        files.unpin(before);
      }
      return manifest;
    } catch (IOException | RuntimeException e) {
      if (!position.equals(before)) {
        files.unpin(position);
      }
      throw e;
    }
  }

  @Override
  public CompletableFuture<ByteBuffer> read(Chunk chunk) {
    SnapshotFiles files = groups.get(chunk.group());
    if (files == null) {
      return unknown(chunk.group());
    }
    CompletableFuture<ByteBuffer> bytes = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            bytes.complete(read(files, chunk));
          } catch (IOException | RuntimeException e) {
            bytes.completeExceptionally(Refusals.of(e, false));
          }
        };
    run(reading, task, bytes);
    return bytes;
  }

  private static ByteBuffer read(SnapshotFiles files, Chunk chunk) throws IOException {
    if (chunk.bytes() < 1 || chunk.bytes() > CHUNK_BYTES_MAX || chunk.offset() < 0) {
      throw INVALID.error(
          "%s bytes at %s: 1 to %s at 0 or above can be read"
              .formatted(chunk.bytes(), chunk.offset(), CHUNK_BYTES_MAX));
    }
    // Checks that the name does not lead out of the snapshot.
    String name = new SnapshotManifest.Entry(chunk.file(), 0, 0).name();
    TermIndex position = TermIndex.valueOf(chunk.term(), chunk.index());
    Path directory = files.hold(position);
    if (directory == null) {
      throw UNAVAILABLE.error("this node does not have the snapshot " + position + " any more");
    }
    ByteBuffer bytes = ByteBuffer.allocate(chunk.bytes());
    try (FileChannel in = FileChannel.open(directory.resolve(name), StandardOpenOption.READ)) {
      while (bytes.hasRemaining() && in.read(bytes, chunk.offset() + bytes.position()) > 0) {
        // Reads on.
      }
    } catch (NoSuchFileException e) {
      throw INVALID.error("the snapshot " + position + " has no file " + name);
    }
    if (bytes.hasRemaining()) {
      throw INVALID.error(name + " ends before " + (chunk.offset() + chunk.bytes()));
    }
    return bytes.flip();
  }

  private static void run(ThreadPoolExecutor executor, Runnable task, CompletableFuture<?> result) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(
          executor.isShutdown() ? stopping() : UNAVAILABLE.error("too many reads are waiting"));
    }
  }

  private static RuntimeException stopping() {
    return UNAVAILABLE.error("this node is stopping");
  }

  @Override
  public void close() {
    describing.shutdownNow();
    reading.shutdownNow();
  }
}
