package dev.evenkeel.gateway.session;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Fails;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The client port over real sockets, with plain event-bus consumers in the place of a node. */
class SessionVerticleTest {
  /** Takes requests of any form, unlike the addresses of brokers. */
  private static final String DATA = Addresses.dispatcher("n1");

  /** What a level dispatcher may be sent. */
  private static final Buffer REPORT = Frames.request(Op.LEVEL_REPORT, new Bytes());

  private static final int MEBIBYTE = 1 << 20;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private int port;

  /** Without deadlines, as far as {@code limits} does not say otherwise. */
  private String start(JsonObject limits) {
    LocalObjects.put(vertx, MeterRegistry.class, registry);
    JsonArray nodes =
        new JsonArray()
            .add(new JsonObject().put("node", "n1").put("host", "10.0.0.1").put("port", 5701))
            .add(new JsonObject().put("node", "n2").put("host", "10.0.0.2").put("port", 5801));
    JsonObject config =
        new JsonObject()
            .put("port", 0)
            .put("node", "n1")
            .put("nodes", nodes)
            .put("server", "evenkeel 1.2")
            .put("keepAliveMillis", 600_000)
            .put("handshakeMillisMax", 600_000)
            .mergeIn(limits);
    SessionVerticle verticle = new SessionVerticle();
    String id = await(vertx.deployVerticle(verticle, new DeploymentOptions().setConfig(config)));
    port = verticle.actualPort();
    return id;
  }

  private void start() {
    start(new JsonObject());
  }

  private TestClient connect() {
    return TestClient.connect(vertx, port);
  }

  private TestClient welcomed(String session) {
    return TestClient.welcomed(vertx, port, session);
  }

  private double metric(String name, String... labels) {
    Double value = PrometheusText.parse(registry.scrape()).value(name, labels);
    return value == null ? Double.NaN : value;
  }

  private void echo(String address) {
    vertx.eventBus().<Buffer>consumer(address, message -> message.reply(message.body()));
  }

  /** Messages that came at an address and were not answered. */
  private Queue<Message<Buffer>> unanswered(String address) {
    Queue<Message<Buffer>> all = new ConcurrentLinkedQueue<>();
    vertx.eventBus().<Buffer>consumer(address, all::add);
    return all;
  }

  // ---- the handshake ----

  @Test
  void aHelloIsAnsweredWithTheNodesAndTheLimits() {
    start();
    TestClient client = connect();
    client.hello(TestClient.session(1));
    Welcome welcome = Welcome.fromJson(client.expect(FrameKind.WELCOME).body().toJsonObject());
    assertThat(welcome.version()).isEqualTo(1);
    assertThat(welcome.node()).isEqualTo("n1");
    assertThat(welcome.server()).isEqualTo("evenkeel 1.2");
    assertThat(welcome.nodes())
        .containsExactly(
            new NodePlace("n1", "10.0.0.1", 5701), new NodePlace("n2", "10.0.0.2", 5801));
    assertThat(welcome.limits()).isEqualTo(new Welcome.Limits(4 << 20, 20_000, 64L << 20, 600_000));
    await().until(() -> metric("evenkeel_sessions") == 1);
  }

  @Test
  void aHelloThatDoesNotFitIsToldWhy() {
    start();
    TestClient version = connect();
    version.hello(new Hello(List.of(2), TestClient.session(1), "evenkeel", "", null, 0));
    assertThat(version.goodbye()).contains("[2]", "version 1");
    TestClient cluster = connect();
    cluster.hello(new Hello(List.of(1), TestClient.session(1), "other", "", null, 0));
    assertThat(cluster.goodbye()).contains("'evenkeel'", "'other'");
    TestClient session = connect();
    session.hello("s 1");
    assertThat(session.goodbye()).contains("bad session id 's 1'");
    TestClient json = connect();
    json.send(FrameKind.HELLO, 0, Buffer.buffer("no json"));
    assertThat(json.goodbye()).contains("JSON object");
    await().until(() -> metric("evenkeel_session_closed_total", "reason", "protocol") == 4);
    await().until(() -> metric("evenkeel_session_connections") == 0);
  }

  @Test
  void theFirstFrameMustBeHelloAndTheOnlyOne() {
    start();
    TestClient client = connect();
    client.request(1, DATA, Buffer.buffer("x"));
    assertThat(client.goodbye()).isEqualTo("the first frame is REQUEST: it must be HELLO");
    TestClient twice = welcomed(TestClient.session(1));
    twice.hello(TestClient.session(1));
    assertThat(twice.goodbye()).contains("cannot send HELLO");
  }

  @Test
  void whoSaysNoHelloIsCutOff() {
    start(new JsonObject().put("handshakeMillisMax", 100));
    assertThat(connect().goodbye()).contains("no HELLO within 100 ms");
    await().until(() -> metric("evenkeel_session_closed_total", "reason", "handshake") == 1);
  }

  @Test
  void beforeWelcomeOnlySmallFramesAreRead() {
    start(new JsonObject().put("helloBytesMax", 2_000));
    TestClient client = connect();
    client.send(FrameKind.HELLO, 0, Buffer.buffer(new byte[2_001]));
    assertThat(client.goodbye()).contains("2001 bytes: at most 2000");
  }

  @Test
  void malformedFramesEndTheConnectionAndSayWhy() {
    start(new JsonObject().put("bodyBytesMax", 5_000).put("sessionBytesInFlightMax", 6_000));
    malformed(Buffer.buffer().appendInt(6 + 5_001).appendByte((byte) 1), "at most 5000");
    malformed(Buffer.buffer().appendInt(3), "shorter than its head");
    malformed(Buffer.buffer().appendInt(6).appendByte((byte) 9), "version 9");
    malformed(Buffer.buffer().appendInt(6).appendByte((byte) 1).appendByte((byte) 99), "kind 99");
    malformed(Buffer.buffer().appendInt(-1).appendByte((byte) 1), "at most 5000");
    // REQUEST without an address, with one that is too long, and LISTEN whose address is cut off.
    malformed(frame(3, Buffer.buffer()), "ends too early");
    malformed(frame(3, Buffer.buffer().appendUnsignedShort(401)), "401 bytes");
    malformed(frame(6, Buffer.buffer().appendUnsignedShort(9).appendString("x")), "too early");
    malformed(frame(4, Buffer.buffer()), "cannot send ANSWER");
    await().until(() -> metric("evenkeel_session_closed_total", "reason", "protocol") == 9);
  }

  private static Buffer frame(int kind, Buffer body) {
    return Buffer.buffer()
        .appendInt(6 + body.length())
        .appendByte((byte) 1)
        .appendByte((byte) kind)
        .appendInt(7)
        .appendBuffer(body);
  }

  private void malformed(Buffer bytes, String words) {
    TestClient client = welcomed(TestClient.session(1));
    // The head is read as a whole.
    client.write(bytes.appendBytes(new byte[Math.max(0, 10 - bytes.length())]));
    assertThat(client.goodbye()).contains(words);
  }

  @Test
  void framesInFrontOfAMalformedOneAreAnswered() {
    start();
    TestClient client = welcomed(TestClient.session(1));
    client.write(frame(10, Buffer.buffer()).appendInt(3).appendBytes(new byte[6]));
    assertThat(client.expect(FrameKind.PONG).correlation()).isEqualTo(7);
    assertThat(client.goodbye()).contains("shorter than its head");
  }

  // ---- keep alive ----

  @Test
  void whoIsSilentIsCutOffAndWhoPingsIsNot() {
    start(new JsonObject().put("keepAliveMillis", 400));
    TestClient silent = welcomed(TestClient.session(1));
    TestClient pinging = welcomed(TestClient.session(2));
    long timer = vertx.setPeriodic(50, none -> pinging.ping());
    assertThat(silent.goodbye()).contains("nothing came within 1200 ms", "PING every 400 ms");
    times(20, i -> pinging.expect(FrameKind.PONG));
    assertThat(pinging.isClosed()).isFalse();
    vertx.cancelTimer(timer);
    await().until(() -> metric("evenkeel_session_closed_total", "reason", "silent") == 1);
  }

  // ---- limits of connections ----

  @Test
  void connectionsAboveTheLimitAreToldSoAndThereIsRoomAgainLater() {
    start(new JsonObject().put("connectionsMax", 2));
    TestClient first = welcomed(TestClient.session(1));
    welcomed(TestClient.session(2));
    assertThat(connect().goodbye()).contains("this node has 2 connections, its limit");
    first.close();
    await().until(() -> metric("evenkeel_session_connections") == 1);
    welcomed(TestClient.session(3));
    await().until(() -> metric("evenkeel_session_limited_total", "limit", "connections") == 1);
  }

  @Test
  void connectionsThatSayNothingAreLimitedByThemselves() {
    start(new JsonObject().put("halfOpenMax", 2));
    welcomed(TestClient.session(1));
    welcomed(TestClient.session(2));
    welcomed(TestClient.session(3));
    TestClient silent = connect();
    await().until(() -> metric("evenkeel_session_connections") == 4);
    TestClient later = connect();
    await().until(() -> metric("evenkeel_session_connections") == 5);
    TestClient next = connect();
    assertThat(silent.goodbye()).contains("2 connections to this node have not said HELLO");
    later.hello(TestClient.session(4));
    later.expect(FrameKind.WELCOME);
    next.hello(TestClient.session(5));
    next.expect(FrameKind.WELCOME);
    await().until(() -> metric("evenkeel_session_limited_total", "limit", "half_open") == 1);
  }

  @Test
  void whoeverSaysHelloGetsInWhateverStrangersDo() {
    start(new JsonObject().put("halfOpenMax", 10));
    times(100, i -> connect());
    times(20, i -> welcomed(TestClient.session(i + 1)));
  }

  // ---- requests ----

  @Test
  void requestsReachTheirAddressesAndAreAnsweredInAnyOrder() {
    start();
    echo(DATA);
    Queue<Message<Buffer>> late = unanswered(Addresses.VIEW);
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, Addresses.VIEW, Buffer.buffer());
    byte[] large = new byte[3 * MEBIBYTE];
    large[large.length - 1] = 7;
    client.request(2, DATA, Buffer.buffer(large));
    client.request(3, DATA, Buffer.buffer("small"));
    assertThat(client.answer(2).getBytes()).isEqualTo(large);
    assertThat(client.answer(3)).hasToString("small");
    await().until(() -> !late.isEmpty());
    late.remove().reply(new JsonObject().put("a", 1));
    assertThat(client.answer(1)).hasToString("{\"a\":1}");
    await().until(() -> metric("evenkeel_session_requests_total") == 3);
    await().until(() -> metric("evenkeel_session_in_flight_bytes") == 0);
    await().until(() -> metric("evenkeel_session_requests_in_flight") == 0);
  }

  @Test
  void requestsForAnotherNodeAreRelayed() {
    start();
    echo(Addresses.dispatcher("n2"));
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, Addresses.dispatcher("n2"), Buffer.buffer("x"));
    assertThat(client.answer(1)).hasToString("x");
    await().until(() -> metric("evenkeel_session_requests_relayed_total") == 1);
  }

  @Test
  void aRequestThatNobodyTakesHadNoEffectAndOneWithoutAnAnswerMayHaveHadOne() {
    start();
    unanswered(DATA);
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, Addresses.levelDispatcher("n1"), REPORT);
    RefusedException unavailable = client.refusal(1);
    assertThat(unavailable.refusal()).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(unavailable).hasMessageContaining("node n1 is not there");
    client.request(2, DATA, Buffer.buffer("x"), 100);
    assertThat(client.refusal(2).refusal()).isEqualTo(Refusal.INDETERMINATE);
    client.request(3, DATA, Buffer.buffer("x"), 0);
    assertThat(client.refusal(3).refusal()).isEqualTo(Refusal.INDETERMINATE);
  }

  @Test
  void whatIsNotForSessionsIsRefusedAndTheConnectionStays() {
    start();
    List<Object> came = new CopyOnWriteArrayList<>();
    vertx.eventBus().consumer("orders.in", message -> came.add(message.body()));
    vertx.eventBus().consumer(Addresses.control("n1"), message -> came.add(message.body()));
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, "orders.in", Buffer.buffer("x"));
    assertThat(client.refusal(1))
        .returns(Refusal.INVALID, RefusedException::refusal)
        .hasMessageContaining("'orders.in'");
    client.request(
        2, Addresses.control("n1"), Frames.request(Op.MANAGE_SHARDS, new Bytes().i32(0)));
    assertThat(client.refusal(2))
        .returns(Refusal.FORBIDDEN, RefusedException::refusal)
        .hasMessageContaining("MANAGE_SHARDS");
    client.listen(3, "evenkeel.dedup.s-2");
    assertThat(client.refusal(3)).returns(Refusal.INVALID, RefusedException::refusal);
    client.send(FrameKind.PING, 4);
    client.expect(FrameKind.PONG);
    assertThat(came).isEmpty();
  }

  @Test
  void failuresOfTheGatewayAreTheirRefusals() {
    start();
    vertx
        .eventBus()
        .<Buffer>consumer(
            ApiAddresses.TOPICS,
            message -> {
              String action = message.body().toJsonObject().getString("action");
              switch (action) {
                case "known" ->
                    message.fail(
                        1 + Refusal.UNKNOWN_TOPIC.ordinal(), "UNKNOWN_TOPIC: there is no topic a");
                case "unknown" -> message.fail(500, "something: else");
                default -> message.reply(Buffer.buffer("{}"));
              }
            });
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, ApiAddresses.TOPICS, Buffer.buffer("{\"action\":\"known\"}"));
    assertThat(client.refusal(1))
        .returns(Refusal.UNKNOWN_TOPIC, RefusedException::refusal)
        .hasMessage("there is no topic a");
    client.request(2, ApiAddresses.TOPICS, Buffer.buffer("{\"action\":\"unknown\"}"));
    assertThat(client.refusal(2))
        .returns(Refusal.UNAVAILABLE, RefusedException::refusal)
        .hasMessage("something: else");
    client.request(3, ApiAddresses.TOPICS, Buffer.buffer("{\"action\":\"list\"}"));
    assertThat(client.answer(3)).hasToString("{}");
  }

  @Test
  void aQuestionHasAtMostSoManyValues() {
    start();
    Queue<Message<Object>> asked = new ConcurrentLinkedQueue<>();
    vertx.eventBus().consumer(ApiAddresses.PRODUCE, asked::add);
    TestClient client = welcomed(TestClient.session(1));
    int correlation = 1;
    for (String value : List.of("{},", "1,", "[],", "\n")) {
      String body = "[" + value.repeat(JsonSize.VALUES_MAX) + "1]";
      client.request(correlation, ApiAddresses.PRODUCE, Buffer.buffer(body));
      assertThat(client.refusal(correlation++))
          .returns(Refusal.TOO_LARGE, RefusedException::refusal)
          .hasMessageContaining("100000 JSON values");
    }
    String settings = "{\"name\":\"" + "x".repeat(JsonSize.SETTINGS_BYTES_MAX) + "\"}";
    client.request(correlation, ApiAddresses.TOPICS, Buffer.buffer(settings));
    assertThat(client.refusal(correlation))
        .returns(Refusal.TOO_LARGE, RefusedException::refusal)
        .hasMessageContaining("at most ");
    assertThat(asked).isEmpty();
  }

  /** Large questions are parsed on another thread, but nothing that comes later overtakes them. */
  @Test
  void largeQuestionsKeepTheirOrder() {
    start();
    Queue<Message<Object>> asked = new ConcurrentLinkedQueue<>();
    vertx.eventBus().consumer(ApiAddresses.PRODUCE, asked::add);
    TestClient client = welcomed(TestClient.session(1));
    String large = "x".repeat(2 * JsonSize.HEAVY_BYTES);
    for (int i = 1; i <= 20; i++) {
      String payload = i % 2 == 0 ? "small" : large;
      JsonObject message = new JsonObject().put("topic", "t").put("n", i).put("payload", payload);
      String body = i == 7 ? "{" + large : message.encode();
      client.request(i, ApiAddresses.PRODUCE, Buffer.buffer(body));
    }
    assertThat(client.refusal(7)).returns(Refusal.INVALID, RefusedException::refusal);
    await().until(() -> asked.size() == 19);
    int last = 0;
    for (Message<Object> each : asked) {
      JsonObject json =
          each.body() instanceof JsonObject parsed ? parsed : new JsonObject((Buffer) each.body());
      assertThat(json.getInteger("n")).isGreaterThan(last);
      last = json.getInteger("n");
      boolean isLarge = each.body() instanceof JsonObject;
      assertThat(isLarge).isEqualTo(last % 2 == 1);
    }
    Message<Object> first = asked.remove();
    first.reply(new JsonObject().put("shard", 1));
    assertThat(client.expect(FrameKind.ANSWER).body().toJsonObject().getInteger("shard")).isOne();
  }

  @Test
  void anAnswerThatIsLongerThanAFrameIsRefused() {
    start(new JsonObject().put("bodyBytesMax", 50_000).put("sessionBytesInFlightMax", 50_000));
    vertx.eventBus().consumer(DATA, message -> message.reply(Buffer.buffer(new byte[50_001])));
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, DATA, Buffer.buffer("x"));
    assertThat(client.refusal(1))
        .returns(Refusal.TOO_LARGE, RefusedException::refusal)
        .hasMessageContaining("50001 bytes: at most 50000");
  }

  /** The view of a cluster grows with its topics: a client that reads more gets more. */
  @Test
  void aClientThatReadsLongerAnswersGetsThem() {
    start(new JsonObject().put("bodyBytesMax", 50_000).put("sessionBytesInFlightMax", 1 << 20));
    vertx.eventBus().consumer(DATA, message -> message.reply(Buffer.buffer(new byte[500_001])));
    TestClient client = TestClient.connect(vertx, port);
    client.hello(new Hello(List.of(1), TestClient.session(1), "evenkeel", "test", null, 500_001));
    client.expect(FrameKind.WELCOME);
    client.request(1, DATA, Buffer.buffer("x"));
    assertThat(client.answer(1).length()).isEqualTo(500_001);
  }

  @Test
  void questionsWhetherASessionIsAliveDoNotCountAsRequests() {
    start(new JsonObject().put("requestsInFlightMax", 1));
    Queue<Message<Buffer>> waiting = unanswered(DATA);
    Queue<Message<Buffer>> questions = unanswered(Addresses.DEDUP_HEARD);
    TestClient client = welcomed(TestClient.session(1));
    client.request(1, DATA, Buffer.buffer("x"));
    await().until(() -> waiting.size() == 1);
    Buffer alive = Buffer.buffer(new Bytes().text(TestClient.session(1)).text("").toArray());
    for (int i = 2; i < 22; i++) {
      client.request(i, Addresses.DEDUP_HEARD, alive);
    }
    await().until(() -> questions.size() == 20);
    client.request(22, Addresses.DEDUP_HEARD, alive);
    assertThat(client.refusal(22))
        .returns(Refusal.OVERLOADED, RefusedException::refusal)
        .hasMessageContaining("whether it is alive");
    client.request(23, DATA, Buffer.buffer("x"));
    assertThat(client.refusal(23)).returns(Refusal.OVERLOADED, RefusedException::refusal);
    questions.remove().reply(Buffer.buffer("yes"));
    client.answer(2);
    client.request(24, Addresses.DEDUP_HEARD, alive);
    await().until(() -> questions.size() == 20);
  }

  @Test
  void requestsInFlightAreLimitedForAllConnectionsOfASession() {
    start(new JsonObject().put("requestsInFlightMax", 3));
    Queue<Message<Buffer>> waiting = unanswered(DATA);
    TestClient one = welcomed(TestClient.session(1));
    TestClient two = welcomed(TestClient.session(1));
    TestClient other = welcomed(TestClient.session(2));
    one.request(1, DATA, Buffer.buffer("x"));
    await().until(() -> waiting.size() == 1);
    one.request(2, DATA, Buffer.buffer("x"));
    two.request(3, DATA, Buffer.buffer("x"));
    await().until(() -> waiting.size() == 3);
    two.request(4, DATA, Buffer.buffer("x"));
    assertThat(two.refusal(4))
        .returns(Refusal.OVERLOADED, RefusedException::refusal)
        .hasMessageContaining("3 requests without an answer, its limit");
    other.request(5, DATA, Buffer.buffer("x"));
    await().until(() -> waiting.size() == 4);
    waiting.remove().reply(Buffer.buffer("done"));
    one.answer(1);
    two.request(6, DATA, Buffer.buffer("x"));
    await().until(() -> waiting.size() == 4);
    await().until(() -> metric("evenkeel_session_limited_total", "limit", "requests") == 1);
  }

  @Test
  void bytesInFlightAreLimitedForASessionAndForTheNode() {
    start(
        new JsonObject()
            .put("bodyBytesMax", 10_000)
            .put("sessionBytesInFlightMax", 15_000)
            .put("nodeBytesInFlightMax", 22_000));
    Queue<Message<Buffer>> waiting = unanswered(DATA);
    TestClient one = welcomed(TestClient.session(1));
    one.request(1, DATA, Buffer.buffer(new byte[8_000]));
    await().until(() -> waiting.size() == 1);
    one.request(2, DATA, Buffer.buffer(new byte[8_000]));
    assertThat(one.refusal(2))
        .returns(Refusal.OVERLOADED, RefusedException::refusal)
        .hasMessageContaining("this session has 15000 bytes in flight, its limit");
    TestClient two = welcomed(TestClient.session(2));
    two.request(3, DATA, Buffer.buffer(new byte[8_000]));
    await().until(() -> waiting.size() == 2);
    two.request(4, DATA, Buffer.buffer(new byte[5_000]));
    assertThat(two.refusal(4))
        .returns(Refusal.OVERLOADED, RefusedException::refusal)
        .hasMessageContaining("22000 bytes in flight, its limit");
    waiting.remove().reply(Buffer.buffer("done"));
    one.answer(1);
    two.request(5, DATA, Buffer.buffer(new byte[5_000]));
    await().until(() -> waiting.size() == 2);
  }

  // ---- a client that does not read ----

  /** It gets no more requests through, so that the answers to them cannot pile up. */
  @Test
  void aSlowReaderHoldsUpNobodyElseAndIsReadNoFurther() {
    start(new JsonObject().put("sessionBytesInFlightMax", 200 * MEBIBYTE));
    AtomicInteger served = new AtomicInteger();
    byte[] large = new byte[MEBIBYTE];
    vertx
        .eventBus()
        .consumer(
            DATA,
            message -> {
              served.incrementAndGet();
              message.reply(Buffer.buffer(large));
            });
    echo(Addresses.levelDispatcher("n1"));
    TestClient quick = welcomed(TestClient.session(2));
    TestClient slow = welcomed(TestClient.session(1));
    slow.on(FrameSocket::pause);
    int requests = 100;
    for (int i = 1; i <= requests; i++) {
      slow.request(i, DATA, Buffer.buffer("x"));
      // By the time of this answer, that to the slow one is under way, too.
      quick.request(i, Addresses.levelDispatcher("n1"), REPORT);
      assertThat(quick.answer(i)).isEqualTo(REPORT);
    }
    // The first ones lie in buffers of the system.
    assertThat(served.get()).isLessThan(requests);
    slow.on(FrameSocket::resume);
    for (int i = 1; i <= requests; i++) {
      assertThat(slow.answer(i).length()).isEqualTo(MEBIBYTE);
    }
    assertThat(served.get()).isEqualTo(requests);
    await().until(() -> metric("evenkeel_session_in_flight_bytes") == 0);
  }

  @Test
  void largeAnswersThatWaitForASlowReaderCountAsInFlightAndAreDroppedAboveTheLimit() {
    start(new JsonObject().put("sessionBytesInFlightMax", 8 * MEBIBYTE));
    Queue<Message<Buffer>> waiting = unanswered(DATA);
    TestClient slow = welcomed(TestClient.session(1));
    int requests = 40;
    for (int i = 1; i <= requests; i++) {
      slow.request(i, DATA, Buffer.buffer("x"));
    }
    await().until(() -> waiting.size() == requests);
    slow.on(FrameSocket::pause);
    byte[] large = new byte[MEBIBYTE];
    waiting.forEach(message -> message.reply(Buffer.buffer(large)));
    await().until(() -> metric("evenkeel_session_limited_total", "limit", "session_bytes") > 0);
    assertThat(metric("evenkeel_session_in_flight_bytes")).isLessThanOrEqualTo(8 * MEBIBYTE);
    slow.on(FrameSocket::resume);
    int dropped = 0;
    for (int i = 0; i < requests; i++) {
      SessionFrame frame = slow.next();
      if (frame.kind() == FrameKind.REFUSAL) {
        dropped++;
        assertThat(frame.refused().refusal()).isEqualTo(Refusal.INDETERMINATE);
      } else {
        assertThat(frame.body().length()).isEqualTo(MEBIBYTE);
      }
    }
    assertThat(metric("evenkeel_session_limited_total", "limit", "session_bytes"))
        .isEqualTo(dropped);
    await().until(() -> metric("evenkeel_session_in_flight_bytes") == 0);
  }

  @Test
  void whoReadsNoPushesIsCutOffAtTheLimit() {
    start(new JsonObject().put("pushesQueuedMax", 10));
    TestClient slow = welcomed(TestClient.session(1));
    TestClient quick = welcomed(TestClient.session(2));
    slow.listen(1, Addresses.member("slow"));
    slow.answer(1);
    quick.listen(1, Addresses.member("quick"));
    quick.answer(1);
    slow.on(FrameSocket::pause);
    Buffer large = Buffer.buffer(new byte[MEBIBYTE]);
    await()
        .pollInterval(Duration.ofMillis(5))
        .until(
            () -> {
              vertx.eventBus().send(Addresses.member("slow"), large);
              vertx.eventBus().send(Addresses.member("quick"), Buffer.buffer("x"));
              quick.expect(FrameKind.PUSH);
              return metric("evenkeel_session_closed_total", "reason", "not_reading") == 1;
            });
    // The end of the session is counted first, and what it drops a moment later.
    await().until(() -> metric("evenkeel_session_pushes_dropped_total") > 10);
    await().until(() -> metric("evenkeel_sessions") == 1);
    slow.on(FrameSocket::resume);
    slow.awaitClosed();
  }

  @Test
  void whoTakesNoBytesIsCutOffInTime() {
    start(new JsonObject().put("keepAliveMillis", 100));
    vertx.eventBus().consumer(DATA, message -> message.reply(Buffer.buffer(new byte[MEBIBYTE])));
    TestClient slow = connect();
    // All at once, so that it is not cut off as silent.
    Buffer hello =
        new Hello(List.of(1), TestClient.session(1), "evenkeel", "", null, 0).toJson().toBuffer();
    slow.on(
        socket -> {
          socket.pause();
          socket.send(FrameKind.HELLO, 0, hello);
          for (int i = 1; i <= 60; i++) {
            socket.send(
                FrameKind.REQUEST, i, SessionFrame.requestHead(DATA, 1_000), Buffer.buffer("x"));
          }
        });
    await().until(() -> metric("evenkeel_session_closed_total", "reason", "not_reading") == 1);
    await().until(() -> metric("evenkeel_session_in_flight_bytes") == 0);
    slow.on(FrameSocket::resume);
    slow.awaitClosed();
  }

  // ---- listening ----

  @Test
  void whatIsForAllIsPushedToAllWhoListen() {
    start();
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      TestClient client = welcomed(TestClient.session(i));
      client.listen(1, Addresses.LEADER_CHANGES);
      client.listen(2, Addresses.TOPIC_CHANGES);
      client.answer(1);
      client.answer(2);
      clients.add(client);
    }
    TestClient deaf = welcomed(TestClient.session(2_000));
    TestClient gone = clients.get(9);
    gone.send(FrameKind.UNLISTEN, 0, SessionFrame.addressed(Addresses.LEADER_CHANGES));
    gone.send(FrameKind.PING, 3);
    gone.expect(FrameKind.PONG);
    vertx.eventBus().publish(Addresses.LEADER_CHANGES, new JsonObject().put("leaders", 1));
    for (TestClient client : clients.subList(0, 9)) {
      SessionFrame push = client.expect(FrameKind.PUSH);
      assertThat(push.correlation()).isZero();
      assertThat(push.address()).isEqualTo(Addresses.LEADER_CHANGES);
      assertThat(push.pushBody()).hasToString("{\"leaders\":1}");
    }
    vertx.eventBus().publish(Addresses.TOPIC_CHANGES, Buffer.buffer());
    for (TestClient client : clients) {
      SessionFrame push = client.expect(FrameKind.PUSH);
      assertThat(push.address()).isEqualTo(Addresses.TOPIC_CHANGES);
      assertThat(push.pushBody().length()).isZero();
    }
    assertThat(deaf.framesWaiting()).isZero();
    await().until(() -> metric("evenkeel_session_pushes_total") == 19);
  }

  @Test
  void messagesForAMemberArePushedAndItsAnswersGoBack() {
    start();
    TestClient client = welcomed(TestClient.session(1));
    client.listen(1, Addresses.member("m1"));
    client.answer(1);
    client.listen(2, Addresses.level("m1"));
    client.answer(2);
    // Again: it must not get messages twice, nor every other message only.
    client.listen(3, Addresses.level("m1"));
    client.answer(3);
    vertx.eventBus().send(Addresses.member("m1"), Buffer.buffer("assignment"));
    SessionFrame push = client.expect(FrameKind.PUSH);
    assertThat(push.correlation()).isZero();
    assertThat(push.pushBody()).hasToString("assignment");
    var first = vertx.eventBus().<Buffer>request(Addresses.level("m1"), Buffer.buffer("one"));
    SessionFrame one = client.expect(FrameKind.PUSH);
    var second = vertx.eventBus().<Buffer>request(Addresses.level("m1"), Buffer.buffer("two"));
    SessionFrame two = client.expect(FrameKind.PUSH);
    assertThat(one.pushBody()).hasToString("one");
    assertThat(two.pushBody()).hasToString("two");
    assertThat(one.correlation()).isNotZero().isNotEqualTo(two.correlation());
    client.send(FrameKind.PUSH_ANSWER, two.correlation(), Buffer.buffer("to two"));
    client.send(FrameKind.PUSH_ANSWER, 4_711, Buffer.buffer("to nobody"));
    client.send(FrameKind.PUSH_ANSWER, one.correlation(), Buffer.buffer("to one"));
    assertThat(await(second).body()).hasToString("to two");
    assertThat(await(first).body()).hasToString("to one");
    client.send(FrameKind.UNLISTEN, 0, SessionFrame.addressed(Addresses.level("m1")));
    noHandlers(Addresses.level("m1"));
  }

  /** It is answered on the session's own address, and on no other. */
  @Test
  void aSessionHearsOfItsDedupKeys() {
    start();
    TestClient client = welcomed(TestClient.session(1));
    client.listen(1, Addresses.dedup(TestClient.session(1)));
    client.answer(1);
    vertx.eventBus().send(Addresses.dedup(TestClient.session(1)), Buffer.buffer("free"));
    assertThat(client.expect(FrameKind.PUSH).pushBody()).hasToString("free");
  }

  @Test
  void listeningEndsWithItsConnection() {
    start();
    TestClient home = welcomed(TestClient.session(1));
    TestClient other = welcomed(TestClient.session(1));
    home.listen(1, Addresses.member("m1"));
    home.answer(1);
    home.close();
    noHandlers(Addresses.member("m1"));
    other.listen(2, Addresses.member("m1"));
    other.answer(2);
    vertx.eventBus().send(Addresses.member("m1"), Buffer.buffer("x"));
    other.expect(FrameKind.PUSH);
  }

  private void noHandlers(String address) {
    Wait.untilAsserted(
        () ->
            assertThatThrownBy(
                    () ->
                        await(
                            vertx
                                .eventBus()
                                .request(
                                    address,
                                    Buffer.buffer(),
                                    new DeliveryOptions().setSendTimeout(200))))
                .isInstanceOfSatisfying(
                    ReplyException.class,
                    e -> assertThat(e.failureType()).isEqualTo(ReplyFailure.NO_HANDLERS)));
  }

  @Test
  void addressesOfAConnectionAreLimited() {
    start(new JsonObject().put("listeningMax", 2));
    TestClient client = welcomed(TestClient.session(1));
    client.listen(1, Addresses.member("a"));
    client.answer(1);
    client.listen(2, Addresses.member("b"));
    client.answer(2);
    client.listen(3, Addresses.member("c"));
    assertThat(client.refusal(3))
        .returns(Refusal.OVERLOADED, RefusedException::refusal)
        .hasMessageContaining("2 addresses, its limit");
    client.listen(4, Addresses.LEADER_CHANGES);
    client.answer(4);
    client.send(FrameKind.UNLISTEN, 0, SessionFrame.addressed(Addresses.member("a")));
    client.listen(5, Addresses.member("c"));
    client.answer(5);
  }

  // ---- the end of sessions ----

  @Test
  void aSessionThatTheClientEndsIsAnnouncedWithItsLastConnection() {
    start();
    List<JsonObject> ended = new CopyOnWriteArrayList<>();
    vertx
        .eventBus()
        .<JsonObject>consumer(Addresses.SESSIONS_ENDED, message -> ended.add(message.body()));
    TestClient one = welcomed(TestClient.session(1));
    TestClient two = welcomed(TestClient.session(1));
    TestClient polite = welcomed(TestClient.session(2));
    TestClient wrong = welcomed(TestClient.session(3));
    TestClient nobody = connect();
    assertThat(has(TestClient.session(1))).isTrue();
    assertThat(has(TestClient.session(9))).isFalse();
    one.close();
    nobody.close();
    wrong.hello(TestClient.session(3));
    wrong.goodbye();
    polite.send(FrameKind.GOODBYE, 0, Buffer.buffer("done"));
    polite.awaitClosed();
    await().untilAsserted(() -> assertThat(ended).containsExactly(ended(TestClient.session(2))));
    assertThat(has(TestClient.session(1))).isTrue();
    assertThat(has(TestClient.session(2))).isFalse();
    assertThat(has(TestClient.session(3))).isFalse();
    two.close();
    Wait.untilAsserted(
        () ->
            assertThat(ended)
                .containsExactly(ended(TestClient.session(2)), ended(TestClient.session(1))));
    assertThat(has(TestClient.session(1))).isFalse();
    await().until(() -> metric("evenkeel_session_closed_total", "reason", "client") == 4);
    await().until(() -> metric("evenkeel_sessions") == 0);
    await().until(() -> metric("evenkeel_session_connections") == 0);
  }

  private static JsonObject ended(String session) {
    return new JsonObject().put("session", session).put("node", "n1");
  }

  private boolean has(String session) {
    Buffer question = new JsonObject().put("has", session).toBuffer();
    var answer = await(vertx.eventBus().<Buffer>request(Addresses.sessions("n1"), question)).body();
    return Frames.copy(Frames.answerBody(answer)).toJsonObject().getBoolean("has");
  }

  @Test
  void aQuestionAboutSessionsThatIsNoneIsRefused() {
    start();
    Buffer answer =
        await(vertx.eventBus().<Buffer>request(Addresses.sessions("n1"), Buffer.buffer("no json")))
            .body();
    assertThatThrownBy(() -> Frames.answerBody(answer)).hasMessageContaining("has");
  }

  @Test
  void aNodeThatStopsSaysSoToAllAndAnnouncesNoEnd() {
    String id = start(new JsonObject());
    List<Object> ended = new CopyOnWriteArrayList<>();
    vertx.eventBus().consumer(Addresses.SESSIONS_ENDED, message -> ended.add(message.body()));
    List<TestClient> clients = new ArrayList<>();
    times(20, i -> clients.add(welcomed(TestClient.session(i))));
    await(vertx.undeploy(id));
    clients.forEach(client -> assertThat(client.goodbye()).isEqualTo("this node is stopping"));
    assertThat(ended).isEmpty();
    assertThatThrownBy(this::connect).isInstanceOf(java.net.ConnectException.class);
  }

  @Test
  void aBusyPortAndAnUnknownKeyAreNamed() throws IOException {
    try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      assertThatThrownBy(() -> start(new JsonObject().put("port", busy.getLocalPort())))
          .isInstanceOf(java.net.BindException.class);
    }
    assertThatThrownBy(() -> start(new JsonObject().put("conectionsMax", 1)))
        .hasMessageContaining("did you mean 'connectionsMax'?");
    Fails.saying(() -> start(new JsonObject().putNull("node")), "a node needs a name");
  }
}
