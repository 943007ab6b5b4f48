package dev.evenkeel.bus.frame;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.util.Arrays;

/**
 * Makes frames of the bytes that arrive. The body of a frame is one array of its exact size, which
 * it fills as bytes come. A length that a peer announces costs no memory: the array grows with what
 * has arrived, to at most four times of that.
 *
 * <p>A malformed frame becomes a {@link RefusedException}, in its place among the frames. After it,
 * everything is dropped.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
  /** An idle connection may hold this much for a frame of which only the head has come. */
  private static final int FIRST_BYTES_MIN = 4 << 10;

  private static final int GROWTH = 4;

  /** The first bytes of a web server's answer. */
  private static final int HTTP = 'H' << 24 | 'T' << 16 | 'T' << 8 | 'P';

  /** The first byte of a TLS record says what it is: 20 is the least, and 23 the highest. */
  private static final int TLS_TYPE_MIN = 20;

  private static final int TLS_TYPE_MAX = 23;

  /** The second byte of a TLS record. */
  private static final int TLS_VERSION = 3;

  private final byte[] head = new byte[SessionFrame.HEAD_BYTES];
  private int headBytes;
  private byte[] body;
  private int bodyBytes;
  private int bodyLength;
  private volatile int bodyBytesMax;
  private long bytesReceived;
  private boolean broken;
  private FrameRoom room;

  /** Bytes that the frame under way has of the {@link #room}. */
  private int taken;

  FrameDecoder(int bodyBytesMax, FrameRoom room) {
    this.bodyBytesMax = bodyBytesMax;
    this.room = room;
  }

  long bytesReceived() {
    return bytesReceived;
  }

  /** Sets the longest body of the frames whose first byte arrives later. */
  void bodyBytesMax(int bytes) {
    bodyBytesMax = bytes;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof ByteBuf in)) {
      context.fireChannelRead(message);
      return;
    }
    bytesReceived += in.readableBytes();
    try {
      while (in.isReadable() && !broken) {
        read(context, in);
      }
    } catch (RefusedException refused) {
      broken = true;
      drop();
      // Not as an exception: for that, Vert.x would close the connection before a GOODBYE is sent.
      context.fireChannelRead(refused);
    } finally {
      in.release();
    }
  }

  /** Later frames take their room there. To be called between two frames, on the event loop. */
  void room(FrameRoom other) {
    if (taken > 0) {
      throw new IllegalStateException("a frame is under way");
    }
    room = other;
  }

  private void read(ChannelHandlerContext context, ByteBuf in) {
    if (headBytes < head.length) {
      int more = Math.min(head.length - headBytes, in.readableBytes());
      in.readBytes(head, headBytes, more);
      headBytes += more;
      if (headBytes < head.length) {
        // An alert is shorter than the head of a frame, and nothing comes after it.
        refuseTls();
        return;
      }
      begin(in.readableBytes());
    }
    int more = Math.min(bodyLength - bodyBytes, in.readableBytes());
    room(more);
    in.readBytes(body, bodyBytes, more);
    bodyBytes += more;
    if (bodyBytes == bodyLength) {
      Buffer whole = BufferInternal.buffer(Unpooled.wrappedBuffer(body));
      SessionFrame frame = new SessionFrame(FrameKind.ofCode(head[5] & 0xFF), int32(6), whole);
      drop();
      headBytes = 0;
      context.fireChannelRead(frame);
    }
  }

  private void begin(int arrived) {
    if (int32(0) == HTTP) {
      throw Refusal.INVALID.error("an HTTP answer");
    }
    long length = (int32(0) & 0xFFFFFFFFL) - (SessionFrame.HEAD_BYTES - 4);
    if (length < 0) {
      throw Refusal.INVALID.error("a frame that is shorter than its head");
    }
    if (length > bodyBytesMax) {
      refuseTls();
      throw Refusal.TOO_LARGE.error(
          "a frame with a body of %s bytes: at most %s are allowed here", length, bodyBytesMax);
    }
    if (head[4] != SessionFrame.VERSION) {
      throw Refusal.WRONG_VERSION.error(
          "a frame of version %s: this program speaks version %s",
          head[4] & 0xFF, SessionFrame.VERSION);
    }
    if (FrameKind.ofCode(head[5] & 0xFF) == null) {
      throw Refusal.INVALID.error("a frame of unknown kind %s", head[5] & 0xFF);
    }
    bodyLength = (int) length;
    bodyBytes = 0;
    long first = Math.max(FIRST_BYTES_MIN, (long) GROWTH * arrived);
    body = new byte[take((int) Math.min(bodyLength, first))];
  }

  /** As the length of a frame, the begin of a TLS record would mean 320 MiB and more. */
  private void refuseTls() {
    if (headBytes >= 2
        && head[0] >= TLS_TYPE_MIN
        && head[0] <= TLS_TYPE_MAX
        && head[1] == TLS_VERSION) {
      throw new TlsInstead();
    }
  }

  /** Room for an array of that length, if it is more than each connection has anyway. */
  private int take(int length) {
    if (length > FIRST_BYTES_MIN) {
      room.take(length - taken);
      taken = length;
    }
    return length;
  }

  /** Lets go of the array of the frame under way. */
  private void drop() {
    body = null;
    if (taken > 0) {
      room.give(taken);
      taken = 0;
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    drop();
  }

  private void room(int more) {
    int needed = bodyBytes + more;
    if (needed > body.length) {
      long grown = Math.max(needed, (long) GROWTH * body.length);
      body = Arrays.copyOf(body, take((int) Math.min(bodyLength, grown)));
    }
  }

  private int int32(int at) {
    return (head[at] & 0xFF) << 24
        | (head[at + 1] & 0xFF) << 16
        | (head[at + 2] & 0xFF) << 8
        | head[at + 3] & 0xFF;
  }
}
