package dev.evenkeel.seconduser;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** What the honest user does over HTTP. */
final class HonestHttp implements AutoCloseable {
  private static final int SESSION_USES = 20;

  private final HttpClient http;
  private final SSLContext tls;
  private final String url;
  private final int port;
  private final String token;
  private final Duration patience;

  private String session;
  private int uses;
  private long looks;
  private long sends;
  private Watch watch;

  HonestHttp(SSLContext tls, int port, String token, Duration patience) {
    this.tls = tls;
    this.port = port;
    this.token = token;
    this.patience = patience;
    url = "https://localhost:" + port;
    http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .sslContext(tls)
            .connectTimeout(patience)
            .build();
  }

  private HttpResponse<String> ask(String method, String path, String json, int... statuses)
      throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(url + path))
                .timeout(patience)
                .header("authorization", "Bearer " + token)
                .header("content-type", "application/json")
                .method(
                    method, json == null ? BodyPublishers.noBody() : BodyPublishers.ofString(json))
                .build(),
            BodyHandlers.ofString());
    for (int status : statuses) {
      if (answer.statusCode() == status) {
        return answer;
      }
    }
    throw new IOException(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
  }

  void look() throws Exception {
    ask("GET", "/api/topics/looks/messages?shard=0&limit=10&key=k" + looks++ % 100, null, 200);
  }

  void groups() throws Exception {
    ask("GET", "/api/groups", null, 200);
  }

  void send() throws Exception {
    ask(
        "POST",
        "/api/topics/http/messages",
        JsonObject.of("key", "k", "payload", "message " + sends++).encode(),
        200);
  }

  /** As a browser does: logs in, asks who it is, and logs out. */
  void logIn() throws Exception {
    String cookie =
        ask("POST", "/api/session", JsonObject.of("token", token).encode(), 200)
            .headers()
            .firstValue("set-cookie")
            .orElseThrow(() -> new IOException("no cookie"))
            .split(";")[0];
    for (String method : new String[] {"GET", "DELETE"}) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url + "/api/session"))
              .timeout(patience)
              .header("cookie", cookie)
              .header("origin", url)
              .method(method, BodyPublishers.noBody())
              .build();
      int status = http.send(request, BodyHandlers.discarding()).statusCode();
      if (status != 200) {
        throw new IOException(method + " with the cookie of a log-in: " + status);
      }
    }
  }

  /** As a kubelet does: each time over a new connection, and as nobody. */
  void probe(String path) throws Exception {
    try (SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket("127.0.0.1", port)) {
      socket.setSoTimeout((int) patience.toMillis());
      socket
          .getOutputStream()
          .write(
              ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      String line = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
      if (!line.endsWith("200")) {
        throw new IOException("the probe got: " + line);
      }
    }
  }

  /** Takes messages and says that they are done; sometimes, it opens another session before. */
  void consume() throws Exception {
    String sessions = "/api/groups/shop-http/sessions";
    if (session == null) {
      JsonObject question = JsonObject.of("topics", JsonArray.of("http"), "from", "latest");
      session =
          sessions
              + "/"
              + new JsonObject(ask("POST", sessions, question.encode(), 201).body())
                  .getString("session");
      uses = 0;
    }
    String now = session;
    session = null;
    JsonArray messages =
        new JsonObject(ask("GET", now + "/messages?waitMs=2000", null, 200).body())
            .getJsonArray("messages");
    JsonArray done = new JsonArray();
    for (Object each : messages) {
      JsonObject message = (JsonObject) each;
      JsonObject place = new JsonObject();
      for (String field : new String[] {"topic", "shard", "offset", "epoch"}) {
        place.put(field, message.getValue(field));
      }
      done.add(place);
    }
    if (!done.isEmpty()) {
      ask("POST", now + "/results", JsonObject.of("done", done).encode(), 200);
    }
    if (++uses == SESSION_USES) {
      ask("DELETE", now, null, 204);
    } else {
      session = now;
    }
  }

  /** Waits for the next frame of the live view, which comes once a second. */
  void nextFrame() throws Exception {
    Watch now = watch;
    watch = null;
    if (now == null) {
      now = new Watch();
      http.newWebSocketBuilder()
          .header("authorization", "Bearer " + token)
          .connectTimeout(patience)
          .buildAsync(URI.create(url.replace("https", "wss") + "/ws/live"), now)
          .get(patience.toMillis(), TimeUnit.MILLISECONDS);
    }
    String frame = now.frames.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    if (frame == null || !frame.equals(Watch.FRAME)) {
      throw new IOException("no frame of the live view: " + frame);
    }
    watch = now;
  }

  private static final class Watch implements WebSocket.Listener {
    static final String FRAME = "frame";
    final BlockingQueue<String> frames = new ArrayBlockingQueue<>(1_000);

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      if (last) {
        frames.offer(FRAME);
      }
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
      frames.offer("closed: " + code + " " + reason);
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      frames.offer(String.valueOf(error));
    }
  }

  @Override
  public void close() throws Exception {
    if (session != null) {
      ask("DELETE", session, null, 204, 404);
    }
  }
}
