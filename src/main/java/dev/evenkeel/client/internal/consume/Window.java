package dev.evenkeel.client.internal.consume;

import java.util.BitSet;

/**
 * The sliding window of one shard: which offsets were handed out and which of them are finished.
 * The committed offset is the lowest unfinished one, so it never passes a message whose handler has
 * not ended. Every operation is O(1) amortised. The caller bounds {@link #span()}.
 */
public final class Window {
  /** The window moves its bits down once this many of them are no longer needed. */
  private static final int PASSED_BITS = 4_096;

  /**
   * One bit for each finished offset from {@link #base} on; those below {@link #low} do not count.
   */
  private BitSet finished = new BitSet();

  /** How many offsets above {@link #low} are finished. */
  private long finishedAbove;

  private long base;
  private long low;
  private long next;

  /** One more than the highest offset whose handler has ended well. */
  private long top;

  /**
   * @param start the first offset to be handed out
   */
  public Window(long start) {
    base = start;
    low = start;
    next = start;
    top = start;
  }

  /** Everything below is finished. */
  public long committed() {
    return low;
  }

  /** The offset after the highest one handed out. */
  long next() {
    return next;
  }

  /**
   * One more than the highest offset whose handler has ended well. Between {@link #committed} and
   * it there are holes.
   */
  public long top() {
    return Math.max(top, low);
  }

  /** Whether nothing above the lowest unfinished offset is finished. */
  boolean whole() {
    return top <= low;
  }

  /** Offsets between the lowest unfinished one and the highest one handed out. */
  long span() {
    return next - low;
  }

  public boolean isFinished(long offset) {
    return offset < low || offset < next && finished.get(bit(offset));
  }

  private int bit(long offset) {
    return (int) (offset - base);
  }

  /**
   * Notes that {@code offset} is handed out. Offsets that were passed over count as finished: the
   * log no longer has them. An offset may be handed out again if it was dropped unfinished.
   */
  public void handOut(long offset) {
    if (offset >= next) {
      skipTo(offset);
      next = offset + 1;
    }
  }

  /** Counts everything from {@link #next()} to below {@code offset} as finished. */
  void skipTo(long offset) {
    if (offset <= next) {
      return;
    }
    if (low == next) {
      finished.clear();
      base = offset;
      low = offset;
    } else {
      finished.set(bit(next), bit(offset));
      finishedAbove += offset - next;
    }
    next = offset;
  }

  /** Notes that the handler of {@code offset}, which was handed out, has ended well. */
  public void finish(long offset) {
    if (offset >= low && offset < next) {
      top = Math.max(top, offset + 1);
      leave(offset);
    }
  }

  /**
   * Notes that {@code offset}, which was handed out, comes again neither to this owner nor to a
   * later one: the log knows what has become of it.
   */
  void leave(long offset) {
    if (offset < low || offset >= next) {
      return;
    }
    if (offset == low && finishedAbove == 0) {
      // As always when messages end in their order: nothing has to be noted.
      low++;
    } else if (!finished.get(bit(offset))) {
      finished.set(bit(offset));
      long reached = base + finished.nextClearBit(bit(low));
      // When the lowest one moves, it is not one of those above itself.
      finishedAbove += reached > low ? low + 1 - reached : 1;
      low = reached;
    }
    if (low - base >= Math.max(PASSED_BITS, span())) {
      finished = finished.get(bit(low), bit(next));
      base = low;
    }
  }
}
