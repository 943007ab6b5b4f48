package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.DirectAnswers;
import dev.evenkeel.bus.Frames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.List;

/** Makes the frames of answers to fetches, see {@link dev.evenkeel.bus.FetchAnswer}. */
final class FetchFrame {
  /** What a frame begins with. */
  static final int HEAD_BYTES = Frames.HEADER_BYTES + 20;

  /** The offset before each batch. */
  static final int OFFSET_BYTES = 8;

  /** Copying batches that are smaller on average costs less than a view of each. */
  static final int VIEW_BYTES_MIN = 4 << 10;

  private FetchFrame() {}

  /** A frame with batches that are in memory. Large ones are views: they are copied when sent. */
  static Buffer of(ShardRecord record, int failures, List<Cached> batches) {
    int bytes = 0;
    for (Cached each : batches) {
      bytes += each.batch().length();
    }
    return bytes <= (long) VIEW_BYTES_MIN * batches.size()
        ? copied(record, failures, batches, bytes)
        : viewed(record, failures, batches);
  }

  private static Buffer copied(
      ShardRecord record, int failures, List<Cached> batches, int batchBytes) {
    ByteBuffer out =
        ByteBuffer.allocate(HEAD_BYTES + OFFSET_BYTES * batches.size() + batchBytes)
            .position(HEAD_BYTES);
    for (Cached each : batches) {
      out.putLong(each.baseOffset());
      out.put(each.batch().bytes().duplicate());
    }
    return filled(record, failures, batches, out.flip());
  }

  private static Buffer viewed(ShardRecord record, int failures, List<Cached> batches) {
    ByteBuffer heads = ByteBuffer.allocate(HEAD_BYTES + OFFSET_BYTES * batches.size());
    putHead(heads, record, failures, batches);
    heads.position(HEAD_BYTES);
    ByteBuf[] parts = new ByteBuf[2 * batches.size()];
    for (int i = 0; i < batches.size(); i++) {
      int from = i == 0 ? 0 : heads.position();
      heads.putLong(batches.get(i).baseOffset());
      parts[2 * i] = Unpooled.wrappedBuffer(heads.array(), from, heads.position() - from);
      parts[2 * i + 1] = Unpooled.wrappedBuffer(batches.get(i).batch().bytes().duplicate());
    }
    return BufferInternal.buffer(Unpooled.wrappedBuffer(parts.length, parts));
  }

  /**
   * A frame that is made already.
   *
   * @param frame has the batches behind {@link #HEAD_BYTES}, up to its limit, each behind its
   *     offset
   */
  static Buffer filled(ShardRecord record, int failures, List<Cached> batches, ByteBuffer frame) {
    putHead(frame, record, failures, batches);
    return frame.hasArray()
        ? BufferInternal.buffer(Unpooled.wrappedBuffer(frame.array(), 0, frame.limit()))
        : DirectAnswers.answer(frame);
  }

  private static void putHead(
      ByteBuffer out, ShardRecord record, int failures, List<Cached> batches) {
    // The disk may have been read after the shard had grown.
    long end =
        batches.isEmpty()
            ? record.end()
            : Math.max(record.end(), batches.get(batches.size() - 1).endOffset());
    out.put(0, (byte) Frames.VERSION).put(1, (byte) 0);
    out.putLong(Frames.HEADER_BYTES, record.start()).putLong(Frames.HEADER_BYTES + 8, end);
    out.putInt(Frames.HEADER_BYTES + 16, failures);
  }
}
