package dev.evenkeel.bus;

import dev.evenkeel.protocol.wire.ByteReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What there is for the fetches of a {@link FetchManyRequest}: {@code (i32 index, i32 length,
 * frame)*}. Nothing has come for those that are not named.
 *
 * @param parts in the order of their indices
 */
public record FetchManyAnswer(List<Part> parts) {
  private static final int HEAD_BYTES = 8;

  /**
   * @param index of the fetch in the request, from 0
   * @param frame what the fetch would have been answered with alone
   */
  public record Part(int index, Buffer frame) {}

  /** The frame of the answer. Batches are not copied. */
  public Buffer encode() {
    ByteBuffer heads = ByteBuffer.allocate(Frames.HEADER_BYTES + HEAD_BYTES * parts.size());
    heads.put((byte) Frames.VERSION).put((byte) 0);
    ByteBuf[] pieces = new ByteBuf[Math.max(1, 2 * parts.size())];
    pieces[0] = Unpooled.wrappedBuffer(heads.array(), 0, Frames.HEADER_BYTES);
    for (int i = 0; i < parts.size(); i++) {
      int from = i == 0 ? 0 : heads.position();
      Buffer frame = parts.get(i).frame();
      heads.putInt(parts.get(i).index()).putInt(frame.length());
      pieces[2 * i] = Unpooled.wrappedBuffer(heads.array(), from, heads.position() - from);
      pieces[2 * i + 1] = ((BufferInternal) frame).getByteBuf();
    }
    return BufferInternal.buffer(Unpooled.wrappedBuffer(pieces.length, pieces));
  }

  /** Decodes the body of an answer. The frames are views of it. */
  public static FetchManyAnswer decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    List<Part> parts = new ArrayList<>();
    while (in.remaining() > 0) {
      int index = in.i32();
      ByteBuffer frame = in.slice(in.i32());
      parts.add(new Part(index, BufferInternal.buffer(Unpooled.wrappedBuffer(frame))));
    }
    return new FetchManyAnswer(parts);
  }
}
