package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.gateway.live.LiveHub;
import dev.evenkeel.gateway.live.MergePatches;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientWebSocket;
import io.vertx.core.http.UpgradeRejectedException;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.WebClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The live view over an event bus whose other side the test plays. */
class LiveRoutesTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger looks = new AtomicInteger();
  private final WebSocketClient client = vertx.createWebSocketClient(clientOptions());
  private String deployment;
  private int port;

  /** Members of the group that the dispatcher answers with, each with other figures every time. */
  private volatile int members = 1;

  /** What their names begin with. */
  private volatile String name = "member-";

  private volatile boolean silent;

  @BeforeEach
  void start() throws Exception {
    vertx
        .eventBus()
        .<JsonObject>consumer(
            ApiAddresses.CLUSTER,
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
    deployment = await(vertx.deployVerticle(web, new DeploymentOptions().setConfig(config)));
    port = web.actualPort();
  }

  private JsonObject answer(int look) {
    JsonArray all = new JsonArray();
    for (int i = 0; i < members; i++) {
      all.add(
          new JsonObject()
              .put("member", name + i)
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
    return await(client.connect(at("/ws/live")));
  }

  /** One who takes what comes from the first frame on. */
  private static final class Viewer {
    final List<JsonObject> frames = new CopyOnWriteArrayList<>();
    final WebSocket socket;

    Viewer(WebSocketClient client, WebSocketConnectOptions where, UnaryOperator<String> part)
        throws Exception {
      ClientWebSocket opening = client.webSocket();
      opening.textMessageHandler(text -> frames.add(new JsonObject(part.apply(text))));
      await(opening.connect(where));
      socket = opening;
    }

    /** What all frames make together. */
    JsonObject state() {
      Map<String, Object> state = Map.of();
      for (JsonObject frame : frames) {
        Map<String, Object> told = new JsonObject(frame.encode()).getMap();
        if (frame.getString("type").equals("snapshot")) {
          state = told;
        } else {
          MergePatches.apply(state, new JsonObject(told).getJsonObject("patch").getMap());
        }
      }
      return new JsonObject(state);
    }
  }

  private Viewer view() throws Exception {
    return new Viewer(client, at("/ws/live"), text -> text);
  }

  /** The frame without what it tells: to read that takes long. */
  private static String head(String frame) {
    return frame.substring(0, frame.indexOf(",\"time\"")) + "}";
  }

  @Test
  void aSnapshotThenChangesAndAnEmptyOneWhenTheDispatcherIsSilent() throws Exception {
    Viewer viewer = view();
    List<JsonObject> frames = viewer.frames;
    // A dispatcher that does not answer in time is unknown for a while.
    await().until(() -> frames.size() > 2 && knowsTheDispatcher(viewer.state()));
    assertThat(frames.get(0).getString("type")).isEqualTo("snapshot");
    assertThat(viewer.state().getJsonObject("groups").getJsonObject("g").getJsonObject("members"))
        .hasSize(1);
    silent = true;
    int from = frames.size();
    Wait.until(() -> frames.stream().skip(from).anyMatch(f -> f.getJsonObject("patch").isEmpty()));
    await().until(() -> frames.stream().skip(from).anyMatch(LiveRoutesTest::removesDispatcher));
    assertThat(frames.stream().skip(1).map(frame -> frame.getJsonObject("patch")))
        .noneMatch(patch -> patch.containsKey("groups") && patch.getValue("groups") == null);
    times(frames.size(), i -> assertThat(frames.get(i).getLong("seq")).isEqualTo(i + 1));
  }

  private static boolean knowsTheDispatcher(JsonObject state) {
    JsonObject none = new JsonObject();
    return "n7".equals(state.getJsonObject("cluster", none).getString("dispatcher"))
        && state.getJsonObject("groups", none).containsKey("g");
  }

  private static boolean removesDispatcher(JsonObject change) {
    JsonObject cluster = change.getJsonObject("patch").getJsonObject("cluster");
    return cluster != null
        && cluster.containsKey("dispatcher")
        && cluster.getString("dispatcher") == null;
  }

  @Test
  void whoDoesNotReadGetsASnapshotLaterAndHoldsUpNobody() throws Exception {
    // Long names take as much space as many members, and less work.
    members = 800;
    name = "m".repeat(500);
    // A size that is set does not grow. Else a kernel may take in 32 MB for one who reads nothing.
    var small = vertx.createWebSocketClient(clientOptions().setReceiveBufferSize(64 << 10));
    Viewer slow = new Viewer(small, at("/ws/live"), LiveRoutesTest::head);
    List<JsonObject> late = slow.frames;
    await().until(() -> !late.isEmpty());
    slow.socket.pause();
    List<JsonObject> quick = new Viewer(client, at("/ws/live"), LiveRoutesTest::head).frames;
    // At each, the dispatcher is asked as soon as it may be again.
    vertx.setPeriodic(50, id -> vertx.eventBus().publish(Addresses.TOPIC_CHANGES, null));
    int begun = late.size();
    // Over 20 MB: the node's socket holds 4 at most, and the client some 10. On a busy machine the
    // quick one, too, may be behind for a moment.
    Wait.until(
        180, () -> quick.stream().filter(f -> f.getString("type").equals("change")).count() > 60);
    int sentMeanwhile = quick.size();
    assertThat(quick.stream().filter(f -> f.getString("type").equals("snapshot")).count())
        .as("how often the quick one was too slow, too")
        .isLessThan(sentMeanwhile / 3);
    slow.socket.resume();
    Wait.until(
        () -> late.stream().skip(begun).anyMatch(f -> f.getString("type").equals("snapshot")));
    times(late.size(), i -> assertThat(late.get(i).getLong("seq")).isEqualTo(i + 1));
    long held =
        late.stream()
            .skip(begun)
            .takeWhile(frame -> !frame.getString("type").equals("snapshot"))
            .count();
    assertThat(held).as("frames sent to who did not read").isLessThan(sentMeanwhile);
  }

  @Test
  void oneReadingServesAllAndNobodyIsAskedWhenNobodyWatches() throws Exception {
    List<Viewer> all = new ArrayList<>();
    times(20, i -> all.add(view()));
    await().until(() -> all.stream().allMatch(viewer -> viewer.frames.size() > 3));
    int told = all.get(0).frames.size();
    assertThat(looks.get()).isLessThan(2 * told + 10);
    all.forEach(viewer -> await(viewer.socket.close()));
    int[] before = {-1};
    await()
        .pollInterval(Duration.ofMillis(1_200))
        .until(() -> before[0] == (before[0] = looks.get()));
  }

  @Test
  void pagesOfOthersAndTooManyAreRefused() throws Exception {
    var other = client.connect(at("/ws/live").addHeader("Origin", "http://evil.example"));
    assertThatThrownBy(() -> await(other))
        .isInstanceOfSatisfying(
            UpgradeRejectedException.class, e -> assertThat(e.getStatus()).isEqualTo(403));
    String own = "http://127.0.0.1:" + port;
    WebSocket first = await(client.connect(at("/ws/live").addHeader("Origin", own)));
    for (int i = 1; i < LiveHub.WATCHERS_MAX; i++) {
      connect();
    }
    assertThatThrownBy(this::connect)
        .isInstanceOfSatisfying(
            UpgradeRejectedException.class, e -> assertThat(e.getStatus()).isEqualTo(503));
    await(first.close());
    await().ignoreExceptions().until(() -> connect() != null);
    var plain = WebClient.create(vertx).get(port, "127.0.0.1", "/ws/live").send();
    assertThat(await(plain).statusCode()).isEqualTo(426);
  }

  @Test
  void aNodeThatStopsSaysGoodbyeAndLargeMessagesAreCutOff() throws Exception {
    WebSocket talker = connect();
    talker.writeTextMessage("x".repeat(5_000));
    await().until(talker::isClosed);
    WebSocket watcher = connect();
    watcher.writeTextMessage("hello");
    await(vertx.undeploy(deployment));
    await().until(() -> watcher.closeStatusCode() != null);
    assertThat(watcher.closeStatusCode()).isEqualTo((short) 1001);
  }
}
