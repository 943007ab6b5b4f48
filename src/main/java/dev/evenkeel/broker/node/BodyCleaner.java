package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.BodyUse;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.storage.segment.Segments;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees the space of messages that retention or a deletion has dropped: deletes segments that
 * nobody needs, and writes those anew of which little is needed. One round after another, on one
 * thread.
 *
 * <p>What was dropped may be kept by the log, which keeps bodies as long as their entries, and by
 * snapshots, which link the segments. If too much is, a round takes a snapshot, so that the log can
 * drop files; and after it has freed something, it takes one and drops those before it.
 */
public final class BodyCleaner {
  private static final Logger LOG = LoggerFactory.getLogger(BodyCleaner.class);

  /** The index is looked through for a tenth of the time at most, with pauses of this part. */
  private static final int SCAN_PAUSE_PART = 3;

  private static final int SCAN_PAUSE_AFTER_PART = 10;

  /** Bodies of refused entries are dead from the beginning, which no change of the state tells. */
  private static final long SCAN_MILLIS_MAX = 3_600_000;

  /** One round rewrites for so long, and then looks whether there is something to delete. */
  private static final long REWRITE_MILLIS = 5_000;

  /** Snapshots are taken while a round goes on, so that the space comes back on the way. */
  private static final long FREED_BYTES_BETWEEN_SNAPSHOTS = 1L << 30;

  /** The log may keep so much that nobody needs, unless it takes new entries. */
  private static final long KEPT_BY_LOG_BYTES_MAX = 8L << 20;

  /** With so much appended since the last round the log drops its files soon by itself. */
  private static final long APPENDED_BYTES_MAX = 64L << 20;

  private static final long KEPT_BY_LOG_MILLIS = 60_000;
  private static final long KEPT_BY_LOG_MILLIS_MAX = 3_600_000;
  private static final long WAIT_MILLIS_MAX = 60_000;

  /** No snapshot is to be dropped. */
  private static final long NONE = -1;

  private final LogGroup log;
  private final DataState state;
  private final LongConsumer missing;
  private final ByteRate rewriting;
  private final LongSupplier clock;
  private final IntSupplier messagesMax;
  private final LongAdder rewrittenBytes = new LongAdder();
  private final LongAdder freedBytes = new LongAdder();
  private final AtomicBoolean replaced = new AtomicBoolean();
  private final Deque<BodyUse.Use> rewrites = new ArrayDeque<>();

  /**
   * By number: what was needed of a segment when it was rewritten. It may have become larger than
   * that, and would again: what is left of a batch is not compressed.
   */
  private final Map<Long, Long> rewritten = new HashMap<>();

  private volatile long deadBytes = -1;

  private long scannedChanges = -1;
  private long scannedFirstIndex;
  private long scannedLastNumber = -1;
  private long scannedMillis;
  private long scanNotBeforeMillis;
  private long scans;

  /** Of the dead bytes: those that go as soon as the log and the open segment let them. */
  private long keptByLog;

  private long keptByLogPause = KEPT_BY_LOG_MILLIS;
  private long keptByLogNotBefore;

  private long bytesAfterRound;

  /** Snapshots up to this index may keep what was freed; what a former run freed is not known. */
  private long snapshotsToDrop;

  private long freedSinceSnapshot;

  /**
   * What the segments of a log group hold on this node, as of the last round and what was appended
   * since.
   *
   * @param liveBytes needed, for all that is known
   * @param deadBytes waiting to be freed
   */
  public record Figures(long liveBytes, long deadBytes) {}

  /**
   * @param missing called with the index of an entry whose body is needed and not there
   * @param clock the cluster's time, for entries of this
   * @param messagesMax so many messages of retries and dead letters are looked at one by one
   */
  BodyCleaner(
      LogGroup log,
      DataState state,
      LongConsumer missing,
      long rewriteBytesPerSecond,
      LongSupplier clock,
      IntSupplier messagesMax) {
    this.log = log;
    this.state = state;
    this.missing = missing;
    rewriting = new ByteRate(rewriteBytesPerSecond);
    this.clock = clock;
    this.messagesMax = messagesMax;
    snapshotsToDrop = log.copy().snapshotIndex();
  }

  public String group() {
    return log.name();
  }

  /** Segments were replaced, and snapshots link the former ones: others take their place. */
  void replaceSnapshots() {
    replaced.set(true);
  }

  /** Null before the first round. */
  public Figures figures() {
    long dead = deadBytes;
    return dead >= 0 && state.bodies() instanceof SegmentBodies bodies
        ? new Figures(Math.max(0, bodies.segments().bytes() - dead), dead)
        : null;
  }

  /** Bytes that were written to new segments in the place of old ones, since the node started. */
  public long rewrittenBytes() {
    return rewrittenBytes.sum();
  }

  /** Bytes by which segments became fewer, since the node started. */
  public long freedBytes() {
    return freedBytes.sum();
  }

  /** How often the index was looked through. */
  long scans() {
    return scans;
  }

  /**
   * One round. Waits for the disk, and for as long as it takes not to burden it.
   *
   * @param nowMillis of a clock that does not jump
   * @return whether another round has something to do at once
   */
  boolean run(long nowMillis) throws IOException {
    if (!(state.bodies() instanceof SegmentBodies bodies)) {
      return false;
    }
    Segments segments = bodies.segments();
    try {
      look(segments, nowMillis);
      rewrite(segments);
    } catch (IOException | RuntimeException e) {
      // As without room on the disk. What is to be done is found anew.
      scannedChanges = -1;
      throw e;
    }
    bytesAfterRound = segments.bytes();
    if (replaced.getAndSet(false)) {
      dropSnapshotsUntilNow();
    }
    dropSnapshots();
    return !rewrites.isEmpty();
  }

  private void look(Segments segments, long nowMillis) throws IOException {
    if (scanDue(segments, nowMillis)) {
      scan(segments, nowMillis);
      if (keptByLogTooLong(segments, nowMillis)) {
        keptByLogNotBefore = nowMillis + keptByLogPause;
        keptByLogPause = Math.min(KEPT_BY_LOG_MILLIS_MAX, 2 * keptByLogPause);
        letLogDrop();
        scan(segments, nowMillis);
      }
    }
  }

  private boolean scanDue(Segments segments, long nowMillis) {
    if (nowMillis < scanNotBeforeMillis) {
      return false;
    }
    boolean logDropped = keptByLog > 0 && limit() != scannedFirstIndex;
    boolean old =
        lastNumber(segments) != scannedLastNumber && nowMillis - scannedMillis > SCAN_MILLIS_MAX;
    return state.freeingChanges() != scannedChanges
        || logDropped
        || keptByLogTooLong(segments, nowMillis)
        || old;
  }

  /** Entries from this one on may be sent to a follower, or were not seen by the state yet. */
  private long limit() {
    return Math.min(log.copy().firstIndex(), state.appliedIndex() + 1);
  }

  private static long lastNumber(Segments segments) {
    return segments.list().stream().mapToLong(Segments.Info::number).max().orElse(-1);
  }

  /** Looks what is needed, and deletes what can be deleted. */
  private void scan(Segments segments, long nowMillis) throws IOException {
    long begun = System.nanoTime();
    scans++;
    scannedChanges = state.freeingChanges();
    scannedFirstIndex = limit();
    scannedLastNumber = lastNumber(segments);
    scannedMillis = nowMillis;
    BodyUse use =
        BodyUse.of(
            state,
            segments.list(),
            messagesMax.getAsInt(),
            index -> recordBytes(segments.length(index)),
            new ScanPause());
    use.missing().forEach(missing::accept);
    rewrites.clear();
    deadBytes = use.deadBytes();
    keptByLog = 0;
    rewritten
        .keySet()
        .retainAll(use.segments().stream().map(each -> each.segment().number()).toList());
    for (BodyUse.Use each : use.segments()) {
      switch (each.act(scannedFirstIndex)) {
        case KEEP -> {
          if (each.littleNeeded()) {
            keptByLog += each.deadBytes();
          }
        }
        case DELETE -> freed(segments.delete(each.segment()));
        case REWRITE -> {
          if (each.neededBytes() <= neededWhenRewritten(each) / 2) {
            rewrites.add(each);
          }
        }
      }
    }
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    scanNotBeforeMillis = nowMillis + (SCAN_PAUSE_AFTER_PART + 1) * tookMillis;
  }

  private long neededWhenRewritten(BodyUse.Use use) {
    return rewritten.getOrDefault(use.segment().number(), Long.MAX_VALUE);
  }

  private static int recordBytes(int length) {
    return length == 0 ? 0 : length + Segments.RECORD_HEADER_BYTES;
  }

  private void freed(long bytes) {
    if (bytes > 0) {
      deadBytes = Math.max(0, deadBytes - bytes);
      freedBytes.add(bytes);
      freedSinceSnapshot += bytes;
      dropSnapshotsUntilNow();
      keptByLogPause = KEPT_BY_LOG_MILLIS;
    }
  }

  /** One that is being taken may have linked what is gone now, too. */
  private void dropSnapshotsUntilNow() {
    snapshotsToDrop = Math.max(log.copy().snapshotIndex(), state.appliedIndex());
  }

  private void rewrite(Segments segments) throws IOException {
    long begun = System.nanoTime();
    Segments.Pace pace =
        bytes -> {
          rewrittenBytes.add(bytes);
          rewriting.take(bytes);
        };
    while (!rewrites.isEmpty()
        && System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(REWRITE_MILLIS)) {
      BodyUse.Use next = rewrites.remove();
      freed(segments.rewrite(next.segment(), next, pace));
      rewritten.put(next.segment().number(), next.neededBytes());
      if (freedSinceSnapshot > FREED_BYTES_BETWEEN_SNAPSHOTS) {
        dropSnapshots();
      }
    }
  }

  private boolean keptByLogTooLong(Segments segments, long nowMillis) {
    return keptByLog > KEPT_BY_LOG_BYTES_MAX
        && segments.bytes() - bytesAfterRound < APPENDED_BYTES_MAX
        && nowMillis >= keptByLogNotBefore;
  }

  /** Lets the log begin a new file, if this node leads; then drop those that a snapshot covers. */
  private void letLogDrop() throws IOException {
    if (log.leadership().ready()) {
      append(new DataCommand.FillLog(new byte[log.copy().fileBytes()]));
      append(new DataCommand.Retain());
    }
    await("a snapshot", log.copy().snapshot());
  }

  private void append(DataCommand command) throws IOException {
    await("an entry", log.append(Entry.of(command, clock.getAsLong())));
  }

  /** The snapshots that link what was freed give way to one that does not. */
  private void dropSnapshots() throws IOException {
    if (snapshotsToDrop == NONE) {
      return;
    }
    if (log.copy().snapshotIndex() <= snapshotsToDrop) {
      // No snapshot is taken as long as nothing was applied since the last one.
      if (state.appliedIndex() <= snapshotsToDrop && log.leadership().ready()) {
        append(new DataCommand.Retain());
      }
      await("a snapshot", log.copy().snapshot());
    }
    if (log.copy().snapshotIndex() > snapshotsToDrop) {
      await("the deletion of snapshots", log.copy().dropFormerSnapshots());
      if (freedSinceSnapshot > 0) {
        LOG.info(
            "log group {}: freed {} MiB of dropped messages", log.name(), freedSinceSnapshot >> 20);
      }
      snapshotsToDrop = NONE;
      freedSinceSnapshot = 0;
    }
  }

  /** What fails here is tried again in a later round. */
  private void await(String what, CompletableFuture<?> future) throws IOException {
    try {
      future.get(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("log group {}: {} failed: {}", log.name(), what, e.toString());
    } catch (InterruptedException e) {
      throw stopping();
    }
  }

  private static InterruptedIOException stopping() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("the node stops");
  }

  /** Sleeps for a few times as long as a step of reading the index took. */
  private static final class ScanPause implements BodyUse.Pause {
    private long stepNanos = System.nanoTime();

    @Override
    public void afterStep() throws IOException {
      try {
        TimeUnit.NANOSECONDS.sleep(SCAN_PAUSE_PART * (System.nanoTime() - stepNanos));
      } catch (InterruptedException e) {
        throw stopping();
      }
      stepNanos = System.nanoTime();
    }
  }
}
