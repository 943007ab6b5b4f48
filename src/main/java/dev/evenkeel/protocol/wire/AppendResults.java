package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Refusal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The log's answer to an {@link AppendBody}: {@code i64 log index, (u8 status, i64 value)*}, one
 * result for each batch, in order.
 *
 * @param logIndex position of the entry in its log group
 */
public record AppendResults(long logIndex, List<Result> results) {

  /**
   * @param refusal null if the batch is in the log
   * @param value the first message's offset ({@link #OFFSET_FORGOTTEN} for a repeat of a batch
   *     older than what is remembered); for a delayed batch its serial, see {@link #delayed}, or
   *     {@link #OFFSET_FORGOTTEN}; for {@link Refusal#SEQUENCE_GAP} the next expected sequence; for
   *     {@link Refusal#PRODUCER_FENCED} the epoch known
   */
  public record Result(@Nullable Refusal refusal, long value) {
    public static final long OFFSET_FORGOTTEN = -1;
    public static final int BYTES = 9;

    /** A serial of 0. Clients of 0.1.0 add the position of a message: it must stay negative. */
    private static final long FIRST_SERIAL = Long.MIN_VALUE;

    private static final long LAST_SERIAL = FIRST_SERIAL / 2;

    /**
     * The value of a delayed batch.
     *
     * @param serial of the batch in its shard, see {@link dev.evenkeel.protocol.DelayedId}
     */
    public static long delayed(long serial) {
      return FIRST_SERIAL + serial;
    }

    /** The serial of the delayed batch for which this is the value; -1 if it is no such value. */
    public static long serial(long value) {
      return value < LAST_SERIAL ? value - FIRST_SERIAL : -1;
    }

    public boolean ok() {
      return refusal == null;
    }
  }

  public byte[] encode() {
    Bytes out = new Bytes(8 + results.size() * Result.BYTES).i64(logIndex);
    for (Result result : results) {
      Refusal refusal = result.refusal();
      out.u8(refusal == null ? 0 : 1 + refusal.ordinal()).i64(result.value());
    }
    return out.toArray();
  }

  public static AppendResults decode(ByteBuffer bytes) {
    ByteReader in = new ByteReader(bytes);
    long logIndex = in.i64();
    List<Result> results = new ArrayList<>(in.remaining() / Result.BYTES);
    while (in.remaining() > 0) {
      int status = in.u8();
      results.add(new Result(status == 0 ? null : Refusal.ofCode(status - 1), in.i64()));
    }
    return new AppendResults(logIndex, results);
  }

  /** The results {@code from} to {@code to} (exclusive): one request's share of a joined entry. */
  public AppendResults share(int from, int to) {
    return new AppendResults(logIndex, results.subList(from, to));
  }
}
