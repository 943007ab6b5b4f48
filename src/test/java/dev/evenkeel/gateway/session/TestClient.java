package dev.evenkeel.gateway.session;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The client's side of one connection, frame by frame. Its methods are for the test's thread. */
final class TestClient {
  private static final int BODY_BYTES_MAX = 8 << 20;

  /** Kept, because Vert.x closes the connections of one that nobody refers to. */
  private final NetClient client;

  private final Context context;
  private final NetSocket raw;
  private final FrameSocket socket;
  private final BlockingQueue<SessionFrame> frames = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  private TestClient(NetClient client, NetSocket raw) {
    this.client = client;
    this.context = Vertx.currentContext();
    this.raw = raw;
    socket = new FrameSocket(raw, BODY_BYTES_MAX);
    socket.onFrame(frames::add);
    socket.onFailure(failure -> {});
    socket.onClose(none -> closed.complete(null));
  }

  /** A connection that has said nothing. */
  static TestClient connect(Vertx vertx, int port) {
    return await(connecting(vertx, port));
  }

  static Future<TestClient> connecting(Vertx vertx, int port) {
    Promise<TestClient> promise = Promise.promise();
    NetClient client = vertx.createNetClient();
    vertx.runOnContext(
        none ->
            client
                .connect(port, "127.0.0.1")
                .map(raw -> new TestClient(client, raw))
                .onComplete(promise));
    return promise.future();
  }

  /** The id of a session. */
  static String session(int number) {
    return "s-%032x".formatted(number);
  }

  /** A connection that was welcomed. */
  static TestClient welcomed(Vertx vertx, int port, String session) {
    TestClient client = connect(vertx, port);
    client.hello(session);
    client.expect(FrameKind.WELCOME);
    return client;
  }

  void hello(String session) {
    hello(new Hello(List.of(1), session, "evenkeel", "test", null, 0));
  }

  void hello(Hello hello) {
    send(FrameKind.HELLO, 0, hello.toJson().toBuffer());
  }

  void send(FrameKind kind, int correlation, Buffer... parts) {
    on(socket -> socket.send(kind, correlation, parts));
  }

  /** Does not wait; may be called on any thread. */
  void ping() {
    context.runOnContext(none -> socket.send(FrameKind.PING, 0));
  }

  void request(int correlation, String address, Buffer body) {
    request(correlation, address, body, 30_000);
  }

  void request(int correlation, String address, Buffer body, long timeoutMillis) {
    send(FrameKind.REQUEST, correlation, SessionFrame.requestHead(address, timeoutMillis), body);
  }

  void listen(int correlation, String address) {
    send(FrameKind.LISTEN, correlation, SessionFrame.addressed(address));
  }

  /** Writes bytes that need not be a frame. */
  void write(Buffer bytes) {
    context.runOnContext(none -> raw.write(bytes));
  }

  /** Does something with the socket on its context, and waits until it is done. */
  void on(Consumer<FrameSocket> action) {
    Promise<Void> done = Promise.promise();
    context.runOnContext(
        none -> {
          action.accept(socket);
          done.complete();
        });
    await(done.future());
  }

  /** The next frame, whatever it is. */
  SessionFrame next() {
    try {
      SessionFrame frame = frames.poll(60, TimeUnit.SECONDS);
      assertThat(frame).as("a frame").isNotNull();
      return frame;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The next frame, which must be of this kind. */
  SessionFrame expect(FrameKind kind) {
    SessionFrame frame = next();
    assertThat(frame.kind()).as(frame.body().toString()).isEqualTo(kind);
    return frame;
  }

  /** The next frame, which must answer this request. */
  Buffer answer(int correlation) {
    SessionFrame frame = expect(FrameKind.ANSWER);
    assertThat(frame.correlation()).isEqualTo(correlation);
    return frame.body();
  }

  /** The next frame, which must refuse this request. */
  RefusedException refusal(int correlation) {
    SessionFrame frame = expect(FrameKind.REFUSAL);
    assertThat(frame.correlation()).isEqualTo(correlation);
    return frame.refused();
  }

  /** The reason of the GOODBYE that is the next frame; the node must close the connection, too. */
  String goodbye() {
    String reason = expect(FrameKind.GOODBYE).reason();
    awaitClosed();
    return reason;
  }

  int framesWaiting() {
    return frames.size();
  }

  void awaitClosed() {
    await(closed);
  }

  boolean isClosed() {
    return closed.isDone();
  }

  /** As a client that ends, or is killed. */
  void close() {
    on(FrameSocket::close);
    awaitClosed();
    await(client.close());
  }
}
