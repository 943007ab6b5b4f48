package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One connection to the client port of a node: the handshake, the requests in flight, and whether
 * the node is still there.
 *
 * <p>Everything happens on one event loop. Methods that are not private may be called on any
 * thread; a call on that event loop needs no hop.
 */
final class NodeConnection {
  /** What a connection reports, on its event loop. */
  interface Owner {
    /** The node named the nodes of the cluster again. */
    void learned(Welcome welcome);

    void pushed(NodeConnection connection, SessionFrame push);

    /** An open connection has ended. Called once. */
    void ended(NodeConnection connection, String why);
  }

  /** Longest body of a frame before limits are agreed: a WELCOME with all nodes. */
  private static final int HANDSHAKE_BYTES_MAX = 64 << 10;

  /** How often it looks for requests whose time has passed, and whether the node is there. */
  private static final long TICK_MILLIS = 100;

  /** The node ends a request when its time has passed. This is for a node that does not. */
  private static final long GRACE_MILLIS = 200;

  /** The node registers an address with the cluster, which waits for a node that died. */
  private static final long LISTEN_MILLIS_MAX = 10_000;

  /** A web server answers a line, though it makes no sense to it; then the mistake is clear. */
  private static final String LINE_END = "\r\n\r\n";

  private final EventLoop loop;
  private final HostPort address;
  private final Hello hello;
  private final Owner owner;
  private final Promise<NodeConnection> opened = Promise.promise();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicLong bytesInFlight = new AtomicLong();

  // The rest belongs to the event loop. Other threads read the volatile fields.
  private final Map<Integer, Pending> pending = new HashMap<>();
  private FrameSocket frames;
  private volatile Welcome welcome;
  private volatile boolean ended;
  private KeepAlive keepAlive;
  private java.util.concurrent.Future<?> tick;
  private int lastCorrelation;
  private boolean sent;

  /** How many bytes had come at the last tick. */
  private long bytesReceived;

  /**
   * A REQUEST or LISTEN without an answer.
   *
   * @param bytes length of its body, or -1 if it does not count as a request in flight
   */
  private record Pending(String address, Promise<Buffer> promise, long untilMillis, long bytes) {}

  private NodeConnection(ContextInternal context, HostPort address, Hello hello, Owner owner) {
    this.loop = context.nettyEventLoop();
    this.address = address;
    this.hello = hello;
    this.owner = owner;
  }

  /**
   * Connects and says HELLO. Completes, on the event loop, when the node has said WELCOME; fails
   * with {@link NoSession}.
   *
   * @param context whose event loop it uses
   * @param limitMillis how long connecting and the handshake may take together
   */
  static Future<NodeConnection> open(
      NetClient client,
      ContextInternal context,
      HostPort address,
      Hello hello,
      long limitMillis,
      Owner owner) {
    NodeConnection connection = new NodeConnection(context, address, hello, owner);
    context.runOnContext(none -> connection.connect(client, limitMillis));
    return connection.opened.future();
  }

  private void connect(NetClient client, long limitMillis) {
    loop.schedule(
        () -> notOpened(NoSession.silent(address, limitMillis)),
        limitMillis,
        TimeUnit.MILLISECONDS);
    client
        .connect(address.port(), address.host())
        .onComplete(this::connected, failure -> notOpened(NoSession.failed(address, failure)));
  }

  private void connected(NetSocket socket) {
    if (ended) {
      socket.close();
      return;
    }
    frames = new FrameSocket(socket, HANDSHAKE_BYTES_MAX);
    frames.onFrame(this::received);
    frames.onFailure(this::failed);
    frames.onClose(none -> closed());
    frames.send(FrameKind.HELLO, 0, hello.toJson().toBuffer().appendString(LINE_END));
  }

  private void notOpened(NoSession why) {
    if (opened.tryFail(why)) {
      end(why.getMessage());
    }
  }

  /** The connection failed, or the node sent a frame that makes no sense. */
  private void failed(Throwable cause) {
    if (welcome == null) {
      notOpened(NoSession.broken(address, cause));
    } else {
      end(String.valueOf(cause.getMessage()));
    }
  }

  private void closed() {
    if (welcome == null) {
      notOpened(NoSession.closed(address));
    } else {
      end("the node closed the connection");
    }
  }

  private void received(SessionFrame frame) {
    if (ended) {
      return;
    }
    try {
      if (welcome == null) {
        handshake(frame);
      } else {
        handle(frame);
      }
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private void handshake(SessionFrame frame) {
    switch (frame.kind()) {
      case WELCOME -> {
        Welcome said = welcome(frame);
        if (said.version() != SessionFrame.VERSION) {
          throw Refusal.WRONG_VERSION.error(
              "version %s of the protocol, but this program speaks %s",
              said.version(), SessionFrame.VERSION);
        }
        frames.bodyBytesMax(Math.max(said.limits().bodyBytesMax(), Hello.ANSWER_BYTES_MAX));
        keepAlive = new KeepAlive(said.limits().keepAliveMillis(), MonotonicClock.millis());
        tick =
            loop.scheduleWithFixedDelay(
                this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        welcome = said;
        opened.complete(this);
      }
      case GOODBYE -> notOpened(NoSession.refused(address, frame));
      case REFUSAL -> notOpened(NoSession.unauthenticated(address, frame.refused()));
      default -> throw Refusal.INVALID.error("a frame %s instead of WELCOME", frame.kind());
    }
  }

  private static Welcome welcome(SessionFrame frame) {
    try {
      return Welcome.fromJson(new JsonObject(frame.body()));
    } catch (RuntimeException e) {
      throw Refusal.INVALID.error("a WELCOME that cannot be read: %s", e);
    }
  }

  private void handle(SessionFrame frame) {
    switch (frame.kind()) {
      case ANSWER -> {
        Pending answered = taken(frame.correlation());
        if (answered != null) {
          answered.promise.tryComplete(frame.body());
        }
      }
      case REFUSAL -> {
        RefusedException refused = frame.refused();
        Pending answered = taken(frame.correlation());
        if (answered != null) {
          answered.promise.tryFail(refused);
        }
      }
      case PUSH -> owner.pushed(this, frame);
      case PING -> send(FrameKind.PONG, frame.correlation());
      case PONG -> {
        // That something came is all it says.
      }
      case WELCOME -> owner.learned(welcome(frame));
      case GOODBYE -> end("the node said goodbye: " + frame.reason());
      default -> throw Refusal.INVALID.error("a frame %s from a node", frame.kind());
    }
  }

  /** The request of an answer, no longer in flight; null if its time had passed. */
  private Pending taken(int correlation) {
    Pending answered = pending.remove(correlation);
    if (answered != null) {
      release(answered.bytes);
    }
    return answered;
  }

  private void tick() {
    if (ended) {
      return;
    }
    long now = MonotonicClock.millis();
    int timedOut = keepAlive.stoodStill(now) ? 0 : expire(now);
    boolean wasSent = sent;
    sent = false;
    boolean received = frames.bytesReceived() != bytesReceived;
    bytesReceived = frames.bytesReceived();
    switch (keepAlive.tick(now, wasSent, received, timedOut)) {
      case PING -> send(FrameKind.PING, 0);
      case GONE -> end("the node does not answer");
      case GOOD -> {
        // Nothing to do.
      }
    }
  }

  /** Fails the requests whose time has passed; gives their number. */
  private int expire(long now) {
    List<Pending> late = new ArrayList<>();
    for (Iterator<Pending> each = pending.values().iterator(); each.hasNext(); ) {
      Pending request = each.next();
      if (now - request.untilMillis >= 0) {
        each.remove();
        release(request.bytes);
        late.add(request);
      }
    }
    // Callers may send other requests at once.
    late.forEach(each -> fail(each, " has not answered in time; it may be paused or overloaded"));
    return late.size();
  }

  private static void fail(Pending request, String how) {
    request.promise.tryFail(
        new RefusedException(Refusal.INDETERMINATE, Addresses.who(request.address) + how));
  }

  private void end(String why) {
    if (frames != null) {
      frames.abort();
    }
    finish(why);
  }

  private void finish(String why) {
    if (ended) {
      return;
    }
    ended = true;
    if (tick != null) {
      tick.cancel(false);
    }
    if (welcome == null) {
      return;
    }
    owner.ended(this, why);
    List<Pending> left = List.copyOf(pending.values());
    pending.clear();
    left.forEach(
        each -> {
          release(each.bytes);
          fail(each, " has not answered before the connection ended: " + why);
        });
  }

  /** Whether requests can be sent. */
  boolean isOpen() {
    return welcome != null && !ended;
  }

  /** Id of the node at the other end. */
  String node() {
    return welcome.node();
  }

  /** What the node said first. */
  Welcome welcome() {
    return welcome;
  }

  /** Id of the session that this connection belongs to. */
  String session() {
    return hello.session();
  }

  /**
   * Sends a request. The promise fails as {@code Link.request} says.
   *
   * @param traceparent the span of the request, or null
   */
  void request(
      String to, Buffer body, long timeoutMillis, String traceparent, Promise<Buffer> promise) {
    Buffer head = SessionFrame.requestHead(to, timeoutMillis);
    Welcome.Limits limits = welcome.limits();
    if (head.length() + body.length() > limits.bodyBytesMax()) {
      promise.fail(
          Refusal.TOO_LARGE.error(
              "a request of %s bytes: node %s takes at most %s",
              body.length(), node(), limits.bodyBytesMax() - head.length()));
      return;
    }
    int requests = inFlight.incrementAndGet();
    long bytes = bytesInFlight.addAndGet(body.length());
    if (requests > limits.requestsInFlightMax() || bytes > limits.requestBytesInFlightMax()) {
      release(body.length());
      promise.fail(
          Refusal.OVERLOADED.error(
              "node %s takes at most %s requests of %s bytes together at a time from one client:"
                  + " wait for answers",
              node(), limits.requestsInFlightMax(), limits.requestBytesInFlightMax()));
      return;
    }
    long until =
        MonotonicClock.millis() + Math.min(timeoutMillis, Integer.MAX_VALUE) + GRACE_MILLIS;
    Pending request = new Pending(to, promise, until, body.length());
    send(request, welcome.traces() ? traceparent : null, FrameKind.REQUEST, head, body);
  }

  /** Sends a small request that does not count as one in flight. */
  void requestUncounted(String to, Buffer body, long timeoutMillis, Promise<Buffer> promise) {
    long until = MonotonicClock.millis() + timeoutMillis + GRACE_MILLIS;
    send(
        new Pending(to, promise, until, -1),
        null,
        FrameKind.REQUEST,
        SessionFrame.requestHead(to, timeoutMillis),
        body);
  }

  /** Listens at an address from now on. Completes when the node has answered. */
  Future<Buffer> listen(String to) {
    Promise<Buffer> promise = Promise.promise();
    send(
        new Pending(to, promise, MonotonicClock.millis() + LISTEN_MILLIS_MAX, -1),
        null,
        FrameKind.LISTEN,
        SessionFrame.addressed(to));
    return promise.future();
  }

  private void send(Pending request, String traceparent, FrameKind kind, Buffer... parts) {
    boolean accepted =
        onLoop(
            () -> {
              if (ended) {
                notSent(request);
              } else {
                pending.put(nextCorrelation(), request);
                if (traceparent != null) {
                  send(FrameKind.TRACE, lastCorrelation, Buffer.buffer(traceparent));
                }
                send(kind, lastCorrelation, parts);
              }
            });
    if (!accepted) {
      notSent(request);
    }
  }

  private void notSent(Pending request) {
    release(request.bytes);
    request.promise.tryFail(
        new RefusedException(
            Refusal.UNAVAILABLE, "the connection to node " + node() + " has ended"));
  }

  private void release(long bytes) {
    if (bytes >= 0) {
      inFlight.decrementAndGet();
      bytesInFlight.addAndGet(-bytes);
    }
  }

  private int nextCorrelation() {
    do {
      lastCorrelation++;
    } while (lastCorrelation == 0 || pending.containsKey(lastCorrelation));
    return lastCorrelation;
  }

  void unlisten(String to) {
    onLoop(() -> sendIfOpen(FrameKind.UNLISTEN, 0, SessionFrame.addressed(to)));
  }

  /**
   * Answers a PUSH.
   *
   * @param correlation of the PUSH
   */
  void answer(int correlation, Buffer answer) {
    int bytesMax = welcome.limits().bodyBytesMax();
    Buffer body =
        answer.length() <= bytesMax
            ? answer
            : Frames.refusal(
                Refusal.TOO_LARGE,
                "an answer of "
                    + answer.length()
                    + " bytes: at most "
                    + bytesMax
                    + " pass the client port");
    onLoop(() -> sendIfOpen(FrameKind.PUSH_ANSWER, correlation, body));
  }

  /** Says GOODBYE and closes an open connection. Requests in flight fail. */
  Future<Void> close(String reason) {
    Promise<Void> closed = Promise.promise();
    boolean accepted =
        onLoop(
            () -> {
              sendIfOpen(FrameKind.GOODBYE, 0, Buffer.buffer(reason));
              frames.close().onComplete(closed);
              finish(reason);
            });
    if (!accepted) {
      closed.complete();
    }
    return closed.future();
  }

  private void sendIfOpen(FrameKind kind, int correlation, Buffer... parts) {
    if (!ended) {
      send(kind, correlation, parts);
    }
  }

  private void send(FrameKind kind, int correlation, Buffer... parts) {
    sent = true;
    frames.send(kind, correlation, parts);
  }

  /** Whether the task runs: it does not once the Vert.x is closed, and with it the connection. */
  private boolean onLoop(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
      return true;
    }
    try {
      loop.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }
}
