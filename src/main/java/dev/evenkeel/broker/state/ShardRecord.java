package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;

/**
 * A shard of the log.
 *
 * @param start first offset kept
 * @param end next offset to be assigned
 * @param maxTimestamp largest timestamp of any message ever appended, or {@link Long#MIN_VALUE}
 * @param appendMillis {@link LogTime} of the last append
 * @param startPosition bytes ever dropped from its front
 * @param endPosition bytes ever appended
 * @param dropped messages that a limit dropped before some group consumed them
 * @param sealed it takes no more messages
 */
public record ShardRecord(
    long start,
    long end,
    long maxTimestamp,
    long appendMillis,
    long startPosition,
    long endPosition,
    long dropped,
    boolean sealed) {

  public static final ShardRecord EMPTY =
      new ShardRecord(0, 0, Long.MIN_VALUE, Long.MIN_VALUE, 0, 0, 0, false);

  /** Bytes kept. */
  public long bytes() {
    return endPosition - startPosition;
  }

  /** Where a batch would lie that is appended now. */
  public IndexEntry next(BatchHeader batch, BatchPlace place, long nowMillis) {
    return new IndexEntry(
        end,
        end + batch.count() - 1,
        Math.max(maxTimestamp, batch.maxTimestampMillis()),
        Math.max(appendMillis, nowMillis),
        batch.length(),
        endPosition,
        place);
  }

  /** With a batch behind the last one. */
  public ShardRecord appended(IndexEntry batch) {
    return new ShardRecord(
        start,
        batch.end(),
        batch.maxTimestamp(),
        batch.appendMillis(),
        startPosition,
        batch.position() + batch.bytes(),
        dropped,
        sealed);
  }

  public ShardRecord trimmed(long newStart, long newStartPosition, long moreDropped) {
    return new ShardRecord(
        newStart,
        end,
        maxTimestamp,
        appendMillis,
        newStartPosition,
        endPosition,
        dropped + moreDropped,
        sealed);
  }

  /** It takes no more messages from now on. */
  public ShardRecord seal() {
    return new ShardRecord(
        start, end, maxTimestamp, appendMillis, startPosition, endPosition, dropped, true);
  }

  byte[] encode() {
    Bytes out =
        new Bytes(57)
            .i64(start)
            .i64(end)
            .i64(maxTimestamp)
            .i64(appendMillis)
            .i64(startPosition)
            .i64(endPosition)
            .i64(dropped);
    // Without a byte more while it is open, as nodes write it that know of no sealed shards.
    return (sealed ? out.bool(true) : out).toArray();
  }

  static ShardRecord decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    return new ShardRecord(
        in.i64(),
        in.i64(),
        in.i64(),
        in.i64(),
        in.i64(),
        in.i64(),
        in.i64(),
        in.remaining() > 0 && in.bool());
  }
}
