package dev.evenkeel.bus.frame;

import dev.evenkeel.bus.DirectAnswers;
import dev.evenkeel.protocol.RefusedException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import javax.net.ssl.SSLSession;

/**
 * One connection at the client port, on either side: it reads and writes {@link SessionFrame}s.
 * Bodies are not copied on their way to the socket, so nobody may change them after {@link #send}.
 *
 * <p>All methods must be called on the context of the socket, and handlers run there.
 */
public final class FrameSocket {
  /** Bytes that are read at once. */
  private static final int READ_BYTES = 64 << 10;

  /** Most frames that leave together. Few, so that large ones count as sent soon. */
  private static final int FLUSH_FRAMES_MAX = 32;

  /** The parts of a frame up to this length are joined by copying. */
  private static final int COPY_BYTES_MAX = 1_024;

  private final NetSocketInternal socket;
  private final FrameDecoder decoder;
  private Handler<Throwable> failureHandler = failure -> {};

  /**
   * Takes a socket over. Set all handlers in the same turn of the event loop.
   *
   * @param bodyBytesMax longest body of a frame; see {@link #bodyBytesMax}
   */
  public FrameSocket(NetSocket socket, int bodyBytesMax) {
    this(socket, bodyBytesMax, FrameRoom.ENDLESS);
  }

  /** The same, for one of many connections that share the room for frames. */
  public FrameSocket(NetSocket socket, int bodyBytesMax, FrameRoom room) {
    this.socket = (NetSocketInternal) socket;
    decoder = new FrameDecoder(bodyBytesMax, room);
    Channel channel = this.socket.channelHandlerContext().channel();
    channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(READ_BYTES));
    channel.pipeline().addBefore("handler", "frames", decoder);
    // Frames of one turn of the event loop leave with one system call.
    channel.pipeline().addFirst(new FlushConsolidationHandler(FLUSH_FRAMES_MAX, true));
  }

  /** Sets the longest body of later frames. A longer one ends in {@link #onFailure}. */
  public void bodyBytesMax(int bytes) {
    decoder.bodyBytesMax(bytes);
  }

  /** Where later frames take their room; to be called when a frame has come, on its event loop. */
  public void room(FrameRoom room) {
    decoder.room(room);
  }

  public void onFrame(Handler<SessionFrame> handler) {
    socket.messageHandler(
        message -> {
          if (message instanceof SessionFrame frame) {
            handler.handle(frame);
          } else if (message instanceof RefusedException malformed) {
            failureHandler.handle(malformed);
          }
        });
  }

  /**
   * Called for a failure of the connection, and with a {@code RefusedException} for a malformed
   * frame. No frame comes after a malformed one. The socket stays open until it is closed.
   */
  public void onFailure(Handler<Throwable> handler) {
    failureHandler = handler;
    socket.exceptionHandler(handler);
  }

  public void onClose(Handler<Void> handler) {
    socket.closeHandler(handler);
  }

  /**
   * Writes a frame whose body consists of these parts, in order.
   *
   * @return completes when the frame has been given to the system
   */
  public Future<Void> send(FrameKind kind, int correlation, Buffer... parts) {
    int length = SessionFrame.HEAD_BYTES - 4;
    for (Buffer part : parts) {
      length += part.length();
    }
    boolean copied = length <= COPY_BYTES_MAX;
    ByteBuf head = Unpooled.buffer(copied ? 4 + length : SessionFrame.HEAD_BYTES);
    head.writeInt(length).writeByte(SessionFrame.VERSION).writeByte(kind.code());
    head.writeInt(correlation);
    if (copied) {
      for (Buffer part : parts) {
        head.writeBytes(((BufferInternal) part).getByteBuf());
      }
      return socket.writeMessage(head);
    }
    ByteBuf direct = parts.length == 1 ? DirectAnswers.sentOnce(parts[0]) : null;
    if (direct != null) {
      // Joined with the head in one buffer, it would be copied.
      socket.writeMessage(head);
      return socket.writeMessage(direct);
    }
    ByteBuf[] all = new ByteBuf[1 + parts.length];
    all[0] = head;
    for (int i = 0; i < parts.length; i++) {
      // The caller may send the same buffer again, so Netty must not release it.
      all[1 + i] = Unpooled.unreleasableBuffer(((BufferInternal) parts[i]).getByteBuf());
    }
    return socket.writeMessage(Unpooled.wrappedUnmodifiableBuffer(all));
  }

  /** Whether the peer does not read as fast as this side writes. */
  public boolean writeQueueFull() {
    return socket.writeQueueFull();
  }

  /** Called each time when the write queue was full and has room again. */
  public void onDrain(Handler<Void> handler) {
    socket.drainHandler(handler);
  }

  /** Takes no more frames from the peer, until {@link #resume}. */
  public void pause() {
    socket.pause();
  }

  public void resume() {
    socket.resume();
  }

  /**
   * How many bytes have come, also of a frame that is not complete: on a slow network, a large one
   * takes long.
   */
  public long bytesReceived() {
    return decoder.bytesReceived();
  }

  /** Address of the peer, for people. */
  public String remote() {
    return String.valueOf(socket.remoteAddress());
  }

  /** The peer's address without its port, or null. */
  public String remoteHost() {
    return socket.remoteAddress() == null ? null : socket.remoteAddress().hostAddress();
  }

  /** The peer's address, or null. */
  public SocketAddress remoteAddress() {
    return socket.remoteAddress();
  }

  /** Of the encrypted connection; null: it is not encrypted. */
  public SSLSession sslSession() {
    return socket.isSsl() ? socket.sslSession() : null;
  }

  /** Writes what was sent, and closes the connection: never, if the peer does not read. */
  public Future<Void> close() {
    return socket.close();
  }

  /** Closes the connection at once, and drops what was not written. */
  public void abort() {
    socket.channelHandlerContext().close();
  }
}
