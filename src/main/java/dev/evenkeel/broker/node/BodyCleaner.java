package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.BodyUse;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees the space of messages that retention has dropped: deletes segments that nobody needs, and
 * writes those anew of which little is needed. One round after another, on one thread.
 */
final class BodyCleaner {
  private static final Logger LOG = LoggerFactory.getLogger(BodyCleaner.class);

  /** How fast a segment is written anew: slowly, so that appends do not notice. */
  private static final long REWRITE_BYTES_A_SECOND = 16L << 20;

  /** Snapshots that refer to the same files; they give them back one by one. */
  private static final int SNAPSHOTS = 2;

  /**
   * What the last round found.
   *
   * @param bytes length of all segments
   * @param neededBytes length of the bodies that the state needs
   */
  record Figures(long bytes, long neededBytes) {}

  private final LogGroup log;
  private final DataState state;
  private volatile Figures figures;
  private final LongConsumer missing;
  private final AtomicInteger snapshotsDue = new AtomicInteger();

  /**
   * @param missing called with the index of an entry whose body is needed and not there
   */
  BodyCleaner(LogGroup log, DataState state, LongConsumer missing) {
    this.log = log;
    this.state = state;
    this.missing = missing;
  }

  /** Snapshots refer to files that have been replaced: takes others, one in each round. */
  void replaceSnapshots() {
    snapshotsDue.set(SNAPSHOTS);
  }

  /** What the last round found; null before the first. */
  Figures figures() {
    return figures;
  }

  /** One round. Waits for the disk, and for as long as it takes not to burden it. */
  void run() throws IOException {
    if (!(state.bodies() instanceof SegmentBodies bodies)) {
      return;
    }
    Segments segments = bodies.segments();
    long firstIndex = log.firstIndex();
    BodyUse use = state.read(store -> BodyUse.of(store, segments.list(), segments::length));
    use.missing().forEach(missing::accept);
    Throttle throttle = new Throttle(REWRITE_BYTES_A_SECOND);
    long freed = 0;
    for (BodyUse.Use each : use.segments()) {
      long number = each.segment().number();
      freed +=
          switch (each.act(firstIndex)) {
            case KEEP -> 0;
            case DELETE -> segments.delete(number);
            case REWRITE -> segments.rewrite(number, each::needs, throttle);
          };
    }
    figures = new Figures(use.bytes() - freed, use.neededBytes());
    if (freed > 0) {
      LOG.info("log group {}: freed {} MiB of dropped messages", log.name(), freed >> 20);
      replaceSnapshots();
    }
    if (snapshotsDue.getAndUpdate(due -> Math.max(0, due - 1)) > 0) {
      log.snapshot();
    }
  }
}
