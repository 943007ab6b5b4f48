package dev.evenkeel.gateway;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.DelegatingSslContext;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.spi.tls.DefaultSslContextFactory;
import io.vertx.core.spi.tls.SslContextFactory;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * The TLS of the JDK, which also tells from which address a connection came that did not begin it:
 * Vert.x only tells why. It closes the first ones while too many connections are beginning TLS, see
 * {@link Strangers}: the ports count connections only after that.
 */
final class NamingTlsEngine extends JdkSSLEngineOptions {
  /** "Unexpected message", as TLS says it: who speaks no TLS learns what is spoken here. */
  private static final byte[] ALERT = {21, 3, 3, 0, 2, 2, 10};

  private final BiConsumer<String, Throwable> failed;

  /** Connections that are beginning TLS. */
  private final Strangers<ChannelHandlerContext> beginning;

  /**
   * @param beginningMax most connections that begin TLS at a time
   * @param failed gets the address and the cause, on an event loop
   */
  NamingTlsEngine(int beginningMax, BiConsumer<String, Throwable> failed) {
    this(new Strangers<>(beginningMax, any -> true), failed);
  }

  private NamingTlsEngine(
      Strangers<ChannelHandlerContext> beginning, BiConsumer<String, Throwable> failed) {
    this.beginning = beginning;
    this.failed = failed;
  }

  @Override
  public JdkSSLEngineOptions copy() {
    return new NamingTlsEngine(beginning, failed);
  }

  @Override
  public SslContextFactory sslContextFactory() {
    return new DefaultSslContextFactory(SslProvider.JDK, false) {
      @Override
      public SslContext create() throws SSLException {
        return new Context(super.create());
      }
    };
  }

  /** Vert.x gives the executor of each handler. */
  private final class Context extends DelegatingSslContext {
    Context(SslContext wrapped) {
      super(wrapped);
    }

    @Override
    protected SslHandler newHandler(
        ByteBufAllocator allocator, boolean startTls, Executor executor) {
      return new Naming(newEngine(allocator), startTls, executor);
    }

    @Override
    protected SslHandler newHandler(
        ByteBufAllocator allocator, String host, int port, boolean startTls, Executor executor) {
      return new Naming(newEngine(allocator, host, port), startTls, executor);
    }

    @Override
    protected void initEngine(SSLEngine engine) {}
  }

  private final class Naming extends SslHandler {
    Naming(SSLEngine engine, boolean startTls, Executor executor) {
      super(engine, startTls, executor);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) throws Exception {
      SocketAddress remote = context.channel().remoteAddress();
      ChannelHandlerContext goes =
          beginning.came(
              context,
              Strangers.source(
                  remote instanceof InetSocketAddress address ? address.getAddress() : null));
      handshakeFuture()
          .addListener(
              done -> {
                beginning.left(context);
                if (!done.isSuccess()) {
                  if (done.cause() instanceof NotSslRecordException) {
                    context.writeAndFlush(Unpooled.wrappedBuffer(ALERT));
                  }
                  failed.accept(host(remote), done.cause());
                }
              });
      super.handlerAdded(context);
      if (goes != null) {
        goes.close();
      }
    }

    private static String host(SocketAddress remote) {
      return remote instanceof InetSocketAddress address && address.getAddress() != null
          ? address.getAddress().getHostAddress()
          : String.valueOf(remote);
    }
  }
}
