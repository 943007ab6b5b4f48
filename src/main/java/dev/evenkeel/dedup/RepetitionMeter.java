package dev.evenkeel.dedup;

import java.util.Arrays;

/**
 * Measures whether deduplication is worthwhile, by the model of the articles on queues for repeated
 * requests: it compares the smallest distance between two equal requests with the number of
 * consumers.
 *
 * <p>Let <i>d</i> be the number of messages in flight at once, one for each working handler. If all
 * handlers take the same time, message <i>i</i> runs while messages <i>i</i> + 1 … <i>i</i> +
 * <i>d</i> − 1 begin. So, within a block of successive messages:
 *
 * <ul>
 *   <li>The <b>distance</b> of message <i>i</i> is <i>i</i> − <i>j</i>, where <i>j</i> is the last
 *       one before it with the same digest.
 *   <li>The <b>level</b> is NONE if no message has a distance, HIGH if the smallest one is less
 *       than <i>d</i>, else SPARSE.
 *   <li>Message <i>i</i> <b>would be declined</b> if at least two of the <i>d</i> − 1 messages
 *       before it have the same digest and would not be declined themselves: one works and one
 *       waits.
 *   <li>The <b>declined share</b> is that of those among all messages that have <i>d</i> − 1 others
 *       before them in their block.
 * </ul>
 *
 * <p>It measures one block, then skips {@link #SKIPPED_BLOCKS}, which costs one decrement per
 * message and no digest. The result covers the last one to two epochs of {@link #EPOCH_BLOCKS}
 * blocks. A block has four times <i>d</i> messages, at least {@link #BLOCK_MESSAGES_MIN}; it does
 * not see longer distances. Memory: 40 bytes per message of a block.
 *
 * <p>A consumer sees only the messages of its own shards, and compares them with its own handlers:
 * if messages are spread evenly over consumers, both numbers are smaller than those of the group by
 * the same factor. Not safe for use from several threads.
 */
public final class RepetitionMeter {
  static final int BLOCK_MESSAGES_MIN = 1_024;
  static final int SKIPPED_BLOCKS = 7;
  static final int EPOCH_BLOCKS = 16;

  /** Larger numbers of messages in flight count as this one. */
  static final int IN_FLIGHT_MAX = 16_384;

  private final int inFlight;
  private final int blockMessages;
  private final int skippedMessages;

  // A hash table of the digests of the block, with open addressing, at most half full. Positions
  // begin at 1.
  private final long[] digests;
  private final int[] last;

  /**
   * Position of the last message with the digest that would not be declined, and of the one before
   * it.
   */
  private final int[] kept;

  private final int[] keptBefore;

  private int position;
  private int skip;
  private int blocks;
  private Epoch now = new Epoch();
  private Epoch before = new Epoch();

  /** The counts of some blocks. */
  private static final class Epoch {
    long observed;
    long counted;
    long declined;
    int smallest = Integer.MAX_VALUE;
  }

  /**
   * @param inFlight messages that this consumer processes at once, at least 1
   */
  public RepetitionMeter(int inFlight) {
    this.inFlight = Math.max(1, Math.min(IN_FLIGHT_MAX, inFlight));
    int wanted = Math.max(BLOCK_MESSAGES_MIN, 4 * this.inFlight);
    blockMessages = Integer.highestOneBit(2 * wanted - 1);
    skippedMessages = SKIPPED_BLOCKS * blockMessages;
    digests = new long[2 * blockMessages];
    last = new int[2 * blockMessages];
    kept = new int[2 * blockMessages];
    keptBefore = new int[2 * blockMessages];
  }

  /**
   * Says whether to measure the next message; if so, call {@link #observe}. Call it for each
   * message.
   */
  public boolean next() {
    if (skip > 0) {
      skip--;
      return false;
    }
    return true;
  }

  /**
   * Measures the message that {@link #next} asked for.
   *
   * @param digest equal for equal messages, and hardly ever for others
   */
  public void observe(long digest) {
    position++;
    int at = find(digest);
    int former = last[at];
    boolean repeated = former != 0;
    if (repeated) {
      now.smallest = Math.min(now.smallest, position - former);
    } else {
      digests[at] = digest;
      kept[at] = 0;
      keptBefore[at] = 0;
    }
    last[at] = position;
    now.observed++;
    boolean declined = keptBefore[at] != 0 && position - keptBefore[at] < inFlight;
    if (!declined) {
      keptBefore[at] = kept[at];
      kept[at] = position;
    }
    if (position >= inFlight) {
      now.counted++;
      now.declined += declined ? 1 : 0;
    }
    if (position == blockMessages) {
      endBlock();
    }
  }

  private int find(long digest) {
    int mask = digests.length - 1;
    int at = (int) (digest * 0x9e3779b97f4a7c15L >>> 33) & mask;
    while (last[at] != 0 && digests[at] != digest) {
      at = at + 1 & mask;
    }
    return at;
  }

  private void endBlock() {
    Arrays.fill(last, 0);
    position = 0;
    skip = skippedMessages;
    if (++blocks == EPOCH_BLOCKS) {
      blocks = 0;
      before = now;
      now = new Epoch();
    }
  }

  public Repetition read() {
    int smallest = Math.min(now.smallest, before.smallest);
    long counted = now.counted + before.counted;
    long declined = now.declined + before.declined;
    Repetition.Level level =
        smallest == Integer.MAX_VALUE
            ? Repetition.Level.NONE
            : smallest < inFlight ? Repetition.Level.HIGH : Repetition.Level.SPARSE;
    return new Repetition(
        level,
        smallest == Integer.MAX_VALUE ? 0 : smallest,
        counted == 0 ? null : (double) declined / counted,
        now.observed + before.observed);
  }
}
