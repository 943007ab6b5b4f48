package dev.evenkeel.bus;

import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Batches of a shard: {@code i64 start offset, i64 end offset, i32 failures, (i64 base offset,
 * batch)*}. If the request has a filter, {@code i64 next offset, i32 log group} come before the
 * batches, and {@code i64 log index} after each base offset; then there may be gaps between the
 * batches, of messages that are not wanted.
 *
 * @param startOffset the first offset kept
 * @param endOffset the next offset to be assigned: the high watermark
 * @param failures number of failures that concern the owner, plus {@link #SEALED} if the shard is
 *     sealed, and {@link #NONE_WAITS}; 0: it need not ask for retries
 * @param next messages between the last one here and this offset are not wanted; -1: it is not
 *     known of any
 * @param batches in order; empty if nothing came in time
 */
public record FetchAnswer(
    long startOffset, long endOffset, int failures, long next, List<Placed> batches) {

  /** An answer of the form of feature level 8. */
  public FetchAnswer(long startOffset, long endOffset, int failures, List<Placed> batches) {
    this(startOffset, endOffset, failures, -1, batches);
  }

  /** Added to {@code failures}: no message comes after the end offset any more. */
  public static final int SEALED = 1 << 30;

  /** Added to it beside {@link #SEALED} if no message waits to be tried again. */
  public static final int NONE_WAITS = 1 << 29;

  /**
   * What tells an owner of failures.
   *
   * @param count how many concern it
   * @param anyWaits whether a message waits to be tried again
   */
  public static int failures(int count, boolean sealed, boolean anyWaits) {
    return !sealed ? count : count | SEALED | (anyWaits ? 0 : NONE_WAITS);
  }

  /** How many failures concern the owner; 0: it need not ask for retries. */
  public int failureCount() {
    return failures & ~SEALED & ~NONE_WAITS;
  }

  /** Whether the shard is sealed, and no message waits to be tried again. */
  public boolean noneWaits() {
    return (failures & NONE_WAITS) != 0;
  }

  /** Whether no message comes after the end offset any more. */
  public boolean sealed() {
    return (failures & SEALED) != 0;
  }

  /**
   * A batch and the offset of its first message.
   *
   * @param log the place of its bytes in the log; null: unknown
   * @param sound whether its checksum is known to match; else nobody has looked, or it does not
   */
  public record Placed(long baseOffset, Batch batch, LogPosition log, boolean sound) {
    public Placed(long baseOffset, Batch batch) {
      this(baseOffset, batch, null, false);
    }

    private Placed checked() {
      try {
        return new Placed(baseOffset, batch.verified(), log, true);
      } catch (RefusedException damaged) {
        // Whoever comes to this batch reports it.
        return this;
      }
    }

    /**
     * @throws RefusedException CORRUPT unless the checksum matches
     */
    public Batch verified() {
      return sound ? batch : batch.verified();
    }

    public long endOffset() {
      return baseOffset + batch.count();
    }
  }

  /** That nothing has come for a request, whose wait was cut short. */
  public static FetchAnswer nothingFor(FetchRequest request) {
    return new FetchAnswer(-1, request.offset(), request.failuresKnown(), List.of());
  }

  /** Whether nothing has come so far: it may be asked again at once. */
  public boolean isCutShort() {
    return startOffset < 0;
  }

  /**
   * Compares the batches with their checksums on the thread that received them, because that of the
   * consumer has more to do.
   */
  public FetchAnswer checked() {
    List<Placed> checked = batches.stream().map(Placed::checked).toList();
    return new FetchAnswer(startOffset, endOffset, failures, next, checked);
  }

  /** Begins an answer; the batches follow. */
  public static Bytes head(long startOffset, long endOffset, int bytesExpected) {
    return new Bytes(20 + bytesExpected).i64(startOffset).i64(endOffset).i32(0);
  }

  /** Decodes an answer of the form of feature level 8. */
  public static FetchAnswer decode(ByteBuffer body) {
    return decode(body, false);
  }

  /**
   * @param placed as {@link FetchRequest#placed} of the request says
   */
  public static FetchAnswer decode(ByteBuffer body, boolean placed) {
    ByteReader in = new ByteReader(body);
    long start = in.i64();
    long end = in.i64();
    int failures = in.i32();
    long next = placed ? in.i64() : -1;
    int group = placed ? in.i32() : -1;
    int place = placed ? 2 * Long.BYTES : Long.BYTES;
    ByteBuffer rest = in.slice(in.remaining());
    List<Placed> batches = new ArrayList<>();
    while (rest.remaining() > place) {
      long base = rest.getLong();
      LogPosition log = placed ? new LogPosition(group, rest.getLong()) : null;
      batches.add(new Placed(base, Batch.next(rest), log, false));
    }
    return new FetchAnswer(start, end, failures, next, batches);
  }
}
