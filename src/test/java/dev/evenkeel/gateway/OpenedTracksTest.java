package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tracks of programs that do not use the client library. */
class OpenedTracksTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int RANGE = 5;

  private EmbeddedNode node;
  private Context context;
  private String coordinator;

  @BeforeEach
  void start(EmbeddedNode its) {
    node = its;
    context = node.vertx().getOrCreateContext();
    coordinator = "c-" + System.nanoTime();
  }

  private HttpResponse<String> http(String method, String path, String body) throws Exception {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create(node.http() + "/api/coordinators/" + coordinator + path))
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .header("content-type", "application/json")
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private JsonObject done(int status, String method, String path, String body) throws Exception {
    HttpResponse<String> answer = http(method, path, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return answer.body().isEmpty() ? new JsonObject() : new JsonObject(answer.body());
  }

  private JsonObject bus(JsonObject question) {
    return (JsonObject)
        await(node.vertx().eventBus().request("evenkeel.api.coordinators", question)).body();
  }

  private JsonObject asked(String action) {
    return new JsonObject().put("action", action).put("coordinator", coordinator);
  }

  @Test
  void stepsByHttpAndByTheEventBusKeepEachOtherLevel() throws Exception {
    JsonObject a = done(201, "POST", "/tracks", "{\"name\":\"a\",\"range\":5,\"expiresMs\":9000}");
    assertThat(a.getString("name")).isEqualTo("a");
    assertThat(a.getLong("steps")).isZero();
    assertThat(a.getInteger("expiresMs")).isEqualTo(9_000);
    String moves = "/tracks/" + a.getString("track") + "/moves";
    assertThat(done(200, "POST", moves, "{\"steps\":3}"))
        .isEqualTo(new JsonObject("{\"moved\":3,\"steps\":3}"));
    JsonObject b = bus(asked("open").put("name", "b").put("range", RANGE));
    long begin = b.getLong("steps");
    assertThat(begin).isBetween(0L, 3L);
    done(200, "POST", moves, "{\"steps\":1000,\"waitMs\":1000}");
    JsonObject waits = done(200, "POST", moves, "{\"steps\":1000,\"waitMs\":100}");
    assertThat(waits.getLong("steps")).isEqualTo(begin + RANGE);
    assertThat(waits.getInteger("moved")).isZero();

    JsonObject moveB = asked("move").put("track", b.getString("track"));
    assertThat(bus(moveB.copy().put("steps", 2)).getInteger("moved")).isEqualTo(2);
    assertThat(done(200, "POST", moves, "{}").getInteger("moved")).isEqualTo(1);
    assertThat(done(204, "DELETE", "/tracks/" + a.getString("track"), "").isEmpty()).isTrue();
    assertThat(http("POST", moves, "{}").statusCode()).isEqualTo(404);
    assertThat(bus(asked("destroy").put("track", b.getString("track"))).getString("track"))
        .isEqualTo(b.getString("track"));
  }

  @Test
  void anotherRangeOrABadQuestionIsRefused() throws Exception {
    done(201, "POST", "/tracks", "{\"range\":5}");
    assertThat(http("POST", "/tracks", "{\"range\":6}").statusCode()).isEqualTo(409);
    assertThat(http("POST", "/tracks", "{\"range\":0}").statusCode()).isEqualTo(400);
    assertThat(http("POST", "/tracks/x/moves", "{}").statusCode()).isEqualTo(404);
  }

  @Test
  void anotherGatewayPassesRequestsOn() {
    OpenedTracks here = run(() -> started(new OpenedTracks(node.vertx(), node.client())));
    OpenedTracks there = run(() -> started(new OpenedTracks(node.vertx(), node.client())));
    JsonObject opened =
        (JsonObject) run(() -> here.answer(asked("open").put("range", RANGE), null));
    JsonObject move = asked("move").put("track", opened.getString("track")).put("steps", 2);
    JsonObject moved = (JsonObject) run(() -> there.answer(move, null));
    assertThat(moved.getInteger("moved")).isEqualTo(2);
    run(here::stop);
    Refused.with(Refusal.UNKNOWN_SESSION, () -> run(() -> there.answer(move, null)));
    run(there::stop);
  }

  @Test
  void aTrackThatIsNotUsedExpires() {
    OpenedTracks here = run(() -> started(new OpenedTracks(node.vertx(), node.client())));
    JsonObject opened =
        (JsonObject)
            run(
                () ->
                    here.answer(
                        asked("open").put("range", 5).put("expiresMs", 5_000).put("idleMs", 60_000),
                        null));
    ClusterTrack other = await(node.client().coordinator(coordinator, RANGE).track("other"));
    dev.evenkeel.Wait.until("it holds the other back", () -> !other.move());
    JsonObject move = asked("move").put("track", opened.getString("track"));
    dev.evenkeel.Wait.until(
        "the other goes on", () -> other.steps() > 2 * RANGE || other.move() && false);
    Refused.with(Refusal.UNKNOWN_SESSION, () -> run(() -> here.answer(move, null)));
    run(here::stop);
  }

  /** The client keeps those that are open. */
  @Test
  void nothingIsLeftOfATrackThatHasEndedOrWasRefused() {
    List<ClusterCoordinator> made = new ArrayList<>();
    InvocationHandler notes =
        (proxy, method, arguments) -> {
          Object result = method.invoke(node.client(), arguments);
          if (result instanceof ClusterCoordinator one) {
            made.add(one);
          }
          return result;
        };
    EvenkeelClient client =
        (EvenkeelClient)
            Proxy.newProxyInstance(
                EvenkeelClient.class.getClassLoader(),
                new Class<?>[] {EvenkeelClient.class},
                notes);
    OpenedTracks here = run(() -> started(new OpenedTracks(node.vertx(), client)));
    JsonObject opened =
        (JsonObject) run(() -> here.answer(asked("open").put("range", RANGE), null));
    Refused.with(
        Refusal.GROUP_MISMATCH,
        () -> run(() -> here.answer(asked("open").put("range", RANGE + 1), null)));
    run(() -> here.answer(asked("destroy").put("track", opened.getString("track")), null));
    assertThat(made).hasSize(2);
    for (ClusterCoordinator each : made) {
      Refused.with(Refusal.UNAVAILABLE, () -> await(each.track("x")), "is closed");
    }
    run(here::stop);
  }

  /** As while the group is paused: the track keeps each question until it may move. */
  @Test
  void requestsThatWaitAskTheTrackOnce() {
    AtomicInteger asked = new AtomicInteger();
    List<Promise<Void>> ready = new ArrayList<>();
    AtomicInteger steps = new AtomicInteger();
    ClusterTrack track =
        fake(
            ClusterTrack.class,
            method ->
                switch (method) {
                  case "name" -> "t";
                  case "steps" -> (long) steps.get();
                  case "move" -> steps.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
                  case "ready" -> {
                    asked.incrementAndGet();
                    ready.add(Promise.promise());
                    yield ready.get(ready.size() - 1).future();
                  }
                  case "destroy" -> Future.succeededFuture();
                  default -> null;
                });
    ClusterCoordinator of =
        fake(
            ClusterCoordinator.class,
            method -> method.equals("name") ? coordinator : Future.succeededFuture(track));
    EvenkeelClient client = fake(EvenkeelClient.class, method -> of);
    OpenedTracks here = run(() -> started(new OpenedTracks(node.vertx(), client)));
    JsonObject opened =
        (JsonObject) run(() -> here.answer(asked("open").put("range", RANGE), null));
    JsonObject move =
        asked("move").put("track", opened.getString("track")).put("waitMs", 1).put("steps", 1);
    for (int i = 0; i < 50; i++) {
      assertThat(((JsonObject) run(() -> here.answer(move, null))).getInteger("moved")).isZero();
    }
    assertThat(asked).hasValue(1);
    JsonObject patient = move.copy().put("waitMs", 15_000);
    Future<Object> first = run(() -> Future.succeededFuture(here.answer(patient, null)));
    Future<Object> second = run(() -> Future.succeededFuture(here.answer(patient, null)));
    steps.set(1);
    ready.get(0).complete();
    assertThat(((JsonObject) await(first)).getInteger("moved")).isEqualTo(1);
    dev.evenkeel.Wait.until("the second one waits on", () -> asked.get() == 2);
    steps.set(1);
    ready.get(1).complete();
    assertThat(((JsonObject) await(second)).getInteger("moved")).isEqualTo(1);
    run(here::stop);
  }

  private static <T> T fake(Class<T> type, Function<String, Object> answers) {
    InvocationHandler handler = (proxy, method, arguments) -> answers.apply(method.getName());
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Future<OpenedTracks> started(OpenedTracks tracks) {
    return tracks.start().map(started -> tracks);
  }

  /** Runs something on the context of the gateway. */
  private <T> T run(Callable<Future<T>> what) {
    Promise<T> done = Promise.promise();
    context.runOnContext(
        none -> {
          try {
            what.call().onComplete(done);
          } catch (Exception e) {
            done.fail(e);
          }
        });
    return await(done.future());
  }
}
