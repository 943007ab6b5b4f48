package dev.evenkeel.gateway.page;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.gateway.http.PageRoutes;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * A node's web server as the page sees it: the page itself, and {@code /ws/live} by the contract,
 * with a state that the test sets. What the test asks for has happened when the call returns.
 */
public final class FakeLive implements AutoCloseable {
  private static final long BEAT_MILLIS = 1000;

  private final Vertx vertx = Vertx.vertx();
  private final List<ServerWebSocket> sockets = new ArrayList<>();
  private HttpServer server;
  private JsonObject state;
  private long seq;
  private int connections;
  private boolean silent;
  private volatile boolean refusing;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final List<Asked> asked = new CopyOnWriteArrayList<>();
  private final int port;

  private record Answer(int status, Object body) {}

  /**
   * A request of the page to the API.
   *
   * @param what method, path and query: {@code POST /api/groups/billing/pause}
   * @param body empty without one
   */
  public record Asked(String what, String body) {}

  public FakeLive(JsonObject state) {
    this.state = state.copy();
    listen(0);
    this.port = server.actualPort();
    vertx.setPeriodic(BEAT_MILLIS, timer -> beat());
  }

  public String url() {
    return "http://127.0.0.1:" + port + "/";
  }

  public int port() {
    return port;
  }

  /** How many WebSockets were ever opened. */
  public synchronized int connections() {
    return connections;
  }

  public synchronized int open() {
    return sockets.size();
  }

  private void listen(int wanted) {
    Router router = Router.router(vertx);
    new PageRoutes(vertx).mount(router);
    router
        .get("/api/session")
        .handler(
            context -> {
              JsonObject anybody = new JsonObject().putNull("user").put("may", List.of());
              context.json(
                  answers.getOrDefault("GET /api/session", new Answer(200, anybody)).body());
            });
    router.route("/api/*").handler(BodyHandler.create(false)).handler(this::answer);
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost("127.0.0.1")
            .setPort(wanted)
            .setReuseAddress(true)
            .setCompressionSupported(true);
    server =
        vertx.createHttpServer(options).requestHandler(router).webSocketHandler(this::connected);
    server.webSocketHandshakeHandler(
        handshake -> {
          if (refusing) {
            handshake.reject(503);
          } else {
            handshake.accept();
          }
        });
    await(server.listen());
  }

  private void answer(RoutingContext context) {
    String query = context.request().query();
    String path = context.request().method() + " " + context.request().path();
    String what = query == null ? path : path + "?" + query;
    String body = context.body().asString();
    asked.add(new Asked(what, body == null ? "" : body));
    Answer answer = answers.getOrDefault(what, answers.get(path));
    if (answer == null) {
      answer =
          new Answer(
              404,
              new JsonObject().put("error", "NOT_FOUND").put("message", "nothing is at " + what));
    }
    context.response().setStatusCode(answer.status());
    context.json(answer.body());
  }

  /**
   * Sets the answer to a request of the API.
   *
   * @param what method and path as sent, with or without the query: {@code GET /api/topics/orders}
   * @param body a JSON object or array
   */
  public void answer(String what, int status, Object body) {
    answers.put(what, new Answer(status, body));
  }

  /** What the page asked of the API, oldest first. */
  public List<Asked> asked() {
    return List.copyOf(asked);
  }

  /** Somebody else may have the port for a moment. */
  private void listenAgain() {
    Awaitility.await()
        .ignoreExceptions()
        .until(
            () -> {
              listen(port);
              return true;
            });
  }

  private synchronized void connected(ServerWebSocket socket) {
    connections++;
    sockets.add(socket);
    socket.closeHandler(
        closed -> {
          synchronized (this) {
            sockets.remove(socket);
          }
        });
    snapshot(socket);
  }

  /** A socket's numbers must grow by one: all sockets share them. */
  private void snapshot(ServerWebSocket socket) {
    JsonObject frame = frame("snapshot").put("seq", Math.max(1, seq)).put("intervalMs", 100);
    seq = Math.max(1, seq);
    socket.writeTextMessage(frame.mergeIn(state).encode());
  }

  private static JsonObject frame(String type) {
    return new JsonObject().put("type", type).put("time", Instant.now().toString());
  }

  private synchronized void beat() {
    if (!silent) {
      send(new JsonObject());
    }
  }

  private void send(JsonObject patch) {
    seq++;
    String text = frame("change").put("seq", seq).put("patch", patch).encode();
    sockets.forEach(socket -> socket.writeTextMessage(text));
  }

  /** Changes the state by a merge patch and tells every page. */
  public synchronized void change(JsonObject patch) {
    merge(state, patch);
    send(patch);
  }

  /** Sends a change as if one before it had been lost. */
  public synchronized void skipAndChange(JsonObject patch) {
    seq++;
    change(patch);
  }

  /** Sends something that is no frame. */
  public synchronized void sendRaw(String text) {
    sockets.forEach(socket -> socket.writeTextMessage(text));
  }

  /** Sends a fresh snapshot of another state on the open connections. */
  public synchronized void resend(JsonObject next) {
    state = next.copy();
    seq++;
    sockets.forEach(this::snapshot);
  }

  /** From now on nothing is sent by itself. */
  public synchronized void silence() {
    silent = true;
  }

  /** Cuts every connection and takes no new one. */
  public void cut() {
    List<ServerWebSocket> now;
    synchronized (this) {
      refusing = true;
      now = List.copyOf(sockets);
    }
    now.forEach(socket -> await(socket.close()));
  }

  /** Takes connections again. */
  public synchronized void mend() {
    refusing = false;
  }

  /** Another process at the same port: nothing of before is there, the numbers begin anew. */
  public void restart(JsonObject next) {
    await(server.shutdown(0, TimeUnit.SECONDS));
    synchronized (this) {
      sockets.clear();
      state = next.copy();
      seq = 0;
      silent = false;
      refusing = false;
    }
    listenAgain();
  }

  /** RFC 7396. */
  private static void merge(JsonObject target, JsonObject patch) {
    for (Map.Entry<String, Object> entry : patch) {
      Object value = entry.getValue();
      if (value == null) {
        target.remove(entry.getKey());
      } else if (value instanceof JsonObject inner) {
        if (!(target.getValue(entry.getKey()) instanceof JsonObject)) {
          target.put(entry.getKey(), new JsonObject());
        }
        merge(target.getJsonObject(entry.getKey()), inner);
      } else {
        target.put(entry.getKey(), value);
      }
    }
  }

  @Override
  public void close() {
    // Without waiting for what browsers keep open.
    await(server.shutdown(0, TimeUnit.SECONDS));
    await(vertx.close());
  }
}
