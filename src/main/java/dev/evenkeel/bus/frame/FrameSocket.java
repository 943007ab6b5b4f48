package dev.evenkeel.bus.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetSocket;

/**
 * One connection at the client port, on either side: it reads and writes {@link SessionFrame}s.
 * Bodies are not copied on their way to the socket, so nobody may change them after {@link #send}.
 *
 * <p>All methods must be called on the context of the socket, and handlers run there.
 */
public final class FrameSocket {
  private final NetSocketInternal socket;
  private final FrameDecoder decoder;

  /**
   * Takes a socket over. Set all handlers in the same turn of the event loop.
   *
   * @param bodyBytesMax longest body of a frame; see {@link #bodyBytesMax}
   */
  public FrameSocket(NetSocket socket, int bodyBytesMax) {
    this.socket = (NetSocketInternal) socket;
    decoder = new FrameDecoder(bodyBytesMax);
    this.socket.channelHandlerContext().pipeline().addBefore("handler", "frames", decoder);
  }

  /** Sets the longest body of later frames. A longer one ends in {@link #onFailure}. */
  public void bodyBytesMax(int bytes) {
    decoder.bodyBytesMax(bytes);
  }

  public void onFrame(Handler<SessionFrame> handler) {
    socket.messageHandler(
        message -> {
          if (message instanceof SessionFrame frame) {
            handler.handle(frame);
          }
        });
  }

  /**
   * Called for a failure of the connection, and with a {@code RefusedException} for a malformed
   * frame. No frame comes after a malformed one. The socket stays open until it is closed.
   */
  public void onFailure(Handler<Throwable> handler) {
    socket.exceptionHandler(handler);
  }

  public void onClose(Handler<Void> handler) {
    socket.closeHandler(handler);
  }

  /** Writes a frame whose body consists of these parts, in order. */
  public void send(FrameKind kind, int correlation, Buffer... parts) {
    int length = SessionFrame.HEAD_BYTES - 4;
    for (Buffer part : parts) {
      length += part.length();
    }
    ByteBuf head = Unpooled.buffer(SessionFrame.HEAD_BYTES, SessionFrame.HEAD_BYTES);
    head.writeInt(length).writeByte(SessionFrame.VERSION).writeByte(kind.code());
    ByteBuf[] frame = new ByteBuf[1 + parts.length];
    frame[0] = head.writeInt(correlation);
    for (int i = 0; i < parts.length; i++) {
      // The caller may send the same buffer again, so Netty must not release it.
      frame[1 + i] = Unpooled.unreleasableBuffer(((BufferInternal) parts[i]).getByteBuf());
    }
    // One write: each may go out as a packet of its own.
    socket.writeMessage(Unpooled.wrappedUnmodifiableBuffer(frame));
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

  /** Address of the peer, for people. */
  public String remote() {
    return String.valueOf(socket.remoteAddress());
  }

  /** Writes what was sent, and closes the connection. A peer that does not read can delay that. */
  public Future<Void> close() {
    return socket.close();
  }

  /** Closes the connection without waiting for the peer. What was not written yet is lost. */
  public void closeNow() {
    socket.channelHandlerContext().close();
  }
}
