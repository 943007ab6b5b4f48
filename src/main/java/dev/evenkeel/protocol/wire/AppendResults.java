package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Refusal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

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
   *     older than what is remembered); for {@link Refusal#SEQUENCE_GAP} the next expected
   *     sequence; for {@link Refusal#PRODUCER_FENCED} the epoch known
   */
  public record Result(Refusal refusal, long value) {
    public static final long OFFSET_FORGOTTEN = -1;
    public static final int BYTES = 9;

    public boolean ok() {
      return refusal == null;
    }
  }

  public byte[] encode() {
    Bytes out = new Bytes(8 + results.size() * Result.BYTES).i64(logIndex);
    for (Result result : results) {
      out.u8(result.ok() ? 0 : 1 + result.refusal().ordinal()).i64(result.value());
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
