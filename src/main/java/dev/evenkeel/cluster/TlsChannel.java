package dev.evenkeel.cluster;

import com.hazelcast.internal.networking.Channel;
import com.hazelcast.internal.networking.HandlerStatus;
import com.hazelcast.internal.networking.InboundHandler;
import com.hazelcast.internal.networking.OutboundHandler;
import dev.evenkeel.util.LogLimiter;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.tls.TlsFailures;
import java.io.EOFException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two handlers that put TLS into one connection of Hazelcast. Hazelcast calls them on two
 * threads, one that reads and one that writes; the engine is locked meanwhile. When one of them
 * waits for the other, as in a handshake, it blocks its pipeline, and the other wakes it up.
 */
final class TlsChannel {
  private static final Logger LOG = LoggerFactory.getLogger(TlsChannel.class);
  private static final LogLimiter STRANGERS = new LogLimiter();

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final Channel channel;
  private final SSLEngine engine;
  private final Decryption decryption;
  private final Encryption encryption;

  TlsChannel(Channel channel, SSLEngine engine) throws SSLException {
    this.channel = channel;
    this.engine = engine;
    decryption = new Decryption();
    encryption = new Encryption();
    engine.beginHandshake();
  }

  InboundHandler<ByteBuffer, ByteBuffer> decryption() {
    return decryption;
  }

  OutboundHandler<ByteBuffer, ByteBuffer> encryption() {
    return encryption;
  }

  /** Logs, once a minute and source, that a connection has not begun TLS. */
  private void tell(SSLException failure) {
    if (channel.isClientMode()
        || !(channel.remoteSocketAddress() instanceof InetSocketAddress remote)) {
      return;
    }
    String source = remote.getAddress().getHostAddress();
    if (STRANGERS.mayLog(source, MonotonicClock.millis())) {
      LOG.warn(
          "Hazelcast: a connection from {} has not begun TLS: {}",
          source,
          TlsFailures.reason(failure));
    }
  }

  /** Where the handshake is, once all that can be computed now is. */
  private HandshakeStatus status() {
    HandshakeStatus status = engine.getHandshakeStatus();
    while (status == HandshakeStatus.NEED_TASK) {
      for (Runnable task = engine.getDelegatedTask();
          task != null;
          task = engine.getDelegatedTask()) {
        task.run();
      }
      status = engine.getHandshakeStatus();
    }
    return status;
  }

  /** As in Hazelcast's own handlers: a buffer that is read from becomes one that is written to. */
  private static void writable(ByteBuffer buffer) {
    if (buffer.hasRemaining()) {
      buffer.compact();
    } else {
      buffer.clear();
    }
  }

  private static void move(ByteBuffer from, ByteBuffer to) {
    int bytes = Math.min(from.remaining(), to.remaining());
    to.put(to.position(), from, from.position(), bytes);
    to.position(to.position() + bytes);
    from.position(from.position() + bytes);
  }

  /** From the socket. */
  private final class Decryption extends InboundHandler<ByteBuffer, ByteBuffer> {
    /** What is decrypted and did not fit into the next handler's buffer, to be read from. */
    private final ByteBuffer plain =
        ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);

    @Override
    public void handlerAdded() {
      initSrcBuffer(2 * engine.getSession().getPacketBufferSize());
    }

    @Override
    public HandlerStatus onRead() throws Exception {
      src.flip();
      try {
        synchronized (engine) {
          return decrypt();
        }
      } catch (SSLException e) {
        tell(e);
        throw e;
      } finally {
        writable(src);
      }
    }

    private HandlerStatus decrypt() throws Exception {
      while (true) {
        move(plain, dst);
        if (plain.hasRemaining()) {
          return HandlerStatus.DIRTY;
        }
        HandshakeStatus before = status();
        if (before == HandshakeStatus.NEED_WRAP) {
          channel.outboundPipeline().wakeup();
          return HandlerStatus.BLOCKED;
        }
        plain.clear();
        SSLEngineResult result;
        try {
          result = engine.unwrap(src, plain);
        } finally {
          plain.flip();
        }
        switch (result.getStatus()) {
          case BUFFER_UNDERFLOW:
            return HandlerStatus.CLEAN;
          case CLOSED:
            throw new EOFException("the other side has closed the connection");
          case BUFFER_OVERFLOW:
            throw new SSLException("a record is longer than TLS allows");
          default:
        }
        if (before != HandshakeStatus.NOT_HANDSHAKING
            && status() == HandshakeStatus.NOT_HANDSHAKING) {
          channel.outboundPipeline().wakeup();
        }
      }
    }
  }

  /** To the socket. */
  private final class Encryption extends OutboundHandler<ByteBuffer, ByteBuffer> {
    @Override
    public void handlerAdded() {
      initDstBuffer(2 * engine.getSession().getPacketBufferSize());
    }

    @Override
    public HandlerStatus onWrite() throws Exception {
      writable(dst);
      try {
        synchronized (engine) {
          return encrypt();
        }
      } catch (SSLException e) {
        // Of a certificate that was refused while this side had something to send.
        tell(e);
        throw e;
      } finally {
        dst.flip();
      }
    }

    private HandlerStatus encrypt() throws Exception {
      while (true) {
        HandshakeStatus before = status();
        boolean open = before == HandshakeStatus.NOT_HANDSHAKING;
        if (open && !src.hasRemaining()) {
          return HandlerStatus.CLEAN;
        }
        if (!open && before != HandshakeStatus.NEED_WRAP) {
          // The other side's turn.
          return HandlerStatus.BLOCKED;
        }
        SSLEngineResult result = engine.wrap(open ? src : NOTHING, dst);
        switch (result.getStatus()) {
          case BUFFER_OVERFLOW:
            return HandlerStatus.DIRTY;
          case CLOSED:
            throw new EOFException("the connection is closed");
          default:
        }
        if (!open && status() != HandshakeStatus.NEED_WRAP) {
          channel.inboundPipeline().wakeup();
        }
      }
    }
  }
}
