package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.LiteMember;
import dev.evenkeel.gateway.http.DescribedApi;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What programs in any language have: JSON by HTTP, and JSON on the event bus. */
class JsonApiIT {
  @TempDir static Path directory;
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  @Closing private static Node node;
  @Closing private static ClusterMember member;

  @BeforeAll
  static void start() throws Exception {
    node = new Node(directory.resolve("node")).start();
    // What is asked below is asked once: by now all of a node has worked together.
    node.createTopic("first", 1);
    member = await(LiteMember.join(node.port));
  }

  /** A group that has consumed the one message of a topic of one shard, and has left. */
  private static void consumeOne(String topic, String group) throws Exception {
    CompletableFuture<Void> handled = new CompletableFuture<>();
    EvenkeelClient client = await(Evenkeel.with(member.vertx()));
    try {
      await(
          client.consumer(
              new ConsumerOptions().setGroup(group).setTopics(List.of(topic)),
              delivery -> {
                handled.complete(null);
                return Future.succeededFuture();
              }));
      handled.get(90, TimeUnit.SECONDS);
    } finally {
      await(client.close());
    }
    node.awaitConsumed(group, 1);
    // The history is written beside.
    Wait.until(
        "a move of " + group,
        () -> node.get("/api/rebalances?group=" + group).body().contains("\"epoch\""));
  }

  // ---- The event bus

  private static Object ask(String api, Object body) throws Exception {
    return await(member.vertx().eventBus().request("evenkeel.api." + api, body)).body();
  }

  private static JsonObject object(String json) {
    return new JsonObject(json);
  }

  private static void assertRefused(String api, String json, Refusal refusal, String text) {
    assertThatThrownBy(() -> ask(api, object(json.replace('\'', '"'))))
        .isInstanceOfSatisfying(
            ReplyException.class,
            failure -> assertThat(failure.failureCode()).isEqualTo(1 + refusal.ordinal()))
        .hasMessageStartingWith(refusal + ": ")
        .hasMessageContaining(text);
  }

  /** {@link EventBusPageIT} has what is answered. */
  @Test
  void whatIsRefusedByEventBus() {
    assertRefused("topics", "{'action':'get','name':'none'}", Refusal.UNKNOWN_TOPIC, "none");
    assertRefused("topics", "{'action':'dance'}", Refusal.INVALID, "dance");
    assertRefused(
        "topics", "{'action':'create','name':'x','shards':0}", Refusal.INVALID, "from 1 to 10000");
    assertRefused("produce", "{'topic':'none','payload':'p'}", Refusal.UNKNOWN_TOPIC, "");
    assertRefused("produce", "{'topic':'first'}", Refusal.INVALID, "payload");
    assertRefused("messages", "{'topic':'first','shard':1}", Refusal.UNKNOWN_SHARD, "0 to 0");
    assertRefused("messages", "{'topic':'first','at':8,'offset':1}", Refusal.INVALID, "not both");
    assertRefused("groups", "{'action':'get','group':'none'}", Refusal.UNKNOWN_GROUP, "");
    assertRefused("quotas", "{'action':'get'}", Refusal.INVALID, "list, set or clear");
    if (!TestUsers.ON) {
      assertRefused("users", "{'action':'list'}", Refusal.INVALID, "start it with a users file");
    }
  }

  private static Set<String> names(JsonArray topics) {
    Set<String> names = new HashSet<>();
    topics.forEach(each -> names.add(((JsonObject) each).getString("name")));
    return names;
  }

  /** Removes the place in the log, and returns it. */
  private static JsonObject takePlace(JsonObject json) {
    JsonObject place = new JsonObject();
    for (String name : List.of("logGroup", "logIndex")) {
      assertThat(json.containsKey(name)).isTrue();
      place.put(name, json.remove(name));
    }
    return place;
  }

  @Test
  void claimsByEventBusAndHttp() throws Exception {
    JsonObject works =
        (JsonObject)
            ask("dedup", object("{\"action\":\"claim\",\"dedup\":\"bus-dedup\",\"key\":\"k\"}"));
    assertThat(works.getString("state")).isEqualTo("working");
    String path = "/api/dedup/bus-dedup/claims";
    var second = node.post(path, "{\"key\":\"k\",\"expiresMs\":60000}");
    assertThat(second.statusCode()).as(second.body()).isEqualTo(201);
    JsonObject waits = object(second.body());
    assertThat(waits.getString("state")).isEqualTo("waiting");
    assertThat(waits.getInteger("expiresMs")).isEqualTo(60_000);
    var third = node.post(path, "{\"key\":\"k\",\"waitMs\":5000}");
    assertThat(third.statusCode()).isEqualTo(201);
    assertThat(third.body())
        .isEqualTo("{\"claim\":null,\"state\":\"declined\",\"expiresMs\":null}\n");
    String claim = path + "/" + waits.getString("claim");
    assertThat(object(node.get(claim + "?waitMs=1").body()).getString("state"))
        .isEqualTo("waiting");
    JsonObject ended =
        (JsonObject)
            ask(
                "dedup",
                new JsonObject()
                    .put("action", "giveBack")
                    .put("dedup", "bus-dedup")
                    .put("claim", works.getString("claim")));
    assertThat(ended.getBoolean("held")).isTrue();
    assertThat(object(node.get(claim + "?waitMs=15000").body()).getString("state"))
        .isEqualTo("working");
    assertThat(object(node.delete(claim).body()))
        .isEqualTo(new JsonObject().put("claim", waits.getString("claim")).put("held", true));
    assertThat(node.get(claim).statusCode()).isEqualTo(404);
    assertThat(node.get("/api/dedup/other/claims/" + waits.getString("claim")).statusCode())
        .isEqualTo(404);
    assertThat(node.post(path, "{\"key\":\"\"}").statusCode()).isEqualTo(400);
    assertThat(node.post(path, "{\"key\":\"k\",\"expiresMs\":1}").statusCode()).isEqualTo(400);
    assertRefused(
        "dedup",
        "{\"action\":\"claim\",\"dedup\":\"a b\",\"key\":\"k\"}",
        Refusal.INVALID,
        "bad dedup name");
  }

  @Test
  void messagesByEventBus() throws Exception {
    ask("topics", object("{\"action\":\"create\",\"name\":\"bus-messages\",\"shards\":1}"));
    JsonObject first =
        (JsonObject)
            ask(
                "produce",
                object(
                    "{\"topic\":\"bus-messages\",\"key\":\"k1\",\"payload\":\"hello\","
                        + "\"timestamp\":7,\"headers\":{\"h\":\"v\"}}"));
    JsonObject place = takePlace(first);
    assertThat(first).isEqualTo(object("{\"shard\":0,\"offset\":0}"));
    JsonObject two =
        (JsonObject)
            ask(
                "produce",
                object(
                    "{\"topic\":\"bus-messages\",\"messages\":"
                        + "[{\"key\":\"k1\",\"payload\":\"a\"},{\"payloadBase64\":\"/wA=\"}]}"));
    two.getJsonArray("results").forEach(each -> takePlace((JsonObject) each));
    assertThat(two)
        .isEqualTo(object("{\"results\":[{\"shard\":0,\"offset\":1},{\"shard\":0,\"offset\":2}]}"));
    JsonArray all = (JsonArray) ask("messages", object("{\"topic\":\"bus-messages\",\"shard\":0}"));
    assertThat(all.getJsonObject(0))
        .isEqualTo(
            object(
                    "{\"shard\":0,\"offset\":0,\"key\":\"k1\",\"payload\":\"hello\",\"timestamp\":7,"
                        + "\"headers\":{\"h\":\"v\"}}")
                .mergeIn(place));
    assertThat(all.getJsonObject(2).getString("payloadBase64")).isEqualTo("/wA=");
    JsonArray page =
        (JsonArray)
            ask("messages", object("{\"topic\":\"bus-messages\",\"offset\":1,\"limit\":1}"));
    assertThat(page).hasSize(1);
    assertThat(page.getJsonObject(0).getLong("offset")).isEqualTo(1);
    JsonObject found =
        (JsonObject)
            ask("messages", object("{\"topic\":\"bus-messages\",\"key\":\"k1\",\"page\":true}"));
    assertThat(found.getJsonArray("messages"))
        .isEqualTo(new JsonArray().add(all.getValue(0)).add(all.getValue(1)));
    assertThat(found.getLong("nextOffset")).isEqualTo(3);
    assertThat(ask("messages", object("{\"topic\":\"bus-messages\",\"at\":8,\"limit\":1}")))
        .isEqualTo(page);
    assertThat(ask("messages", object("{\"topic\":\"bus-messages\",\"at\":\"latest\"}")))
        .isEqualTo(new JsonArray());
    // The answer has the form of the question.
    assertThat(ask("produce", "{\"topic\":\"bus-messages\",\"payload\":\"text\"}"))
        .asString()
        .startsWith("{\"shard\":0,\"offset\":3,\"logGroup\":\"d");
    assertThat(ask("produce", Buffer.buffer("{\"topic\":\"bus-messages\",\"payload\":\"bytes\"}")))
        .asString()
        .startsWith("{\"shard\":0,\"offset\":4,\"logGroup\":\"d");
    String array = "[{\"topic\":\"bus-messages\",\"payload\":\"in an array\"}]";
    for (Object body : List.of(new JsonArray(array), array, Buffer.buffer(array))) {
      assertThat(ask("produce", body).toString()).startsWith("{\"results\":[{\"shard\":0,");
    }
  }

  // ---- HTTP

  private static HttpResponse<String> http(String method, String path, String type, String body) {
    HttpRequest.Builder request = TestUsers.request(URI.create(node.url() + path));
    if (type != null) {
      request.header("Content-Type", type);
    }
    request.method(
        method,
        body == null
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(body));
    try {
      return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String json(String method, String path, String body, int status) {
    HttpResponse<String> response = http(method, path, "application/json", body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("content-type")).contains("application/json");
    assertThat(DescribedApi.problems(method, path, status, response.body())).isEmpty();
    return response.body().strip();
  }

  private static void assertError(
      String method, String path, String body, int status, String error) {
    JsonObject failure = object(json(method, path, body, status));
    assertThat(failure.getString("error")).as(failure.encode()).isEqualTo(error);
    assertThat(failure.getString("message")).isNotBlank().hasLineCount(1);
  }

  @Test
  void topicsByHttp() {
    var created = object(json("POST", "/api/topics", "{\"name\":\"web-topic\",\"shards\":3}", 201));
    assertThat(created.getInteger("shards")).isEqualTo(3);
    assertThat(names(new JsonArray(json("GET", "/api/topics", null, 200)))).contains("web-topic");
    JsonObject detail = object(json("GET", "/api/topics/web-topic", null, 200));
    assertThat(detail.getJsonArray("shardList").getJsonObject(2).getString("leader"))
        .isEqualTo("n1");
    assertThat(
            object(json("PATCH", "/api/topics/web-topic", "{\"shardBytesMax\":1048576}", 200))
                .getLong("shardBytesMax"))
        .isEqualTo(1 << 20);
    assertError(
        "POST", "/api/topics", "{\"name\":\"web-topic\",\"shards\":3}", 409, "TOPIC_EXISTS");
    assertError("PATCH", "/api/topics/web-topic", "{\"shards\":9}", 400, "INVALID");
    assertError("PATCH", "/api/topics/web-topic", "{}", 400, "INVALID");
    assertError("PATCH", "/api/topics/nowhere", "{\"ageMillisMax\":1}", 404, "UNKNOWN_TOPIC");
    reshardByHttp();
    assertThat(json("DELETE", "/api/topics/web-topic", null, 200))
        .isEqualTo("{\"name\":\"web-topic\",\"deleted\":true}");
    assertError("GET", "/api/topics/web-topic", null, 404, "UNKNOWN_TOPIC");
    assertError("DELETE", "/api/topics/web-topic", null, 404, "UNKNOWN_TOPIC");
  }

  private static void reshardByHttp() {
    String path = "/api/topics/web-topic/reshard";
    assertError("POST", "/api/topics/nowhere/reshard", "{\"shards\":2}", 404, "UNKNOWN_TOPIC");
    assertError("POST", path, "{\"shards\":0}", 400, "INVALID");
    assertError("POST", path, "{}", 400, "INVALID");
    assertThat(object(json("POST", path, "{\"shards\":2}", 200)).getInteger("shards")).isEqualTo(2);
    // The sealed shards go as soon as they have been found empty.
    var shards = object(json("GET", "/api/topics/web-topic", null, 200)).getJsonArray("shardList");
    JsonObject last = shards.getJsonObject(shards.size() - 1);
    assertThat(last.getInteger("shard")).isEqualTo(4);
    assertThat(last.getBoolean("sealed")).isFalse();
  }

  @Test
  void messagesByHttp() {
    json("POST", "/api/topics", "{\"name\":\"web-messages\",\"shards\":2}", 201);
    String path = "/api/topics/web-messages/messages";
    JsonObject place = object(json("POST", path, "{\"key\":\"k\",\"payload\":\"one\"}", 200));
    assertThat(place.getLong("offset")).isZero();
    int shard = place.getInteger("shard");
    JsonArray places =
        new JsonArray(
            json(
                "POST",
                path,
                "[{\"key\":\"k\",\"payload\":\"two\"},{\"key\":\"k\",\"payload\":\"three\"}]",
                200));
    takePlace(places.getJsonObject(1));
    assertThat(places.getJsonObject(1))
        .isEqualTo(new JsonObject().put("shard", shard).put("offset", 2));
    var raw = http("POST", path + "?key=k", "application/octet-stream", "raw body");
    assertThat(object(raw.body()).getLong("offset")).isEqualTo(3);
    JsonArray page =
        new JsonArray(json("GET", path + "?shard=" + shard + "&offset=1&limit=2", null, 200));
    assertThat(page).hasSize(2);
    assertThat(page.getJsonObject(0).getString("payload")).isEqualTo("two");
    assertThat(page.getJsonObject(1).getLong("offset")).isEqualTo(2);
    assertThat(
            new JsonArray(json("GET", path + "?shard=" + shard + "&offset=3", null, 200))
                .getJsonObject(0)
                .getString("payload"))
        .isEqualTo("raw body");
    assertThat(json("GET", path + "?shard=" + shard + "&offset=4", null, 200)).isEqualTo("[]");
    assertError("GET", path + "?shard=" + shard + "&offset=9", null, 400, "OFFSET_OUT_OF_RANGE");
    assertError("GET", path, null, 400, "INVALID");
    assertError("GET", path + "?shard=7", null, 404, "UNKNOWN_SHARD");
    assertError("GET", path + "?shard=0&limit=0", null, 400, "INVALID");
    assertError("GET", path + "?shard=0&page=1", null, 400, "INVALID");
    assertError("POST", path, "{\"payload\":", 400, "INVALID");
    assertError("POST", path, "{\"text\":\"x\"}", 400, "INVALID");
    assertError(
        "POST", path, "{\"payload\":\"" + "x".repeat((1 << 20) + 1) + "\"}", 413, "TOO_LARGE");
    assertError(
        "POST", "/api/topics/nowhere/messages", "{\"payload\":\"p\"}", 404, "UNKNOWN_TOPIC");
  }

  @Test
  void quotasByHttpAndOverTheBus() throws Exception {
    String path = "/api/quotas/topic/web-limited";
    JsonObject set = object(json("PUT", path, "{\"bytesPerSecond\":1000,\"messages\":5}", 200));
    assertThat(set.getLong("bytesPerSecond")).isEqualTo(1_000);
    assertThat(set.getLong("periodMillis")).isEqualTo(1_000);
    JsonArray list = new JsonArray(json("GET", "/api/quotas", null, 200));
    assertThat(list).hasSize(1);
    assertThat((JsonArray) ask("quotas", object("{\"action\":\"list\"}"))).hasSize(1);
    assertError("PUT", path, "{}", 400, "INVALID");
    assertError("PUT", path, "{\"periodMillis\":5}", 400, "INVALID");
    assertError("PUT", path, "{\"messages\":0}", 400, "INVALID");
    assertError("PUT", path, "{\"messages\":1,\"kind\":\"group\"}", 400, "INVALID");
    assertError("PUT", "/api/quotas/shard/x", "{\"messages\":1}", 400, "INVALID");
    assertError("PUT", "/api/quotas/group-rate/x", "{\"bytesPerSecond\":1}", 400, "INVALID");
    assertThat(object(json("DELETE", path, null, 200)).getBoolean("cleared")).isTrue();
    assertThat(json("GET", "/api/quotas", null, 200)).isEqualTo("[]");
    String shares = json("GET", "/api/shares", null, 200);
    assertThat(shares.equals("[]")).as(shares).isNotEqualTo(TestUsers.ON);
  }

  @Test
  void groupsByHttp() throws Exception {
    json("POST", "/api/topics", "{\"name\":\"web-group\",\"shards\":1}", 201);
    json("POST", "/api/topics/web-group/messages", "{\"payload\":\"p\"}", 200);
    consumeOne("web-group", "web-readers");
    assertThat(json("GET", "/api/groups", null, 200)).contains("\"web-readers\"");
    JsonObject group = object(json("GET", "/api/groups/web-readers", null, 200));
    JsonObject shard = group.getJsonArray("shards").getJsonObject(0);
    assertThat(shard.getLong("committed")).isEqualTo(1);
    assertThat(shard.getLong("end")).isEqualTo(1);
    assertThat(shard.getLong("lag")).isZero();
    JsonObject move =
        new JsonArray(json("GET", "/api/rebalances?group=web-readers", null, 200)).getJsonObject(0);
    assertThat(move.fieldNames())
        .contains("time", "group", "topic", "shard", "from", "to", "reason", "epoch", "capped");
    assertThat(new JsonArray(json("GET", "/api/rebalances?limit=1", null, 200))).hasSize(1);
    assertError("GET", "/api/rebalances?limit=0", null, 400, "INVALID");
    assertError("GET", "/api/rebalances?limit=2001", null, 400, "INVALID");
    assertError("GET", "/api/rebalances?limit=x", null, 400, "INVALID");
    assertThat(json("GET", "/api/rebalances", null, 200)).startsWith("[");
    assertError("GET", "/api/groups/none", null, 404, "UNKNOWN_GROUP");
    assertError("GET", "/api/rebalances?grp=x", null, 400, "INVALID");
  }

  @Test
  void plansAndPausesByBothWays() throws Exception {
    json("POST", "/api/topics", "{\"name\":\"planned\",\"shards\":2}", 201);
    ask("produce", object("{\"topic\":\"planned\",\"payload\":\"p\"}"));
    consumeOne("planned", "planners");
    String path = "/api/groups/planners/";
    JsonObject plan = object(json("POST", path + "plan", "{\"add\":2}", 200));
    assertThat(plan.getJsonArray("moves")).hasSize(2);
    assertThat(plan.getJsonObject("owners").fieldNames()).containsExactly("new-1", "new-2");
    assertThat(ask("groups", object("{\"action\":\"plan\",\"group\":\"planners\",\"add\":2}")))
        .isEqualTo(plan);
    String resharded = json("POST", path + "plan", "{\"add\":1,\"shards\":{\"planned\":3}}", 200);
    assertThat(object(resharded).getJsonObject("loads").getJsonObject("new-1").getInteger("shards"))
        .isEqualTo(3);
    assertThat(object(json("POST", path + "plan", null, 200)).getJsonArray("moves")).isEmpty();
    assertError("POST", path + "plan", "{\"remove\":[\"nobody\"]}", 400, "INVALID");
    assertError("POST", path + "plan", "{\"remove\":[7]}", 400, "INVALID");
    assertError("POST", path + "plan", "{\"kill\":\"n9\"}", 400, "INVALID");
    assertError("POST", path + "plan", "{\"add\":-1}", 400, "INVALID");
    assertError("POST", path + "plan", "{\"more\":1}", 400, "INVALID");
    assertError("POST", path + "plan", "{\"shards\":{\"none\":1}}", 404, "UNKNOWN_TOPIC");
    assertError("POST", "/api/groups/none/plan", "{}", 404, "UNKNOWN_GROUP");

    Wait.until(
        "the node knows the feature level of the cluster",
        () -> http("POST", path + "pause", null, null).statusCode() == 200);
    assertThat(object(json("GET", "/api/groups/planners", null, 200)).getBoolean("paused"))
        .isTrue();
    ask("groups", object("{\"action\":\"resume\",\"group\":\"planners\"}"));
    assertThat(json("POST", path + "pause", "{\"topic\":\"planned\",\"shard\":1}", 200))
        .isEqualTo("{\"group\":\"planners\",\"topic\":\"planned\",\"shard\":1,\"paused\":true}");
    json("POST", path + "resume", null, 200);
    assertError("POST", path + "pause", "{\"shard\":1}", 400, "INVALID");
    assertError("POST", "/api/groups/none/resume", null, 404, "UNKNOWN_GROUP");
  }

  @Test
  void delayedMessagesByBothWays() throws Exception {
    json("POST", "/api/topics", "{\"name\":\"later\",\"shards\":2}", 201);
    String message =
        "{\"key\":\"k\",\"payload\":\"renew\",\"headers\":{\"h\":\"v\"},"
            + "\"deliverAfterMs\":86400000}";
    String messages = "/api/topics/later/messages";
    Awaitility.await("the node knows that all nodes read this")
        .until(() -> object(json("POST", messages, message, 200)).containsKey("delayedId"));
    JsonObject sent = object(json("POST", messages, message, 200));
    assertThat(sent.getValue("offset")).isNull();
    String id = sent.getString("delayedId");

    JsonObject first = object(json("GET", "/api/topics/later/delayed?key=k&limit=1", null, 200));
    assertThat(first.getJsonArray("messages")).hasSize(1);
    String rest = "/api/topics/later/delayed?key=k&from=" + first.getString("next");
    JsonObject page = object(json("GET", rest, null, 200));
    assertThat(page.getValue("next")).isNull();
    JsonArray found = page.getJsonArray("messages");
    JsonObject shown = object(json("GET", "/api/topics/later/delayed/" + id, null, 200));
    assertThat(found.getJsonObject(found.size() - 1)).isEqualTo(shown);
    assertThat(shown.getString("payload")).isEqualTo("renew");
    assertThat(shown.getJsonObject("headers").getString("h")).isEqualTo("v");
    assertThat(Instant.parse(shown.getString("due")).toEpochMilli())
        .isEqualTo(shown.getLong("deliverAt"))
        .isBetween(sent.getLong("deliverAt"), sent.getLong("deliverAt") + 10);
    JsonObject question = new JsonObject().put("topic", "later").put("id", id);
    assertThat(ask("delayed", question.copy().put("action", "get"))).isEqualTo(shown);
    assertThat(json("GET", "/api/topics/later/delayed?key=other", null, 200))
        .isEqualTo("{\"messages\":[],\"next\":null}");

    assertThat(json("DELETE", "/api/topics/later/delayed/" + id, null, 200))
        .isEqualTo("{\"id\":\"" + id + "\",\"cancelled\":true}");
    assertError("DELETE", "/api/topics/later/delayed/" + id, null, 404, "UNKNOWN_MESSAGE");
    assertError("GET", "/api/topics/later/delayed/" + id, null, 404, "UNKNOWN_MESSAGE");
    assertError("DELETE", "/api/topics/later/delayed/x", null, 400, "INVALID");
    assertError("GET", "/api/topics/nowhere/delayed", null, 404, "UNKNOWN_TOPIC");
    String other = first.getJsonArray("messages").getJsonObject(0).getString("id");
    assertThat(ask("delayed", question.put("id", other).put("action", "cancel")))
        .isEqualTo(new JsonObject().put("id", other).put("cancelled", true));
    assertRefused("delayed", question.encode(), Refusal.UNKNOWN_MESSAGE, other);
  }

  @Test
  void healthDescriptionAndWhatIsNotThere() throws Exception {
    assertThat(json("GET", "/health/live", null, 200))
        .isEqualTo("{\"status\":\"UP\",\"node\":\"n1\"}");
    assertThat(json("GET", "/health/ready", null, 200))
        .isEqualTo("{\"status\":\"UP\",\"node\":\"n1\"}");
    // What is not told within a second is left open, in either answer.
    Wait.untilAsserted("the same by both ways", JsonApiIT::assertSameByBothWays);
    assertError("GET", "/api/cluster?x=1", null, 400, "INVALID");
    assertError("POST", "/api/cluster/nodes/n9/replace", null, 400, "INVALID");
    assertError("GET", "/ws/live", null, 426, "BAD_REQUEST");
    assertError("GET", "/api/nothing", null, 404, "NOT_FOUND");
    assertError("PUT", "/api/topics", "{}", 405, "METHOD_NOT_ALLOWED");
    var text = http("POST", "/api/topics", "text/plain", "{\"name\":\"x\",\"shards\":1}");
    assertThat(text.statusCode()).isEqualTo(415);
    assertThat(object(text.body()).getString("error")).isEqualTo("UNSUPPORTED_MEDIA_TYPE");
  }

  private static void assertSameByBothWays() throws Exception {
    JsonObject overHttp = object(json("GET", "/api/cluster", null, 200));
    JsonObject overTheBus = (JsonObject) ask("cluster", object("{\"action\":\"status\"}"));
    // The logs go on meanwhile.
    assertThat(overHttp.remove("logs")).isInstanceOf(JsonArray.class);
    assertThat(overTheBus.remove("logs")).isInstanceOf(JsonArray.class);
    assertThat(overHttp).isEqualTo(overTheBus);
  }

  /** So that an endpoint that is added gets its test here. */
  @Test
  void theDescriptionNamesWhatIsTestedHere() {
    JsonObject description = object(json("GET", "/openapi.json", null, 200));
    assertThat(description.getJsonObject("paths").fieldNames())
        .containsExactlyInAnyOrder(
            "/api/topics",
            "/api/topics/{topic}",
            "/api/topics/{topic}/reshard",
            "/api/topics/{topic}/messages",
            "/api/topics/{topic}/delayed",
            "/api/topics/{topic}/delayed/{id}",
            "/api/shares",
            "/api/quotas",
            "/api/quotas/{kind}/{name}",
            // See KeptUsersIT.
            "/api/users",
            "/api/users/{user}",
            "/api/users/{user}/tokens",
            "/api/users/{user}/tokens/{id}",
            "/api/groups",
            "/api/groups/{group}",
            "/api/groups/{group}/offsets",
            "/api/groups/{group}/plan",
            "/api/groups/{group}/pause",
            "/api/groups/{group}/resume",
            "/api/groups/{group}/dead-letters",
            "/api/groups/{group}/dead-letters/{topic}/{shard}/{offset}",
            "/api/groups/{group}/dead-letters/replay",
            "/api/groups/{group}/dead-letters/drop",
            "/api/rebalances",
            // See OperatorPageIT.
            "/api/groups/{group}/retries",
            // See DailyApiIT.
            "/api/cluster",
            "/api/cluster/nodes/{node}/replace",
            // See GrowthIT.
            "/api/cluster/nodes/{node}",
            "/api/cluster/nodes/{node}/admit",
            "/api/cluster/nodes/{node}/drain",
            "/api/cluster/nodes/{node}/undrain",
            "/api/cluster/nodes/{node}/remove",
            // See HttpConsumeIT.
            "/api/groups/{group}/sessions",
            "/api/groups/{group}/sessions/{session}",
            "/api/groups/{group}/sessions/{session}/messages",
            "/api/groups/{group}/sessions/{session}/events",
            "/api/groups/{group}/sessions/{session}/results",
            "/api/groups/{group}/sessions/{session}/extend",
            // See HttpElectionIT.
            "/api/elections/{election}/candidates",
            "/api/elections/{election}/candidates/{candidate}",
            "/api/elections/{election}/candidates/{candidate}/resign",
            "/api/elections/{election}/candidates/{candidate}/handed-over",
            // See OpenedTracksTest.
            "/api/coordinators/{coordinator}/tracks",
            "/api/coordinators/{coordinator}/tracks/{track}",
            "/api/coordinators/{coordinator}/tracks/{track}/moves",
            // See DedupServiceIT.
            "/api/dedup/{dedup}/claims",
            "/api/dedup/{dedup}/claims/{claim}",
            // See UsersIT.
            "/api/session",
            "/ws/live",
            "/health/live",
            "/health/ready",
            "/metrics",
            "/openapi.json");
  }
}
