package dev.evenkeel.client.internal.session;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** The client port of a node, which returns what it gets and does what else a test says. */
final class FakeNode {
  static final String HOST = "127.0.0.1";
  static final Welcome.Limits LIMITS = new Welcome.Limits(4 << 20, 100, 64 << 20, 5_000);

  /** A request to this address is refused. */
  static final String NOBODY = "nobody";

  final String id;
  final int port;

  /** What clients said first, one for each connection. */
  final List<Hello> hellos = new CopyOnWriteArrayList<>();

  /** The addresses of the requests that came. */
  final List<String> requests = new CopyOnWriteArrayList<>();

  /** Where clients listen, once for each LISTEN. */
  final List<String> listens = new CopyOnWriteArrayList<>();

  /** What clients said last. */
  final List<String> goodbyes = new CopyOnWriteArrayList<>();

  final AtomicInteger pings = new AtomicInteger();

  /** Frames of other kinds: PONGs. */
  final List<SessionFrame> others = new CopyOnWriteArrayList<>();

  /** Its answer to HELLO. */
  volatile Welcome welcome;

  /** If not null, a GOODBYE with this reason takes the place of WELCOME. */
  volatile String refusal;

  /** Takes frames and answers none. */
  volatile boolean silent;

  /** Answers no requests, but PINGs. */
  volatile boolean holding;

  /** If not null, each LISTEN is refused for this reason. */
  volatile Refusal listenRefusal;

  private final Vertx vertx;
  private final List<Peer> peers = new CopyOnWriteArrayList<>();
  private NetServer server;

  FakeNode(Vertx vertx, String id, int port) {
    this.vertx = vertx;
    this.id = id;
    this.port = port;
    welcome = welcome(LIMITS, this);
  }

  /** Its WELCOME if the cluster consists of these nodes. */
  Welcome welcome(Welcome.Limits limits, FakeNode... nodes) {
    List<NodePlace> all =
        Stream.of(nodes).map(each -> new NodePlace(each.id, HOST, each.port)).toList();
    return new Welcome(1, id, "a fake", all, limits);
  }

  FakeNode start() {
    server = vertx.createNetServer().connectHandler(socket -> new Peer(socket));
    await(server.listen(port, HOST));
    return this;
  }

  /** Breaks all connections, and takes no more. */
  void stop() {
    peers.clear();
    listens.clear();
    await(server.close());
  }

  /** Breaks all connections. */
  void cut() {
    peers.forEach(peer -> peer.context.runOnContext(none -> peer.frames.abort()));
  }

  int connections() {
    return peers.size();
  }

  /** Sends a PUSH to every client that listens there. */
  void publish(String address, String text) {
    peers.forEach(peer -> peer.push(address, text, 0));
  }

  /** Sends a PUSH that wants an answer to one client; fails if there is none. */
  Future<Buffer> ask(String address, String text) {
    Promise<Buffer> answer = Promise.promise();
    Peer peer = peers.get(0);
    peer.context.runOnContext(
        none -> {
          peer.asked.put(++peer.correlation, answer);
          peer.push(address, text, peer.correlation);
        });
    return answer.future();
  }

  /** Sends the bytes of a PUSH one by one, with pauses. */
  void publishSlowly(String address, String text, long pauseMillis) {
    Peer peer = peers.get(0);
    Buffer body = SessionFrame.addressed(address).appendString(text);
    Buffer frame =
        Buffer.buffer()
            .appendInt(SessionFrame.HEAD_BYTES - 4 + body.length())
            .appendByte((byte) SessionFrame.VERSION)
            .appendByte((byte) FrameKind.PUSH.code())
            .appendInt(0)
            .appendBuffer(body);
    peer.context.runOnContext(none -> peer.trickle(frame, 0, pauseMillis));
  }

  void sendPing() {
    peers.forEach(peer -> peer.send(FrameKind.PING, 77));
  }

  /** One connection of a client. */
  private final class Peer {
    private final Context context = vertx.getOrCreateContext();
    private final NetSocket socket;
    private final FrameSocket frames;
    private final Map<Integer, Promise<Buffer>> asked = new ConcurrentHashMap<>();
    private int correlation;

    Peer(NetSocket socket) {
      this.socket = socket;
      frames = new FrameSocket(socket, 8 << 20);
      frames.onFrame(this::received);
      frames.onFailure(failure -> frames.abort());
      frames.onClose(none -> peers.remove(this));
    }

    private void received(SessionFrame frame) {
      if (silent) {
        return;
      }
      switch (frame.kind()) {
        case HELLO -> hello(Hello.fromJson(new JsonObject(frame.body())));
        case REQUEST -> request(frame);
        case LISTEN -> {
          if (listenRefusal != null) {
            refuse(frame, listenRefusal);
          } else {
            listens.add(frame.address());
            send(FrameKind.ANSWER, frame.correlation());
          }
        }
        case UNLISTEN -> listens.remove(frame.address());
        case PUSH_ANSWER -> asked.remove(frame.correlation()).complete(frame.body());
        case PING -> {
          pings.incrementAndGet();
          send(FrameKind.PONG, frame.correlation());
        }
        case GOODBYE -> goodbyes.add(frame.reason());
        default -> others.add(frame);
      }
    }

    private void hello(Hello hello) {
      hellos.add(hello);
      if (refusal != null) {
        frames.send(FrameKind.GOODBYE, 0, Buffer.buffer(refusal));
        frames.close();
      } else {
        peers.add(this);
        send(FrameKind.WELCOME, 0, welcome.toJson().toBuffer());
      }
    }

    private void request(SessionFrame frame) {
      requests.add(frame.address());
      if (frame.address().equals(NOBODY)) {
        refuse(frame, Refusal.UNAVAILABLE);
      } else if (!holding) {
        send(FrameKind.ANSWER, frame.correlation(), frame.requestBody());
      }
    }

    private void refuse(SessionFrame frame, Refusal why) {
      send(FrameKind.REFUSAL, frame.correlation(), SessionFrame.refusal(why, "for a test"));
    }

    private void push(String address, String text, int of) {
      send(FrameKind.PUSH, of, SessionFrame.addressed(address), Buffer.buffer(text));
    }

    private void trickle(Buffer bytes, int from, long pauseMillis) {
      socket.write(bytes.slice(from, from + 1));
      if (from + 1 < bytes.length()) {
        vertx.setTimer(pauseMillis, timer -> trickle(bytes, from + 1, pauseMillis));
      }
    }

    private void send(FrameKind kind, int of, Buffer... parts) {
      context.runOnContext(none -> frames.send(kind, of, parts));
    }
  }
}
