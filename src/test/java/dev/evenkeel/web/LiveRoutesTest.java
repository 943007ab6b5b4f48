package dev.evenkeel.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.web.live.LiveHub;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.UpgradeRejectedException;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.client.WebClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The live view over an event bus whose other side the test plays. */
class LiveRoutesTest {
  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger looks = new AtomicInteger();
  private final WebSocketClient client = vertx.createWebSocketClient(clientOptions());
  private String deployment;
  private int port;

  /** Members of the group that the dispatcher answers with, each with other figures every time. */
  private volatile int members = 1;

  private volatile boolean silent;

  @BeforeEach
  void start() throws Exception {
    vertx
        .eventBus()
        .<JsonObject>consumer(
            Addresses.API_CLUSTER,
            question ->
                question.reply(
                    new JsonObject()
                        .put("cluster", "id")
                        .put("dispatcher", "n7")
                        .put("nodes", new JsonArray())
                        .put("logs", new JsonArray())));
    vertx
        .eventBus()
        .<Buffer>consumer(
            Addresses.groups("n7"),
            question -> {
              if (!silent) {
                String text = answer(looks.incrementAndGet()).encode();
                question.reply(Frames.answer(text.getBytes(StandardCharsets.UTF_8)));
              }
            });
    WebVerticle web = new WebVerticle();
    JsonObject config = new JsonObject().put("port", 0).put("node", "n7");
    deployment = get(vertx.deployVerticle(web, new DeploymentOptions().setConfig(config)));
    port = web.actualPort();
  }

  @AfterEach
  void stop() throws Exception {
    get(vertx.close());
  }

  private JsonObject answer(int look) {
    JsonArray all = new JsonArray();
    for (int i = 0; i < members; i++) {
      all.add(
          new JsonObject()
              .put("member", "member-with-a-long-name-so-that-it-takes-some-space-" + i)
              .put("consumed", look)
              .put("shards", new JsonArray())
              .put("lastHeartbeatMs", look));
    }
    JsonObject group =
        new JsonObject().put("group", "g").put("members", all).put("shards", new JsonArray());
    JsonObject facts =
        new JsonObject().put("groups", new JsonArray().add(group)).put("topics", new JsonArray());
    return new JsonObject().put("facts", facts).put("tag", "t").put("moves", new JsonArray());
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private static WebSocketClientOptions clientOptions() {
    return new WebSocketClientOptions()
        .setMaxConnections(1_000)
        .setMaxFrameSize(16 << 20)
        .setMaxMessageSize(16 << 20);
  }

  private WebSocketConnectOptions at(String path) {
    return new WebSocketConnectOptions().setHost("127.0.0.1").setPort(port).setURI(path);
  }

  private WebSocket connect() throws Exception {
    return get(client.connect(at("/ws/live")));
  }

  private List<JsonObject> watch(WebSocket socket) {
    List<JsonObject> frames = new CopyOnWriteArrayList<>();
    socket.textMessageHandler(text -> frames.add(new JsonObject(text)));
    return frames;
  }

  private static JsonObject group(JsonObject frame) {
    return frame.getJsonObject("groups").getJsonObject("g");
  }

  @Test
  void aSnapshotThenChangesAndAnEmptyOneWhenTheDispatcherIsSilent() throws Exception {
    List<JsonObject> frames = watch(connect());
    await().until(() -> frames.size() > 2);
    assertThat(frames.get(0).getString("type")).isEqualTo("snapshot");
    assertThat(frames.get(0).getJsonObject("cluster").getString("dispatcher")).isEqualTo("n7");
    assertThat(group(frames.get(0)).getJsonObject("members").size()).isOne();
    silent = true;
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> frames.stream().skip(1).anyMatch(f -> f.getJsonObject("patch").isEmpty()));
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> frames.stream().skip(1).anyMatch(LiveRoutesTest::removesDispatcher));
    assertThat(frames.stream().skip(1).map(frame -> frame.getJsonObject("patch")))
        .noneMatch(patch -> patch.containsKey("groups") && patch.getValue("groups") == null);
    for (int i = 0; i < frames.size(); i++) {
      assertThat(frames.get(i).getLong("seq")).isEqualTo(i + 1);
    }
  }

  private static boolean removesDispatcher(JsonObject change) {
    JsonObject cluster = change.getJsonObject("patch").getJsonObject("cluster");
    return cluster != null
        && cluster.containsKey("dispatcher")
        && cluster.getString("dispatcher") == null;
  }

  @Test
  void whoDoesNotReadGetsASnapshotLaterAndHoldsUpNobody() throws Exception {
    members = 4_000;
    // A size that is set does not grow. Else a kernel may take in 32 MB for one who reads nothing.
    var small = vertx.createWebSocketClient(clientOptions().setReceiveBufferSize(64 << 10));
    WebSocket slow = get(small.connect(at("/ws/live")));
    List<JsonObject> late = watch(slow);
    await().until(() -> !late.isEmpty());
    slow.pause();
    List<JsonObject> quick = watch(connect());
    // At each, the dispatcher is asked as soon as it may be again.
    vertx.setPeriodic(50, id -> vertx.eventBus().publish(Addresses.TOPIC_CHANGES, null));
    int begun = late.size();
    // Over 20 MB: the node's socket holds 4 at most, and the client some 10.
    await().atMost(Duration.ofSeconds(60)).until(() -> quick.size() > 60);
    assertThat(quick.stream().skip(1)).allMatch(frame -> frame.getString("type").equals("change"));
    int sentMeanwhile = quick.size();
    slow.resume();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> late.stream().skip(begun).anyMatch(f -> f.getString("type").equals("snapshot")));
    for (int i = 0; i < late.size(); i++) {
      assertThat(late.get(i).getLong("seq")).isEqualTo(i + 1);
    }
    long held =
        late.stream()
            .skip(begun)
            .takeWhile(frame -> !frame.getString("type").equals("snapshot"))
            .count();
    assertThat(held).as("frames sent to who did not read").isLessThan(sentMeanwhile);
  }

  @Test
  void oneReadingServesAllAndNobodyIsAskedWhenNobodyWatches() throws Exception {
    List<List<JsonObject>> all = new ArrayList<>();
    List<WebSocket> sockets = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      WebSocket socket = connect();
      sockets.add(socket);
      all.add(watch(socket));
    }
    await().until(() -> all.stream().allMatch(frames -> frames.size() > 3));
    int told = all.get(0).size();
    assertThat(looks.get()).isLessThan(2 * told + 10);
    for (WebSocket socket : sockets) {
      get(socket.close());
    }
    int[] before = {-1};
    await()
        .atMost(Duration.ofSeconds(20))
        .pollInterval(Duration.ofSeconds(2))
        .until(() -> before[0] == (before[0] = looks.get()));
  }

  @Test
  void pagesOfOthersAndTooManyAreRefused() throws Exception {
    Future<WebSocket> other =
        client.connect(at("/ws/live").addHeader("Origin", "http://evil.example"));
    assertThatThrownBy(() -> get(other))
        .cause()
        .isInstanceOfSatisfying(
            UpgradeRejectedException.class, e -> assertThat(e.getStatus()).isEqualTo(403));
    String own = "http://127.0.0.1:" + port;
    WebSocket first = get(client.connect(at("/ws/live").addHeader("Origin", own)));
    for (int i = 1; i < LiveHub.WATCHERS_MAX; i++) {
      connect();
    }
    assertThatThrownBy(this::connect)
        .cause()
        .isInstanceOfSatisfying(
            UpgradeRejectedException.class, e -> assertThat(e.getStatus()).isEqualTo(503));
    get(first.close());
    await().ignoreExceptions().until(() -> connect() != null);
    var plain = WebClient.create(vertx).get(port, "127.0.0.1", "/ws/live").send();
    assertThat(get(plain).statusCode()).isEqualTo(426);
  }

  @Test
  void aNodeThatStopsSaysGoodbyeAndLargeMessagesAreCutOff() throws Exception {
    WebSocket talker = connect();
    talker.writeTextMessage("x".repeat(5_000));
    await().until(talker::isClosed);
    WebSocket watcher = connect();
    watch(watcher);
    watcher.writeTextMessage("hello");
    get(vertx.undeploy(deployment));
    await().until(() -> watcher.closeStatusCode() != null);
    assertThat(watcher.closeStatusCode()).isEqualTo((short) 1001);
  }

  @Test
  void anOriginIsTheSameWithItsUsualPort() {
    assertThat(LiveRoutes.sameOrigin(null, null)).isTrue();
    assertThat(LiveRoutes.sameOrigin("http://a:8080", HostAndPort.create("A", 8080))).isTrue();
    assertThat(LiveRoutes.sameOrigin("https://a", HostAndPort.create("a", 443))).isTrue();
    assertThat(LiveRoutes.sameOrigin("https://a", HostAndPort.create("a", -1))).isTrue();
    assertThat(LiveRoutes.sameOrigin("http://a:1", HostAndPort.create("a", 2))).isFalse();
    assertThat(LiveRoutes.sameOrigin("http://b:8080", HostAndPort.create("a", 8080))).isFalse();
    assertThat(LiveRoutes.sameOrigin("null", HostAndPort.create("a", 80))).isFalse();
    assertThat(LiveRoutes.sameOrigin("http://a b", HostAndPort.create("a", 80))).isFalse();
  }
}
