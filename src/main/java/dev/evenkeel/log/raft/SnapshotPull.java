package dev.evenkeel.log.raft;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotManifest.Entry;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.log.SnapshotTransfer;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies snapshots of one log group from other nodes, file by file. What breaks a transfer does not
 * end it: it goes on where it was, with the newest snapshot that the other node has by then.
 */
final class SnapshotPull {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotPull.class);

  /** Small enough that other requests on the same connection do not wait for long. */
  static final int CHUNK_BYTES = 256 << 10;

  /** The other node reads the next ones while this node writes one. */
  static final int CHUNKS_ON_THEIR_WAY = 4;

  private static final long ANSWER_MILLIS_MAX = 15_000;
  private static final long PAUSE_MILLIS_MIN = 100;
  private static final long PAUSE_MILLIS_MAX = 5_000;
  private static final long ROOM_MILLIS = 500;
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String group;
  private final ByteRate pace;
  private final Supplier<String> refusing;
  private final SnapshotChecksums checksums;
  private final LongAdder received = new LongAdder();
  private final LongAdder restarts = new LongAdder();
  private final LongAdder damaged = new LongAdder();
  private volatile SnapshotTransfer now = SnapshotTransfer.NONE;
  private long toldAtNanos;

  /**
   * @param pace how fast bytes may come
   * @param checksums compares the files of this node
   * @param refusing why none may come now, as without room on the disk; or null
   */
  SnapshotPull(
      String group, ByteRate pace, SnapshotChecksums checksums, Supplier<String> refusing) {
    this.group = group;
    this.pace = pace;
    this.checksums = checksums;
    this.refusing = refusing;
  }

  /** A newer snapshot of the other node may have the file without the damage. */
  private static final class DamagedFileException extends IOException {
    private static final long serialVersionUID = 1L;

    DamagedFileException(String message) {
      super(message);
    }
  }

  /**
   * What is to be copied.
   *
   * @param from the other node
   * @param firstIndex the first entry that its log still has: the snapshot must reach up to it
   */
  record Order(String from, SnapshotSource source, long firstIndex) {}

  /**
   * Copies a snapshot. Waits for as long as that takes.
   *
   * @return what it covers; null if the other node has none, and its log is whole
   */
  TermIndex run(Order order, SnapshotFiles files) throws InterruptedException {
    long pauseMillis = PAUSE_MILLIS_MIN;
    try {
      while (true) {
        long before = received.sum();
        try {
          return tryOnce(order, files);
        } catch (IOException | RuntimeException | ExecutionException | TimeoutException e) {
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
          boolean progress = received.sum() > before && !(e instanceof DamagedFileException);
          pauseMillis = progress ? PAUSE_MILLIS_MIN : Math.min(PAUSE_MILLIS_MAX, 2 * pauseMillis);
          restarts.increment();
          LOG.info(
              "log group {}: the transfer of a snapshot from {} broke and goes on in {} ms: {}",
              group,
              order.from(),
              pauseMillis,
              e instanceof TimeoutException ? "no answer" : Refusals.reason(e));
        }
        Thread.sleep(pauseMillis);
      }
    } finally {
      now = SnapshotTransfer.NONE;
    }
  }

  private TermIndex tryOnce(Order order, SnapshotFiles files)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    awaitRoom();
    SnapshotManifest manifest = answer(order.source().newest(group));
    if (manifest == null && order.firstIndex() <= 0) {
      return null;
    }
    if (manifest == null || manifest.index() + 1 < order.firstIndex()) {
      throw new IOException(
          order.from() + " has no snapshot up to entry " + order.firstIndex() + " yet");
    }
    IncomingSnapshot incoming = files.incoming();
    incoming.begin(manifest);
    takeOver(manifest, files.all(), incoming);
    Progress progress = new Progress(order, manifest, incoming);
    for (Entry file : manifest.files()) {
      if (!incoming.has(file) && !fetch(order, manifest, file, incoming, progress)) {
        damaged.increment();
        throw new DamagedFileException(
            file.name() + " came with a wrong checksum; if that goes on, it is damaged there");
      }
    }
    incoming.complete();
    LOG.info("log group {}: the snapshot of {} is here", group, order.from());
    return TermIndex.valueOf(manifest.term(), manifest.index());
  }

  /** Takes what snapshots of this node have: they came from there before. */
  private void takeOver(
      SnapshotManifest manifest, List<SnapshotFiles.Snapshot> own, IncomingSnapshot incoming)
      throws IOException {
    Set<Entry> wanted = new HashSet<>(manifest.files());
    for (SnapshotFiles.Snapshot snapshot : own) {
      SnapshotManifest known = SnapshotChecksums.read(snapshot.directory());
      if (known == null) {
        continue;
      }
      for (Entry file : known.files()) {
        Path path = snapshot.directory().resolve(file.name());
        if (wanted.contains(file)
            && !incoming.has(file)
            && Files.exists(path)
            && checksums.crc(path) == file.crc()) {
          incoming.link(file, path);
        }
      }
    }
  }

  /** Copies what is missing of a file. False if its bytes do not match the checksum. */
  private boolean fetch(
      Order order,
      SnapshotManifest manifest,
      Entry file,
      IncomingSnapshot incoming,
      Progress progress)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    try (IncomingSnapshot.Part part = incoming.open(file)) {
      Deque<CompletableFuture<ByteBuffer>> onTheirWay = new ArrayDeque<>();
      long asked = part.length();
      while (part.length() < file.length()) {
        while (asked < file.length() && onTheirWay.size() < CHUNKS_ON_THEIR_WAY) {
          awaitRoom();
          int bytes = (int) Math.min(CHUNK_BYTES, file.length() - asked);
          pace.take(bytes);
          onTheirWay.add(order.source().read(chunk(manifest, file, asked, bytes)));
          asked += bytes;
        }
        int bytes = (int) Math.min(CHUNK_BYTES, file.length() - part.length());
        ByteBuffer chunk = answer(onTheirWay.remove());
        if (chunk.remaining() != bytes) {
          throw new IOException(
              "%s bytes of %s instead of %s".formatted(chunk.remaining(), file.name(), bytes));
        }
        part.append(chunk);
        received.add(bytes);
        progress.add(bytes);
      }
      return part.finish();
    }
  }

  private SnapshotSource.Chunk chunk(
      SnapshotManifest manifest, Entry file, long offset, int bytes) {
    return new SnapshotSource.Chunk(
        group, manifest.term(), manifest.index(), file.name(), offset, bytes);
  }

  private void awaitRoom() throws InterruptedException {
    while (refusing.get() != null) {
      Thread.sleep(ROOM_MILLIS);
    }
  }

  private static <T> T answer(CompletableFuture<T> answer)
      throws InterruptedException, ExecutionException, TimeoutException {
    return answer.get(ANSWER_MILLIS_MAX, TimeUnit.MILLISECONDS);
  }

  /** From any thread. */
  SnapshotTransfer transfer() {
    SnapshotTransfer known = now;
    return new SnapshotTransfer(
        known.from(),
        known.bytesTotal(),
        known.bytesHere(),
        received.sum(),
        restarts.sum(),
        damaged.sum());
  }

  /** How much of a snapshot is here. */
  private final class Progress {
    private final Order order;
    private final long total;
    private long here;

    Progress(Order order, SnapshotManifest manifest, IncomingSnapshot incoming) throws IOException {
      this.order = order;
      total = manifest.bytes();
      for (Entry file : manifest.files()) {
        here += incoming.bytesHere(file);
      }
      toldAtNanos = System.nanoTime() - TELL_NANOS;
      add(0);
    }

    void add(long bytes) {
      here += bytes;
      now = new SnapshotTransfer(order.from(), total, here, 0, 0, 0);
      if (System.nanoTime() - toldAtNanos >= TELL_NANOS) {
        toldAtNanos = System.nanoTime();
        LOG.info(
            "log group {}: copies a snapshot of {}: {} of {} MiB are here",
            group,
            order.from(),
            here >> 20,
            total >> 20);
      }
    }
  }
}
