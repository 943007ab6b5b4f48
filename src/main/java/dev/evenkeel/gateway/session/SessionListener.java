package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.protocol.RefusedException;
import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Takes connections at the client port on one event loop. All listeners of a port share its socket,
 * and Vert.x gives each new connection to the next one.
 */
final class SessionListener extends VerticleBase {
  /** Connections that wait to be taken. */
  private static final int BACKLOG = 1_024;

  private static final long STOP_MILLIS_MAX = 1_000;

  private final SessionPort port;
  private final String host;
  private final int number;
  private final EventLoop spared;
  private final Set<SessionConnection> connections = new HashSet<>();

  /** Address of {@link SessionAddresses#SHARED} → the connections that listen there. */
  private final Map<String, Set<SessionConnection>> listening = new HashMap<>();

  /** Null on the event loop that is spared. */
  private NetServer server;

  private boolean stopping;
  private long nowMillis;
  private long tickNanos;

  /**
   * @param number of the port; a negative one stands for any free port, the same for all listeners
   *     with that number
   * @param spared on this event loop no connections are served; null: on any
   */
  SessionListener(SessionPort port, String host, int number, EventLoop spared) {
    this.spared = spared;
    this.port = port;
    this.host = host;
    this.number = number;
    SessionAddresses.SHARED.forEach(address -> listening.put(address, new HashSet<>()));
  }

  @Override
  public Future<?> start() {
    if (((ContextInternal) context).nettyEventLoop() == spared) {
      return Future.succeededFuture();
    }
    tickNanos = System.nanoTime();
    vertx.setPeriodic(port.limits().tickMillis(), timer -> tick());
    NetServerOptions options =
        new NetServerOptions().setTcpNoDelay(true).setReuseAddress(true).setAcceptBacklog(BACKLOG);
    if (port.tls() != null) {
      port.tls().applyTo(options);
    }
    server = vertx.createNetServer(options).connectHandler(this::connected);
    if (port.tls() != null) {
      // The TLS engine logs a failed handshake, and knows where it came from.
      server.exceptionHandler(failure -> {});
    }
    return server.listen(number, host);
  }

  /** The port that it listens on; 0 if it does not listen. */
  int actualPort() {
    return server == null ? 0 : server.actualPort();
  }

  private void connected(NetSocket accepted) {
    if (stopping) {
      accepted.close();
      return;
    }
    FrameSocket socket =
        new FrameSocket(
            accepted, port.limits().get(SessionOptions.HELLO_BYTES_MAX), port.sessions());
    try {
      came();
    } catch (RefusedException e) {
      port.meters().refused(e);
      port.meters().closed(CloseReason.LIMIT);
      socket.onFrame(frame -> {});
      socket.send(FrameKind.GOODBYE, 0, Buffer.buffer(e.getMessage()));
      socket.close();
      return;
    }
    SessionConnection connection = new SessionConnection(this, port, socket);
    connections.add(connection);
    SessionConnection goes =
        port.strangers().came(connection, Strangers.source(accepted.remoteAddress()));
    if (goes != null) {
      goes.makeRoom();
    }
  }

  /** If the node is full, one goes that has not said HELLO: users leave room for each other. */
  private void came() {
    try {
      port.sessions().came();
    } catch (RefusedException full) {
      SessionConnection goes = port.strangers().evict();
      if (goes == null) {
        throw full;
      }
      port.sessions().cameInstead();
      goes.makeRoom();
    }
  }

  /** Runs a task where all connections of this listener are used. */
  void later(Runnable task) {
    context.runOnContext(none -> task.run());
  }

  /** The time since this listener started; it does not go on while the node is held up. */
  long nowMillis() {
    return nowMillis;
  }

  /**
   * Checks the deadlines of all connections. After a pause of the whole node, clients have sent
   * what is not read yet, so a long pause counts as a short one.
   */
  private void tick() {
    long nanos = System.nanoTime();
    long elapsedMillis = TimeUnit.NANOSECONDS.toMillis(nanos - tickNanos);
    tickNanos = nanos;
    nowMillis += Math.min(elapsedMillis, 2 * port.limits().tickMillis());
    List.copyOf(connections).forEach(connection -> connection.tick(nowMillis));
  }

  void forget(SessionConnection connection) {
    connections.remove(connection);
  }

  /** A connection listens at an address of {@link SessionAddresses#SHARED}. */
  void listen(String address, SessionConnection connection) {
    listening.get(address).add(connection);
  }

  void unlisten(String address, SessionConnection connection) {
    Set<SessionConnection> all = listening.get(address);
    if (all != null) {
      all.remove(connection);
    }
  }

  /**
   * Pushes a message to all connections that listen at an address of {@link
   * SessionAddresses#SHARED}. May be called on any thread.
   */
  void push(String address, Buffer body) {
    if (context == null) {
      // It is about to start, and has no connections yet.
      return;
    }
    context.runOnContext(
        none -> {
          Buffer head = SessionFrame.addressed(address);
          List.copyOf(listening.get(address))
              .forEach(connection -> connection.push(head, body, null));
        });
  }

  /** Says GOODBYE to all clients, and gives it a moment to go out. */
  @Override
  public Future<?> stop() {
    stopping = true;
    List.copyOf(connections).forEach(SessionConnection::stop);
    return server == null
        ? Future.succeededFuture()
        : server.shutdown(STOP_MILLIS_MAX, TimeUnit.MILLISECONDS);
  }
}
