package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Readiness;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.gateway.live.LiveHub;
import dev.evenkeel.protocol.Refusal;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The HTTP API over an event bus whose other side the test plays. */
class WebVerticleTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final WebClient client = WebClient.create(vertx);
  private final Map<String, JsonObject> asked = new HashMap<>();
  private int port;

  @BeforeEach
  void start() throws Exception {
    WebVerticle web = new WebVerticle();
    JsonObject config = new JsonObject().put("port", 0).put("node", "n7");
    await(vertx.deployVerticle(web, new DeploymentOptions().setConfig(config)));
    port = web.actualPort();
  }

  /** Answers at an address; a Refusal is a failure. */
  private void api(String address, Function<JsonObject, Object> answer) {
    vertx
        .eventBus()
        .<JsonObject>consumer(
            address,
            message -> {
              asked.put(address, message.body());
              Object result = answer.apply(message.body());
              if (result instanceof Refusal refusal) {
                message.fail(1 + refusal.ordinal(), refusal + ": because: so");
              } else {
                message.reply(result);
              }
            });
  }

  private HttpResponse<Buffer> call(HttpMethod method, String path, Object body) throws Exception {
    var request = client.request(method, port, "127.0.0.1", path);
    return await(body == null ? request.send() : request.sendJson(body));
  }

  private HttpResponse<Buffer> get(String path) throws Exception {
    return call(HttpMethod.GET, path, null);
  }

  @Test
  void topicsAreListedDescribedCreatedConfiguredAndDeleted() throws Exception {
    api(ApiAddresses.TOPICS, question -> new JsonObject().put("name", "t"));
    assertThat(get("/api/topics").bodyAsJsonObject().getString("name")).isEqualTo("t");
    assertThat(asked.get(ApiAddresses.TOPICS)).isEqualTo(new JsonObject("{\"action\":\"list\"}"));
    get("/api/topics/a%20b");
    assertThat(asked.get(ApiAddresses.TOPICS))
        .isEqualTo(new JsonObject("{\"action\":\"get\",\"name\":\"a b\"}"));
    JsonObject topic = new JsonObject().put("name", "t").put("shards", 4);
    assertThat(call(HttpMethod.POST, "/api/topics", topic).statusCode()).isEqualTo(201);
    assertThat(asked.get(ApiAddresses.TOPICS)).isEqualTo(topic.copy().put("action", "create"));
    JsonObject settings = new JsonObject().put("retentionMillis", 5);
    assertThat(call(HttpMethod.PATCH, "/api/topics/t", settings).statusCode()).isEqualTo(200);
    assertThat(asked.get(ApiAddresses.TOPICS))
        .isEqualTo(settings.copy().put("action", "configure").put("name", "t"));
    assertThat(
            call(HttpMethod.PATCH, "/api/topics/t", new JsonObject().put("name", "u")).statusCode())
        .isEqualTo(400);
    assertThat(call(HttpMethod.DELETE, "/api/topics/t", null).statusCode()).isEqualTo(200);
    assertThat(asked.get(ApiAddresses.TOPICS).getString("action")).isEqualTo("delete");
  }

  @Test
  void unknownParametersOfTheQueryAreRefusedAlsoWhereSomethingChanges() throws Exception {
    api(ApiAddresses.TOPICS, question -> new JsonObject().put("name", "t"));
    JsonObject topic = new JsonObject().put("name", "t").put("shards", 4);
    for (HttpResponse<Buffer> answer :
        List.of(
            call(HttpMethod.POST, "/api/topics?dryRun=true", topic),
            call(HttpMethod.PATCH, "/api/topics/t?dryRun=true", new JsonObject()),
            call(HttpMethod.DELETE, "/api/topics/t?dryRun=true", null),
            get("/api/topics?dryRun=true"))) {
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.bodyAsJsonObject().getString("message"))
          .startsWith("unknown query parameter 'dryRun'");
    }
    assertThat(asked).as("nothing was done").isEmpty();
  }

  @Test
  void aBodyMayRepeatWhatThePathSaysAndNotContradictIt() throws Exception {
    api(ApiAddresses.PRODUCE, question -> new JsonObject("{\"shard\":0,\"offset\":1}"));
    api(ApiAddresses.GROUPS, question -> new JsonObject().put("group", "g"));
    JsonObject message = new JsonObject().put("payload", "p");
    String messages = "/api/topics/t/messages";
    assertThat(call(HttpMethod.POST, messages, message.copy().put("topic", "t")).statusCode())
        .isEqualTo(200);
    asked.clear();
    assertInvalid(messages, message.copy().put("topic", "other"), "'topic' is 'other'");
    JsonObject reset = new JsonObject().put("to", "earliest");
    assertInvalid("/api/groups/g/offsets", reset.copy().put("group", "h"), "'group' is 'h'");
    assertInvalid("/api/groups/g/offsets", reset.copy().put("action", "drop"), "'action'");
    assertInvalid("/api/topics", new JsonObject().put("action", "delete"), "'action'");
    assertThat(asked).as("nothing was done").isEmpty();
  }

  private void assertInvalid(String path, JsonObject body, String message) throws Exception {
    HttpResponse<Buffer> answer = call(HttpMethod.POST, path, body);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.bodyAsJsonObject().getString("message")).contains(message);
  }

  @Test
  void messagesAreSentAloneManyAndRaw() throws Exception {
    api(
        ApiAddresses.PRODUCE,
        question ->
            question.containsKey("messages")
                ? new JsonObject(
                    "{\"results\":[{\"shard\":0,\"offset\":1},{\"shard\":0,\"offset\":2}]}")
                : new JsonObject("{\"shard\":0,\"offset\":1}"));
    JsonObject message = new JsonObject().put("key", "k").put("payload", "p");
    HttpResponse<Buffer> one = call(HttpMethod.POST, "/api/topics/t/messages", message);
    assertThat(one.statusCode()).isEqualTo(200);
    assertThat(one.bodyAsJsonObject()).isEqualTo(new JsonObject("{\"shard\":0,\"offset\":1}"));
    assertThat(asked.get(ApiAddresses.PRODUCE)).isEqualTo(message.copy().put("topic", "t"));
    JsonArray many = new JsonArray().add(message).add(message);
    assertThat(call(HttpMethod.POST, "/api/topics/t/messages", many).bodyAsJsonArray()).hasSize(2);
    byte[] bytes = {0, (byte) 0xFF};
    HttpResponse<Buffer> raw =
        await(
            client
                .post(port, "127.0.0.1", "/api/topics/t/messages?key=a%2Fb")
                .sendBuffer(Buffer.buffer(bytes)));
    assertThat(raw.statusCode()).isEqualTo(200);
    JsonObject question = asked.get(ApiAddresses.PRODUCE);
    assertThat(question.getString("key")).isEqualTo("a/b");
    assertThat(Base64.getDecoder().decode(question.getString("payloadBase64"))).isEqualTo(bytes);
  }

  @Test
  void whatIsNotWhereTheCallerWantsItIsAcceptedOnly() throws Exception {
    JsonObject message = new JsonObject().put("payload", "p");
    Object[] next = {new JsonObject("{\"shard\":0,\"offset\":1,\"missing\":[\"n3\"]}")};
    api(ApiAddresses.PRODUCE, question -> next[0]);
    String path = "/api/topics/t/messages?acks=";
    HttpResponse<Buffer> lacking = call(HttpMethod.POST, path + "all", message);
    assertThat(lacking.statusCode()).isEqualTo(202);
    assertThat(lacking.bodyAsJsonObject()).isEqualTo(next[0]);
    assertThat(asked.get(ApiAddresses.PRODUCE))
        .isEqualTo(message.copy().put("topic", "t").put("acks", "all"));
    next[0] = new JsonObject("{\"shard\":0,\"offset\":1}");
    assertThat(call(HttpMethod.POST, path + "all", message).statusCode()).isEqualTo(200);
    next[0] = new JsonObject("{\"shard\":0,\"offset\":null}");
    assertThat(call(HttpMethod.POST, path + "none", message).statusCode()).isEqualTo(202);
    next[0] = new JsonObject("{\"shard\":0,\"offset\":null,\"deliverAt\":9}");
    assertThat(call(HttpMethod.POST, path + "none", message).statusCode()).isEqualTo(202);
    assertThat(call(HttpMethod.POST, path + "majority", message).statusCode()).isEqualTo(200);
    next[0] =
        new JsonObject(
            "{\"results\":[{\"shard\":0,\"offset\":1},"
                + "{\"shard\":0,\"offset\":2,\"missing\":[]}]}");
    JsonArray many = new JsonArray().add(message).add(message);
    assertThat(call(HttpMethod.POST, path + "all", many).statusCode()).isEqualTo(202);
  }

  @Test
  void oneFailureOfManyIsNotASuccess() throws Exception {
    api(
        ApiAddresses.PRODUCE,
        question ->
            new JsonObject(
                "{\"results\":[{\"shard\":0,\"offset\":1},"
                    + "{\"error\":\"OVERLOADED\",\"message\":\"full\"}]}"));
    HttpResponse<Buffer> answer =
        call(HttpMethod.POST, "/api/topics/t/messages", new JsonArray().add(new JsonObject()));
    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.bodyAsJsonObject().getString("error")).isEqualTo("OVERLOADED");
    assertThat(answer.bodyAsJsonObject().getJsonArray("results")).hasSize(2);
  }

  /** Over the event bus, many messages have this form. */
  @Test
  void manyMessagesMayAlsoBeAFieldOfAnObject() throws Exception {
    api(
        ApiAddresses.PRODUCE,
        question -> new JsonObject("{\"results\":[{\"shard\":0},{\"shard\":1}]}"));
    JsonArray messages = new JsonArray("[{\"payload\":\"a\"},{\"payload\":\"b\"}]");
    HttpResponse<Buffer> answer =
        call(HttpMethod.POST, "/api/topics/t/messages", new JsonObject().put("messages", messages));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.bodyAsJsonArray()).hasSize(2);
    assertThat(asked.get(ApiAddresses.PRODUCE))
        .isEqualTo(new JsonObject().put("topic", "t").put("messages", messages));
    assertThat(
            call(HttpMethod.POST, "/api/topics/t/messages", new JsonObject("{\"messages\":\"a\"}"))
                .statusCode())
        .isEqualTo(400);
  }

  @Test
  void aMessageALine() throws Exception {
    api(
        ApiAddresses.PRODUCE,
        question -> new JsonObject("{\"results\":[{\"shard\":0},{\"shard\":1}]}"));
    HttpResponse<Buffer> answer = lines("{\"payload\":\"a\"}\n\n{\"payload\":\"b\"}\n", null);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.bodyAsJsonArray()).hasSize(2);
    assertThat(asked.get(ApiAddresses.PRODUCE).getJsonArray("messages"))
        .isEqualTo(new JsonArray("[{\"payload\":\"a\"},{\"payload\":\"b\"}]"));
    assertThat(lines("{\"payload\":\"a\"}\n{\n", null).bodyAsString()).contains("line 2");
    assertThat(lines("\n", null).statusCode()).isEqualTo(400);
  }

  @Test
  void aRequestWithAKeyIsDoneOnce() throws Exception {
    AtomicInteger done = new AtomicInteger();
    Object[] next = {new JsonObject("{\"results\":[{\"shard\":0,\"offset\":7}]}")};
    api(
        ApiAddresses.PRODUCE,
        question -> {
          done.incrementAndGet();
          return next[0];
        });
    HttpResponse<Buffer> first = lines("{\"payload\":\"a\"}", "k1");
    assertThat(lines("{\"payload\":\"a\"}", "k1").body()).isEqualTo(first.body());
    assertThat(done).hasValue(1);
    assertThat(lines("{\"payload\":\"b\"}", "k1").statusCode()).isEqualTo(422);
    assertThat(lines("{\"payload\":\"b\"}", "k2").statusCode()).isEqualTo(200);
    assertThat(done).hasValue(2);
    assertThat(lines("{\"payload\":\"b\"}", "k".repeat(201)).statusCode()).isEqualTo(400);
    // What did nothing may be tried again; what may have happened may not.
    next[0] = Refusal.OVERLOADED;
    HttpResponse<Buffer> full = lines("{\"payload\":\"a\"}", "k3");
    assertThat(full.statusCode()).isEqualTo(429);
    assertThat(full.getHeader("Retry-After")).isEqualTo("1");
    assertThat(
            Api.retryAfterSeconds(
                new JsonObject()
                    .put("message", "message 3: the quota of topic 't': try again after 4 s")))
        .as("the header says what the text says")
        .isEqualTo("4");
    next[0] = Refusal.INDETERMINATE;
    assertThat(lines("{\"payload\":\"a\"}", "k3").statusCode()).isEqualTo(503);
    assertThat(done).hasValue(4);
    assertThat(lines("{\"payload\":\"a\"}", "k3").statusCode()).isEqualTo(503);
    assertThat(done).hasValue(4);
  }

  private HttpResponse<Buffer> lines(String body, String key) throws Exception {
    var request =
        client
            .post(port, "127.0.0.1", "/api/topics/t/messages")
            .putHeader("content-type", "application/x-ndjson");
    return await(
        (key == null ? request : request.putHeader("Idempotency-Key", key))
            .sendBuffer(Buffer.buffer(body)));
  }

  @Test
  void messagesAreBrowsed() throws Exception {
    api(ApiAddresses.MESSAGES, question -> new JsonArray().add(new JsonObject()));
    assertThat(get("/api/topics/t/messages?shard=1&offset=2&limit=3").bodyAsJsonArray()).hasSize(1);
    assertThat(asked.get(ApiAddresses.MESSAGES))
        .isEqualTo(new JsonObject("{\"topic\":\"t\",\"shard\":1,\"offset\":2,\"limit\":3}"));
    assertThat(get("/api/topics/t/messages?shard=x").statusCode()).isEqualTo(400);
    assertThat(get("/api/topics/t/messages?ofset=1").bodyAsString())
        .contains("ofset")
        .contains("offset");
  }

  @Test
  void messagesAreSearched() throws Exception {
    api(
        ApiAddresses.MESSAGES,
        question -> new JsonObject("{\"messages\":[{\"offset\":7}],\"nextOffset\":40}"));
    HttpResponse<Buffer> found = get("/api/topics/t/messages?shard=1&key=k%201&at=2026-01-31");
    assertThat(found.bodyAsJsonArray()).hasSize(1);
    assertThat(found.getHeader("Evenkeel-Next-Offset")).isEqualTo("40");
    assertThat(asked.get(ApiAddresses.MESSAGES))
        .isEqualTo(
            new JsonObject(
                "{\"topic\":\"t\",\"shard\":1,\"key\":\"k"
                    + " 1\",\"at\":\"2026-01-31\",\"page\":true}"));
    assertThat(get("/api/topics/t/messages?page=true").statusCode()).isEqualTo(400);
  }

  @Test
  void groupsAndRebalances() throws Exception {
    api(ApiAddresses.GROUPS, question -> new JsonArray());
    get("/api/groups");
    assertThat(asked.get(ApiAddresses.GROUPS)).isEqualTo(new JsonObject("{\"action\":\"list\"}"));
    get("/api/groups/g");
    assertThat(asked.get(ApiAddresses.GROUPS))
        .isEqualTo(new JsonObject("{\"action\":\"get\",\"group\":\"g\"}"));
    get("/api/rebalances?group=g");
    assertThat(asked.get(ApiAddresses.GROUPS))
        .isEqualTo(new JsonObject("{\"action\":\"rebalances\",\"group\":\"g\"}"));
    get("/api/rebalances?limit=7");
    assertThat(asked.get(ApiAddresses.GROUPS))
        .isEqualTo(new JsonObject("{\"action\":\"rebalances\",\"limit\":7}"));
  }

  @Test
  void deadLettersAreListedShownReplayedAndDropped() throws Exception {
    api(ApiAddresses.GROUPS, question -> new JsonObject().put("count", 1));
    get("/api/groups/g/dead-letters?after=t%2F2%2F17&limit=7");
    assertThat(asked.get(ApiAddresses.GROUPS))
        .isEqualTo(
            new JsonObject(
                "{\"action\":\"dead-letters\",\"group\":\"g\",\"limit\":7,\"after\":\"t/2/17\"}"));
    get("/api/groups/g/dead-letters/t/2/17");
    assertThat(asked.get(ApiAddresses.GROUPS))
        .isEqualTo(
            new JsonObject(
                "{\"action\":\"dead-letter\",\"group\":\"g\",\"deadLetter\":\"t/2/17\"}"));
    for (String action : List.of("replay", "drop")) {
      String path = "/api/groups/g/dead-letters/" + action;
      JsonObject named = new JsonObject("{\"deadLetters\":[\"t/2/17\"]}");
      HttpResponse<Buffer> done = call(HttpMethod.POST, path, named);
      assertThat(done.statusCode()).as(done.bodyAsString()).isEqualTo(200);
      assertThat(done.bodyAsJsonObject().getInteger("count")).isEqualTo(1);
      assertThat(asked.get(ApiAddresses.GROUPS))
          .isEqualTo(named.copy().put("action", action).put("group", "g"));
      // The body may repeat what the path says.
      JsonObject all = new JsonObject("{\"all\":true,\"group\":\"g\"}");
      assertThat(call(HttpMethod.POST, path, all).statusCode()).isEqualTo(200);
      assertThat(asked.get(ApiAddresses.GROUPS))
          .isEqualTo(new JsonObject().put("all", true).put("action", action).put("group", "g"));
    }
  }

  @Test
  void wrongRequestsForDeadLettersAreJsonErrors() throws Exception {
    api(ApiAddresses.GROUPS, question -> Refusal.INVALID);
    for (String action : List.of("replay", "drop")) {
      String path = "/api/groups/g/dead-letters/" + action;
      var post = client.post(port, "127.0.0.1", path);
      assertError(await(post.sendBuffer(Buffer.buffer("{}"))), 415, "UNSUPPORTED_MEDIA_TYPE");
      var json = post.putHeader("content-type", "application/json");
      for (String body : List.of("", "{", "[]", "7")) {
        assertError(await(json.sendBuffer(Buffer.buffer(body))), 400, "INVALID");
      }
      assertThat(asked).as("nobody was asked").isEmpty();
      Buffer huge = Buffer.buffer(" ".repeat((1 << 20) + 1));
      assertError(await(json.sendBuffer(huge)), 413, "TOO_LARGE");
      assertError(await(json.sendBuffer(Buffer.buffer("{}"))), 400, "INVALID");
      asked.clear();
      assertError(call(HttpMethod.POST, path + "?x=1", new JsonObject()), 400, "INVALID");
      assertThat(asked).isEmpty();
      assertError(get(path), 405, "METHOD_NOT_ALLOWED");
    }
    assertError(get("/api/groups/g/dead-letters?limit=x"), 400, "INVALID");
  }

  @Test
  void refusalsHaveTheirStatus() throws Exception {
    Map<Refusal, Integer> statuses =
        Map.of(
            Refusal.INVALID, 400,
            Refusal.UNKNOWN_TOPIC, 404,
            Refusal.TOPIC_EXISTS, 409,
            Refusal.TOO_LARGE, 413,
            Refusal.OVERLOADED, 429,
            Refusal.UNAVAILABLE, 503,
            Refusal.INDETERMINATE, 503);
    Refusal[] next = new Refusal[1];
    api(ApiAddresses.TOPICS, question -> next[0]);
    for (Map.Entry<Refusal, Integer> each : statuses.entrySet()) {
      next[0] = each.getKey();
      HttpResponse<Buffer> answer = get("/api/topics");
      assertThat(answer.statusCode()).isEqualTo(each.getValue());
      assertThat(answer.bodyAsJsonObject())
          .isEqualTo(
              new JsonObject().put("error", each.getKey().name()).put("message", "because: so"));
    }
  }

  @Test
  void unexpectedErrorsTellNothingAboutTheProgram() throws Exception {
    vertx
        .eventBus()
        .consumer(
            ApiAddresses.TOPICS,
            question -> question.fail(-1, "java.lang.NullPointerException: field Foo.bar"));
    api(ApiAddresses.PRODUCE, question -> "no object");
    for (HttpResponse<Buffer> answer :
        List.of(
            get("/api/topics"),
            call(HttpMethod.POST, "/api/topics/t/messages", new JsonObject()),
            call(HttpMethod.POST, "/api/topics/t/messages?acks=all", new JsonArray().add(1)))) {
      assertError(answer, 500, "INTERNAL");
      assertThat(answer.bodyAsJsonObject().getString("message"))
          .matches("internal error [0-9a-f]{8}: the log says more under this id");
    }
  }

  @Test
  void errorsInJsonTellNothingAboutTheParser() throws Exception {
    var post =
        client
            .post(port, "127.0.0.1", "/api/topics")
            .putHeader("content-type", "application/json; charset=utf-8");
    for (String body :
        List.of("{", "{]", "{\"a\":", "nul", "[".repeat(2_000), "1".repeat(2_000), "\u0000")) {
      HttpResponse<Buffer> answer = await(post.sendBuffer(Buffer.buffer(body)));
      assertError(answer, 400, "INVALID");
      assertThat(answer.bodyAsString())
          .doesNotContain("java", "jackson", "Stream", "Source", "io.");
    }
  }

  @Test
  void wrongRequestsAreJsonErrors() throws Exception {
    assertError(get("/nowhere"), 404, "NOT_FOUND");
    assertError(get("/api/topics/t/nowhere"), 404, "NOT_FOUND");
    assertError(call(HttpMethod.PUT, "/api/topics", null), 405, "METHOD_NOT_ALLOWED");
    assertThat(call(HttpMethod.PUT, "/api/topics/t", null).getHeader("allow"))
        .isEqualTo("DELETE, GET, PATCH");
    assertError(get("/api/topics/%"), 400, "INVALID");
    assertError(call(HttpMethod.DELETE, "/health/live", null), 405, "METHOD_NOT_ALLOWED");
    assertError(get("/api/topics?x=1"), 400, "INVALID");
    var post = client.post(port, "127.0.0.1", "/api/topics");
    assertError(await(post.sendBuffer(Buffer.buffer("{}"))), 415, "UNSUPPORTED_MEDIA_TYPE");
    var json = post.putHeader("content-type", "application/json");
    assertError(await(json.sendBuffer(Buffer.buffer("{"))), 400, "INVALID");
    assertError(await(json.sendBuffer(Buffer.buffer("[]"))), 400, "INVALID");
    assertError(await(json.sendBuffer(Buffer.buffer(""))), 400, "INVALID");
    Buffer huge = Buffer.buffer(" ".repeat(JsonSize.SETTINGS_BYTES_MAX + 1));
    assertError(await(json.sendBuffer(huge)), 413, "TOO_LARGE");
  }

  @Test
  void withoutUsersATokenIsNoCookie() throws Exception {
    JsonObject token = new JsonObject().put("token", "a b;\u0001,\"");
    HttpResponse<Buffer> entered = call(HttpMethod.POST, "/api/session", token);
    assertThat(entered.statusCode()).as(entered.bodyAsString()).isEqualTo(200);
    assertThat(entered.getHeader("set-cookie")).isNull();
  }

  private static void assertError(HttpResponse<Buffer> answer, int status, String error) {
    assertThat(answer.statusCode()).as(answer.bodyAsString()).isEqualTo(status);
    assertThat(answer.bodyAsJsonObject().getString("error")).isEqualTo(error);
    assertThat(answer.bodyAsJsonObject().getString("message")).isNotBlank();
  }

  @Test
  void readyOnlyWhenTheClusterIs() throws Exception {
    assertThat(get("/health/live").statusCode()).isEqualTo(200);
    HttpResponse<Buffer> before = get("/health/ready");
    assertThat(before.statusCode()).isEqualTo(503);
    assertThat(before.bodyAsJsonObject().getString("reason")).contains("not ready");
    api(ApiAddresses.TOPICS, question -> new JsonObject());
    HttpResponse<Buffer> after = get("/health/ready");
    assertThat(after.statusCode()).isEqualTo(200);
    assertThat(after.bodyAsJsonObject().getString("node")).isEqualTo("n7");
  }

  @Test
  void readyOnlyWhenTheNodeIsToo() throws Exception {
    api(ApiAddresses.TOPICS, question -> new JsonObject());
    Readiness readiness = new Readiness();
    LocalObjects.put(vertx, Readiness.class, readiness);
    HttpResponse<Buffer> before = get("/health/ready");
    assertThat(before.statusCode()).as("others serve").isEqualTo(503);
    assertThat(before.bodyAsJsonObject().getString("reason")).contains("starting");
    readiness.setServing(true);
    assertThat(get("/health/ready").statusCode()).isEqualTo(200);
  }

  @Test
  void figuresAreServedInTheFormAskedFor() throws Exception {
    assertError(get("/metrics"), 404, "NOT_FOUND");
    assertError(get("/metrics?x=1"), 400, "INVALID");
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    LocalObjects.put(vertx, Meters.class, new Meters(vertx, registry, 1));
    Meters.of(vertx).scope("part").counter("evenkeel.things", "Help").add(3);
    HttpResponse<Buffer> text = get("/metrics");
    assertThat(text.getHeader("content-type")).startsWith("text/plain; version=0.0.4");
    assertThat(PrometheusText.parse(text.bodyAsString()).value("evenkeel_things_total"))
        .isEqualTo(3);
    HttpResponse<Buffer> open =
        await(
            client
                .get(port, "127.0.0.1", "/metrics")
                .putHeader("accept", "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1")
                .send());
    assertThat(open.getHeader("content-type")).startsWith("application/openmetrics-text");
    assertThat(PrometheusText.parseOpenMetrics(open.bodyAsString()).value("evenkeel_things_total"))
        .isEqualTo(3);
  }

  @Test
  void theDescriptionNamesExactlyTheRoutes() throws Exception {
    TreeSet<String> routes = new TreeSet<>();
    LiveHub hub = new LiveHub(vertx, "n1", () -> Future.failedFuture("not asked"), null);
    RequestBodies bodies =
        new RequestBodies(Shares.of(vertx).divide(Scarce.HTTP_BYTES_IN_FLIGHT, 1 << 20));
    Connections connections =
        new Connections(new WebOptions(new JsonObject()), Shares.of(vertx), 0);
    Callers callers =
        new Callers(
            Access.of(vertx, "n1", null, null).toCompletionStage().toCompletableFuture().get(),
            new Logins(vertx, "n1", List.of(), () -> 0),
            bodies,
            connections);
    LiveRoutes live = new LiveRoutes(hub, connections, callers);
    Api api = new Api(vertx, callers, false);
    Router router = WebVerticle.router(vertx, api, callers, "n1", bodies, live, connections);
    router
        .getRoutes()
        .forEach(
            route -> {
              if (route.getPath() != null) {
                String path = route.getPath().replaceAll(":(\\w+)", "{$1}");
                route.methods().forEach(method -> routes.add(method + " " + path));
              }
            });
    TreeSet<String> described = new TreeSet<>();
    JsonObject document = get("/openapi.json").bodyAsJsonObject();
    // OpenAPI 3.1 has no "nullable": a type that may be null names it.
    assertThat(document.encode()).doesNotContain("nullable");
    JsonObject paths = document.getJsonObject("paths");
    for (String path : paths.fieldNames()) {
      for (String method : paths.getJsonObject(path).fieldNames()) {
        if (!method.equals("parameters")) {
          described.add(method.toUpperCase(Locale.ROOT) + " " + path);
        }
      }
    }
    assertThat(described).isEqualTo(routes).contains("GET /api/topics/{topic}");
  }

  @Test
  void everyReferenceOfTheDescriptionLeadsSomewhere() {
    String text = NodeRoutes.OPEN_API.encode();
    JsonObject schemas = NodeRoutes.OPEN_API.getJsonObject("components").getJsonObject("schemas");
    var matcher = Pattern.compile("#/components/schemas/(\\w+)").matcher(text);
    while (matcher.find()) {
      assertThat(schemas.fieldNames()).contains(matcher.group(1));
    }
  }
}
