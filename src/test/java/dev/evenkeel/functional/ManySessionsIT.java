package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.TestUsers;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Applications that are connected and do nothing cost a node little. */
@Tag("full")
class ManySessionsIT {
  private static final int SESSIONS = 10_000;
  private static final int AT_ONCE = 200;
  private static final long HEAP_BYTES_MAX = 300_000_000;

  /** Of a node, and of this JVM, besides the connections. */
  private static final int OTHER_FILES = 4_000;

  private static final int BODY_BYTES_MAX = 4 << 20;

  @TempDir Path directory;
  @Closing private final Vertx vertx = Vertx.vertx();
  private final NetClient client = vertx.createNetClient();
  private final List<Session> sessions = new CopyOnWriteArrayList<>();

  private record Session(Context context, FrameSocket socket, Promise<Buffer> answered) {}

  @Test
  void tenThousandIdleSessionsCostLessThan300MegabytesOfHeap() throws Exception {
    Assumptions.assumeTrue(
        Footprint.filesMax() >= SESSIONS + OTHER_FILES,
        "too few open files are allowed: see ulimit -n");
    try (Node node =
        new Node(directory.resolve("node"))
            .inJvm(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"))
            .start()) {
      Footprint before = Footprint.of(node.pid());
      vertx.setPeriodic(
          3_000,
          timer ->
              sessions.forEach(
                  each ->
                      each.context().runOnContext(none -> each.socket().send(FrameKind.PING, 0))));
      for (int i = 0; i < SESSIONS; i += AT_ONCE) {
        List<Future<?>> some = new ArrayList<>();
        for (int j = 0; j < AT_ONCE; j++) {
          some.add(open(node.port, "s-%032x".formatted(i + j)));
        }
        await(Future.all(some));
      }
      Footprint after = Footprint.of(node.pid());
      System.out.println("sessions: none " + before + ", " + SESSIONS + " " + after);
      assertThat(after.liveBytes() - before.liveBytes()).isLessThan(HEAP_BYTES_MAX);
      assertThat(value(node, "evenkeel_sessions")).isEqualTo(SESSIONS);
      List<Future<?>> answers = new ArrayList<>();
      for (Session each : sessions) {
        answers.add(each.answered().future());
        each.context()
            .runOnContext(
                none ->
                    each.socket()
                        .send(
                            FrameKind.REQUEST,
                            7,
                            SessionFrame.requestHead(Addresses.VIEW, 30_000),
                            new JsonObject().toBuffer()));
      }
      await(Future.all(answers));
      assertThat(value(node, "evenkeel_sessions")).as("none was cut off").isEqualTo(SESSIONS);
      await(client.close());
      Awaitility.await("the node has seen all of them end")
          .until(() -> value(node, "evenkeel_session_connections") == 0);
    }
  }

  /** A session that listens, as that of every application does. */
  private Future<?> open(int port, String id) {
    return client.connect(port, "127.0.0.1").compose(raw -> open(raw, id));
  }

  private Future<?> open(NetSocket raw, String id) {
    FrameSocket socket = new FrameSocket(raw, BODY_BYTES_MAX);
    Session session = new Session(Vertx.currentContext(), socket, Promise.promise());
    Promise<Void> listening = Promise.promise();
    socket.onFrame(
        frame -> {
          switch (frame.kind()) {
            case WELCOME -> {
              sessions.add(session);
              listen(socket, 1, Addresses.LEADER_CHANGES);
              listen(socket, 2, Addresses.TOPIC_CHANGES);
            }
            case ANSWER -> {
              if (frame.correlation() == 2) {
                listening.complete();
              } else if (frame.correlation() == 7) {
                session.answered().complete(frame.body());
              }
            }
            case PONG, PUSH -> {}
            default -> {
              String what = frame.kind() + " " + frame.body();
              listening.tryFail(what);
              session.answered().tryFail(what);
            }
          }
        });
    socket.onFailure(listening::tryFail);
    socket.onClose(none -> listening.tryFail("closed"));
    Hello hello = new Hello(List.of(1), id, "evenkeel", "test", TestUsers.token(), 0);
    socket.send(FrameKind.HELLO, 0, hello.toJson().toBuffer());
    return listening.future();
  }

  private static void listen(FrameSocket socket, int correlation, String address) {
    socket.send(FrameKind.LISTEN, correlation, SessionFrame.addressed(address));
  }

  private static double value(Node node, String name) {
    return PrometheusText.parse(node.get("/metrics").body()).value(name);
  }
}
