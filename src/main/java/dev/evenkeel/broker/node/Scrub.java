package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.storage.segment.SegmentCheck;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Looks for damage in the bodies of one data log group: reads every segment and compares it with
 * its checksums. What it finds is mended by {@link BodyMender}.
 */
public final class Scrub {
  private final DataState state;
  private final BodyMender mender;
  private final LongAdder bytes = new LongAdder();

  Scrub(DataState state, BodyMender mender) {
    this.state = state;
    this.mender = mender;
  }

  /** Bytes that were compared with their checksums, since the node started. */
  public long bytes() {
    return bytes.sum();
  }

  /**
   * One pass over all segments that there are now. Waits for the disk, and as {@code pace} says.
   */
  void pass(Segments.Pace pace) throws IOException {
    if (!(state.bodies() instanceof SegmentBodies bodies)) {
      return;
    }
    mender.lostAgain();
    for (Segments.Info info : bodies.segments().list()) {
      SegmentCheck check = check(bodies.segments(), info.number(), pace);
      if (!check.tableIsSound()) {
        mender.mendTable(info.number());
        check = check(bodies.segments(), info.number(), pace);
      }
      check.damaged().forEach(mender::mend);
    }
  }

  private SegmentCheck check(Segments segments, long number, Segments.Pace pace)
      throws IOException {
    return segments.check(
        number,
        read -> {
          bytes.add(read);
          pace.read(read);
        });
  }
}
