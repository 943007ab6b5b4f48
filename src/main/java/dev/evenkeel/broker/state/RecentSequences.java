package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The last batches of a producer in a shard. Immutable.
 *
 * <p>A ring of another epoch than the producer's no longer counts. It stays only because it knows
 * the last sequence of the former epoch.
 */
public final class RecentSequences {
  /** Neither a sequence nor an offset. */
  public static final long NONE = -1;

  private static final int FIELDS = 3;

  private final int epoch;
  private final long next;
  private final long formerLast;
  private final long[] batches;

  private RecentSequences(int epoch, long next, long formerLast, long[] batches) {
    this.epoch = epoch;
    this.next = next;
    this.formerLast = formerLast;
    this.batches = batches;
  }

  /**
   * The ring in which an epoch begins.
   *
   * @param former the producer's ring until now, or null
   * @param formerEpoch the producer's epoch before this one; an older ring knows nothing of it
   */
  public static RecentSequences begin(
      int epoch, @Nullable RecentSequences former, int formerEpoch) {
    long formerLast = former != null && former.epoch == formerEpoch ? former.next - 1 : NONE;
    return new RecentSequences(epoch, 0, formerLast, new long[0]);
  }

  /** The ring of a producer whose sequences have gaps: only the highest one counts. */
  public static RecentSequences upTo(int epoch, long next) {
    return new RecentSequences(epoch, next, NONE, new long[0]);
  }

  public int epoch() {
    return epoch;
  }

  /** The sequence that the next message must have. */
  public long next() {
    return next;
  }

  /** The last sequence taken in the former epoch, or {@link #NONE}. */
  public long formerLast() {
    return formerLast;
  }

  /** The first offset of the batch with exactly these messages, or {@link #NONE}. */
  public long offsetOf(long firstSequence, int count) {
    for (int i = 0; i < batches.length; i += FIELDS) {
      if (batches[i] == firstSequence && batches[i + 1] == count) {
        return batches[i + 2];
      }
    }
    return NONE;
  }

  public RecentSequences appended(int count, long baseOffset) {
    int kept = Math.min(batches.length, (Limits.BATCHES_REMEMBERED - 1) * FIELDS);
    long[] more = new long[kept + FIELDS];
    System.arraycopy(batches, batches.length - kept, more, 0, kept);
    more[kept] = next;
    more[kept + 1] = count;
    more[kept + 2] = baseOffset;
    return new RecentSequences(epoch, next + count, formerLast, more);
  }

  byte[] encode() {
    Bytes out = new Bytes(24 + 8 * batches.length);
    out.i32(epoch).i64(next).i64(formerLast).i32(batches.length);
    for (long each : batches) {
      out.i64(each);
    }
    return out.toArray();
  }

  static RecentSequences decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    int epoch = in.i32();
    long next = in.i64();
    long formerLast = in.i64();
    long[] batches = new long[in.count()];
    for (int i = 0; i < batches.length; i++) {
      batches[i] = in.i64();
    }
    return new RecentSequences(epoch, next, formerLast, batches);
  }

  @Override
  public String toString() {
    return "Ring[epoch=" + epoch + ", next=" + next + ", " + Arrays.toString(batches) + "]";
  }
}
