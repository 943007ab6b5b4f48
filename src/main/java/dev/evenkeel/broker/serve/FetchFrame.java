package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.broker.state.TailRead;
import dev.evenkeel.bus.DirectAnswers;
import dev.evenkeel.bus.Frames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the frames of answers to fetches, see {@link dev.evenkeel.bus.FetchAnswer}.
 *
 * @param placed whether the answer has the next offset, the log group, and the log index of each
 *     batch
 * @param group number of the log group
 */
record FetchFrame(boolean placed, int group) {
  /** Of an answer to a client that knows feature level 8. */
  static final FetchFrame FORMER = new FetchFrame(false, 0);

  private static final int FAILURES_AT = Frames.HEADER_BYTES + 16;
  private static final int NEXT_AT = FAILURES_AT + Integer.BYTES;

  private static final int GROUP_AT = NEXT_AT + Long.BYTES;

  /** Copying batches that are smaller on average costs less than a view of each. */
  static final int VIEW_BYTES_MIN = 4 << 10;

  /**
   * A view keeps the whole memory in which its bytes are until it is sent, which a slow client may
   * hold up: at most so many times its bytes. Otherwise a copy costs less.
   */
  static final int VIEW_KEEPS_MAX = 8;

  /** Room for the bytes around the batches of an answer. */
  private static final int SPARE_BYTES = 4_096;

  /** Of an answer with places in the log. */
  static FetchFrame placed(int group) {
    return new FetchFrame(true, group);
  }

  /**
   * A little less than a request asks for: buffers on the way grow by doubling, so a few bytes
   * above a power of two would make each of them twice as large.
   */
  static int batchBytesMax(int asked) {
    return asked < 16 * SPARE_BYTES ? asked : asked - SPARE_BYTES;
  }

  /** What a frame begins with. */
  int headBytes() {
    return placed ? GROUP_AT + Integer.BYTES : NEXT_AT;
  }

  /** What stands before each batch. */
  int placeBytes() {
    return placed ? 2 * Long.BYTES : Long.BYTES;
  }

  /** Writes what stands before a batch. */
  void putPlace(ByteBuffer out, long baseOffset, long logIndex) {
    out.putLong(baseOffset);
    if (placed) {
      out.putLong(logIndex);
    }
  }

  /** A frame with batches that are in memory. Large pieces are views: they are copied when sent. */
  Buffer of(ShardRecord record, int failures, TailRead found) {
    int pieces = found.pieces(placed);
    boolean small = found.bytes() <= (long) VIEW_BYTES_MIN * pieces;
    return small || found.keptBytes() > VIEW_KEEPS_MAX * found.bytes()
        ? copied(record, failures, found)
        : viewed(record, failures, found, pieces);
  }

  /** A frame without batches. */
  Buffer nothing(ShardRecord record, int failures, long next) {
    ByteBuffer head = ByteBuffer.allocate(headBytes());
    putHead(head, record, failures, next, record.end());
    return whole(head.limit(headBytes()));
  }

  private Buffer copied(ShardRecord record, int failures, TailRead found) {
    int bytes = placeBytes() * found.size() + (int) found.bytes();
    ByteBuffer out = ByteBuffer.allocate(headBytes() + bytes).position(headBytes());
    found.each(placed, out::put);
    putHead(out, record, failures, -1, found.endOffset());
    return whole(out.flip());
  }

  private Buffer viewed(ShardRecord record, int failures, TailRead found, int pieces) {
    ByteBuffer head = ByteBuffer.allocate(headBytes());
    putHead(head, record, failures, -1, found.endOffset());
    List<ByteBuf> parts = new ArrayList<>(1 + pieces);
    parts.add(Unpooled.wrappedBuffer(head.array()));
    found.each(
        placed, (memory, from, length) -> parts.add(Unpooled.wrappedBuffer(memory, from, length)));
    return BufferInternal.buffer(
        Unpooled.wrappedBuffer(parts.size(), parts.toArray(ByteBuf[]::new)));
  }

  /**
   * A frame that is made already.
   *
   * @param frame has the batches behind {@link #headBytes}, up to its limit, each behind its place
   */
  Buffer filled(ShardRecord record, int failures, List<Cached> batches, ByteBuffer frame) {
    putHead(frame, record, failures, -1, batches.get(batches.size() - 1).endOffset());
    return whole(frame);
  }

  /**
   * A frame that is made already.
   *
   * @param next messages up to there that it does not have are not wanted
   */
  Buffer filled(ShardRecord record, int failures, long next, ByteBuffer frame) {
    putHead(frame, record, failures, next, next);
    return whole(frame);
  }

  private static Buffer whole(ByteBuffer frame) {
    return frame.hasArray()
        ? BufferInternal.buffer(Unpooled.wrappedBuffer(frame.array(), 0, frame.limit()))
        : DirectAnswers.answer(frame);
  }

  /**
   * @param end of the batches: the disk may have been read after the shard had grown
   */
  private void putHead(ByteBuffer out, ShardRecord record, int failures, long next, long end) {
    out.put(0, (byte) Frames.VERSION).put(1, (byte) 0);
    out.putLong(Frames.HEADER_BYTES, record.start());
    out.putLong(Frames.HEADER_BYTES + 8, Math.max(record.end(), end));
    out.putInt(FAILURES_AT, failures);
    if (placed) {
      out.putLong(NEXT_AT, next).putInt(GROUP_AT, group);
    }
  }
}
