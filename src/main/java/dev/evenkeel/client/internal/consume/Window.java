package dev.evenkeel.client.internal.consume;

/**
 * The sliding window of one shard: which offsets were handed out and which of them are finished.
 * The committed offset is the lowest unfinished one, so it never passes a message whose handler has
 * not ended.
 *
 * <p>One bit an offset in a ring of words; every operation is O(1) amortised and allocates nothing
 * but a larger ring. The caller bounds {@link #span()}.
 */
public final class Window {
  private static final int WORDS_FIRST = 16;

  private long[] ring = new long[WORDS_FIRST];
  private long low;
  private long next;

  /** One more than the highest offset whose handler has ended well. */
  private long top;

  /**
   * @param start the first offset to be handed out
   */
  public Window(long start) {
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
   * One more than the highest offset whose handler has ended well; what lies between {@link
   * #committed} and it has holes.
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
    return offset < low || offset < next && bit(offset);
  }

  /**
   * Notes that {@code offset} is handed out. Offsets that were passed over count as finished: the
   * log has them no more. One that was handed out before and dropped unfinished may come again.
   */
  public void handOut(long offset) {
    if (offset < next) {
      return;
    }
    skipTo(offset);
    room(next + 1 - low);
    next = offset + 1;
  }

  /** Counts everything from {@link #next()} to below {@code offset} as finished. */
  void skipTo(long offset) {
    if (offset <= next) {
      return;
    }
    if (low == next) {
      low = offset;
      next = offset;
      return;
    }
    room(offset - low);
    for (long each = next; each < offset; each++) {
      set(each);
    }
    next = offset;
  }

  /** Notes that the handler of {@code offset}, which was handed out, has ended well. */
  public void finish(long offset) {
    if (offset < low || offset >= next) {
      return;
    }
    top = Math.max(top, offset + 1);
    leave(offset);
  }

  /**
   * Notes that {@code offset}, which was handed out, will not come again to this owner nor to a
   * later one: the log knows what has become of it.
   */
  void leave(long offset) {
    if (offset < low || offset >= next) {
      return;
    }
    if (offset != low) {
      set(offset);
      return;
    }
    clear(low++);
    while (low < next && bit(low)) {
      clear(low++);
    }
  }

  private void room(long bits) {
    int words = ring.length;
    while ((long) words << 6 < bits) {
      words = Math.multiplyExact(words, 2);
    }
    if (words == ring.length) {
      return;
    }
    long[] old = ring;
    long[] larger = new long[words];
    for (long each = low; each < next; each++) {
      if ((old[(int) (each >>> 6) & old.length - 1] >>> each & 1) != 0) {
        larger[(int) (each >>> 6) & words - 1] |= 1L << each;
      }
    }
    ring = larger;
  }

  private boolean bit(long offset) {
    return (ring[(int) (offset >>> 6) & ring.length - 1] >>> offset & 1) != 0;
  }

  private void set(long offset) {
    ring[(int) (offset >>> 6) & ring.length - 1] |= 1L << offset;
  }

  private void clear(long offset) {
    ring[(int) (offset >>> 6) & ring.length - 1] &= ~(1L << offset);
  }
}
