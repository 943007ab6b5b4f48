package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.gateway.http.RawHttp.Answer;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Callers that are slow, many or large, over real connections. */
class HttpLimitsTest {
  private static final String MESSAGES = "/api/topics/t/messages";
  private static final int MIB = 1 << 20;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final WebClient client =
      WebClient.create(vertx, new WebClientOptions(), new PoolOptions().setHttp1MaxSize(100));

  /** In a field, since a client that nothing refers to is closed by the garbage collector. */
  private final WebSocketClient sockets = vertx.createWebSocketClient();

  /** Questions to the gateway that have no answer yet. */
  private final List<Message<JsonObject>> questions = new CopyOnWriteArrayList<>();

  private int port;
  private String host;

  @BeforeEach
  void start() {
    vertx.eventBus().<JsonObject>consumer(ApiAddresses.PRODUCE, questions::add);
  }

  private void deploy(Map<String, Object> limits) throws Exception {
    WebVerticle web = new WebVerticle();
    JsonObject config = new JsonObject(limits).copy().put("port", 0);
    await(vertx.deployVerticle(web, new DeploymentOptions().setConfig(config)));
    port = web.actualPort();
    host = "Host: 127.0.0.1:" + port;
  }

  private void answerAll() {
    // The next question may come as soon as one is answered.
    List<Message<JsonObject>> now = List.copyOf(questions);
    questions.removeAll(now);
    now.forEach(question -> question.reply(new JsonObject("{\"shard\":0,\"offset\":1}")));
  }

  private Future<HttpResponse<Buffer>> produce(int bytes) {
    return client.post(port, "127.0.0.1", MESSAGES).sendBuffer(Buffer.buffer(new byte[bytes]));
  }

  private String head(int bodyBytes) {
    return "POST %s HTTP/1.1\r\n%s\r\nContent-Length: %s\r\n\r\n"
        .formatted(MESSAGES, host, bodyBytes);
  }

  private static void assertError(Answer answer, int status, String error) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(new JsonObject(answer.body()).getString("error")).isEqualTo(error);
  }

  // ---- slow

  @Test
  void aHeadThatDoesNotComeWholeIsCutOff() throws Exception {
    deploy(Map.of("requestMillisMax", 300));
    try (RawHttp silent = new RawHttp(port)) {
      silent.awaitClosed();
    }
    try (RawHttp slow = new RawHttp(port)) {
      slow.send("GET / HTTP/1.1\r\n").trickle("X: y\r\n");
    }
  }

  @Test
  void aBodyThatDoesNotComeWholeIsCutOff() throws Exception {
    deploy(Map.of("requestMillisMax", 1_000));
    try (RawHttp slow = new RawHttp(port)) {
      assertError(slow.send(head(100) + "part").answer(), 408, "REQUEST_TIMEOUT");
      slow.awaitClosed();
    }
    try (RawHttp slow = new RawHttp(port)) {
      slow.send(head(MIB)).trickle("x");
    }
    try (RawHttp refused = new RawHttp(port)) {
      refused.send("POST /nowhere HTTP/1.1\r\n" + host + "\r\nContent-Length: 100\r\n\r\n");
      assertError(refused.answer(), 404, "NOT_FOUND");
      refused.trickle("x");
    }
    assertThat(questions).isEmpty();
  }

  @Test
  void theNextRequestOnAConnectionHasADeadlineToo() throws Exception {
    deploy(Map.of("idleMillisMax", 300));
    try (RawHttp idle = new RawHttp(port)) {
      assertThat(idle.call("GET", "/health/live", host).status()).isEqualTo(200);
      idle.awaitClosed();
    }
    try (RawHttp slow = new RawHttp(port)) {
      assertThat(slow.call("GET", "/health/live", host).status()).isEqualTo(200);
      slow.send("GET / HTTP/1.1\r\n").trickle("X: y\r\n");
    }
  }

  @Test
  void whoWaitsForAnAnswerAndWhoWatchesIsNotCutOff() throws Exception {
    deploy(Map.of("requestMillisMax", 3_000, "idleMillisMax", 300));
    WebSocket socket = await(sockets.connect(port, "127.0.0.1", "/ws/live"));
    AtomicInteger frames = new AtomicInteger();
    socket.textMessageHandler(text -> frames.incrementAndGet());
    try (RawHttp waiting = new RawHttp(port);
        RawHttp silent = new RawHttp(port)) {
      waiting.send(head(4) + "body");
      await().until(() -> questions.size() == 1);
      silent.awaitClosed();
      answerAll();
      assertThat(waiting.answer().status()).isEqualTo(200);
      waiting.awaitClosed();
    }
    int before = frames.get();
    await().until(() -> frames.get() > before);
    assertThat(socket.isClosed()).isFalse();
  }

  // ---- many

  @Test
  void connectionsPastTheLimitLearnWhyAndLearnTheHealth() throws Exception {
    deploy(Map.of("connectionsMax", 2));
    try (RawHttp first = new RawHttp(port);
        RawHttp second = new RawHttp(port)) {
      first.send(head(4) + "body");
      second.send(head(4) + "body");
      await().until(() -> questions.size() == 2);
      try (RawHttp third = new RawHttp(port)) {
        Answer answer = third.call("GET", "/api/topics", host);
        assertError(answer, 503, "OVERLOADED");
        assertThat(answer.body()).contains("http-connections-max");
        assertThat(answer.headers()).containsKey("retry-after");
        third.awaitClosed();
      }
      try (RawHttp probe = new RawHttp(port)) {
        assertThat(probe.call("GET", "/health/live", host).status()).isEqualTo(200);
        probe.awaitClosed();
      }
      answerAll();
      assertThat(first.answer().status()).isEqualTo(200);
      assertThat(second.answer().status()).isEqualTo(200);
    }
  }

  @Test
  void anIdleConnectionMakesRoomForANewOne() throws Exception {
    deploy(Map.of("connectionsMax", 2));
    try (RawHttp silent = new RawHttp(port);
        RawHttp idle = new RawHttp(port)) {
      assertThat(idle.call("GET", "/health/live", host).status()).isEqualTo(200);
      try (RawHttp third = new RawHttp(port)) {
        assertThat(third.call("GET", "/health/live", host).status()).isEqualTo(200);
        silent.awaitClosed();
        assertThat(idle.call("GET", "/health/live", host).status()).isEqualTo(200);
        try (RawHttp fourth = new RawHttp(port)) {
          assertThat(fourth.call("GET", "/health/live", host).status()).isEqualTo(200);
          third.awaitClosed();
        }
      }
    }
  }

  /** Whoever restarts a node that does not answer must not be made to do it. */
  @Test
  void theHealthIsAnsweredWhateverStrangersDo() throws Exception {
    deploy(Map.of("connectionsMax", 10));
    List<RawHttp> held = new ArrayList<>();
    try {
      times(
          10,
          i -> {
            RawHttp waiting = new RawHttp(port);
            held.add(waiting.send(head(4) + "body"));
          });
      await().until(() -> questions.size() == 10);
      times(100, i -> held.add(new RawHttp(port)));
      times(
          20,
          i -> {
            try (RawHttp probe = new RawHttp(port)) {
              assertThat(probe.call("GET", "/health/live", host).status()).isEqualTo(200);
            }
          });
    } finally {
      each(held, each -> each.close());
    }
  }

  @Test
  void watchersHaveTheirOwnLimit() throws Exception {
    deploy(Map.of("connectionsMax", 1));
    await(sockets.connect(port, "127.0.0.1", "/ws/live"));
    try (RawHttp other = new RawHttp(port)) {
      assertThat(other.call("GET", "/health/live", host).status()).isEqualTo(200);
    }
  }

  // ---- large

  @Test
  void bodiesShareALimit() throws Exception {
    deploy(Map.of("bytesInFlightMax", 8 * MIB));
    List<Future<HttpResponse<Buffer>>> calls = new ArrayList<>();
    times(30, i -> calls.add(produce(MIB)));
    await().until(() -> calls.stream().filter(Future::isComplete).count() + questions.size() == 30);
    assertThat(questions).hasSizeBetween(1, 8);
    int taken = questions.size();
    answerAll();
    int done = 0;
    for (Future<HttpResponse<Buffer>> call : calls) {
      HttpResponse<Buffer> answer = await(call);
      if (answer.statusCode() == 200) {
        done++;
      } else {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.getHeader("retry-after")).isNotNull();
        JsonObject error = answer.bodyAsJsonObject();
        assertThat(error.getString("error")).isEqualTo("OVERLOADED");
        assertThat(error.getString("message")).contains("http-bytes-in-flight-max");
      }
    }
    assertThat(done).isEqualTo(taken);
    // What is answered makes room.
    Future<HttpResponse<Buffer>> next = produce(8 * MIB);
    await().until(() -> questions.size() == 1);
    answerAll();
    assertThat(await(next).statusCode()).isEqualTo(200);
  }

  @Test
  void aBodyOfUnknownLengthIsCountedAsItComes() throws Exception {
    deploy(Map.of("bytesInFlightMax", 8 * MIB));
    Future<HttpResponse<Buffer>> first = produce(5 * MIB);
    await().until(() -> questions.size() == 1);
    String chunk = "10000\r\n" + "x".repeat(1 << 16) + "\r\n";
    String begin = "POST " + MESSAGES + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + host;
    try (RawHttp chunked = new RawHttp(port)) {
      chunked.send(begin + "\r\n\r\n" + chunk.repeat(80) + "0\r\n\r\n");
      assertError(chunked.answer(), 503, "OVERLOADED");
      answerAll();
      assertThat(await(first).statusCode()).isEqualTo(200);
      // The connection can be used again.
      chunked.send(begin + "\r\n\r\n" + chunk.repeat(200) + "0\r\n\r\n");
      assertError(chunked.answer(), 413, "TOO_LARGE");
      chunked.send(begin + "\r\n\r\n" + chunk.repeat(80) + "0\r\n\r\n");
      await().until(() -> questions.size() == 1);
      answerAll();
      assertThat(chunked.answer().status()).isEqualTo(200);
    }
  }

  @Test
  void whoLeavesMakesRoom() throws Exception {
    deploy(Map.of("bytesInFlightMax", 8 * MIB));
    try (RawHttp leaving = new RawHttp(port)) {
      leaving.send(head(7 * MIB) + "x".repeat(5 * MIB));
    }
    Wait.until(
        () -> {
          Future<HttpResponse<Buffer>> next = produce(8 * MIB);
          await().until(() -> next.isComplete() || questions.size() == 1);
          answerAll();
          return await(next).statusCode() == 200;
        });
  }

  @Test
  void aCallerMayWaitForContinueAndSendRequestsAhead() throws Exception {
    deploy(Map.of());
    try (RawHttp connection = new RawHttp(port)) {
      connection.send(head(4).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
      assertThat(connection.answer().status()).isEqualTo(100);
      connection.send("body");
      await().until(() -> questions.size() == 1);
      answerAll();
      assertThat(connection.answer().status()).isEqualTo(200);
      connection.send(head(3) + "one" + head(3) + "two" + head(0));
      for (int i = 0; i < 3; i++) {
        await().until(() -> questions.size() == 1);
        answerAll();
        assertThat(connection.answer().status()).isEqualTo(200);
      }
      Answer tooLarge =
          connection
              .send(head(9 * MIB).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"))
              .answer();
      assertError(tooLarge, 413, "TOO_LARGE");
    }
  }

  @Test
  void aBodyHasAtMostSoManyValues() throws Exception {
    deploy(Map.of());
    for (String type : List.of("application/json", "application/x-ndjson")) {
      for (String value : List.of("{},", "1,", "[],", "\n")) {
        String body = "[" + value.repeat(JsonSize.VALUES_MAX) + "1]";
        HttpResponse<Buffer> answer =
            await(
                client
                    .post(port, "127.0.0.1", MESSAGES)
                    .putHeader("content-type", type)
                    .sendBuffer(Buffer.buffer(body)));
        assertThat(answer.statusCode()).as(answer.bodyAsString()).isEqualTo(413);
      }
    }
    assertThat(questions).isEmpty();
    JsonObject message = new JsonObject().put("payload", "[\\\",{\n".repeat(100_000));
    var texts = client.post(port, "127.0.0.1", MESSAGES).sendJsonObject(message);
    await().until(() -> questions.size() == 1);
    answerAll();
    assertThat(await(texts).statusCode()).isEqualTo(200);
  }

  @Test
  void aLimitOutOfItsBoundsIsRefused() {
    assertThatThrownBy(() -> new WebOptions(new JsonObject().put("connectionsMax", 0)))
        .isInstanceOf(RefusedException.class)
        .hasMessage("connectionsMax is 0: at least 1 is needed");
    assertThatThrownBy(() -> new WebOptions(new JsonObject().put("bytesInFlightMax", MIB)))
        .hasMessageContaining("at least 8388608 is needed");
    assertThatThrownBy(() -> new WebOptions(new JsonObject().put("idleMillisMax", "x")))
        .hasMessageContaining("idleMillisMax is x, which has the wrong type");
  }
}
