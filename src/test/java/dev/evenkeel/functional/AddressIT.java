package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.functional.AddressReceivers.got;
import static dev.evenkeel.functional.AddressReceivers.payloads;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.functional.AddressReceivers.Got;
import examples.AddressExample;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plain Vert.x applications get the messages of a topic at an address of the event bus. */
class AddressIT {
  private static final List<String> MODES = List.of("sharded", "level", "singleton", "broadcast");
  private static final String NOBODY = "nobody listens at the address '%s'";

  @TempDir static Path directory;
  private static Node node;

  private static AddressReceivers receivers;

  @BeforeAll
  static void startNode() throws Exception {
    JsonArray consumers = new JsonArray();
    for (String mode : MODES) {
      consumers.add(consumer("of-" + mode, "modes", mode + ".in").put("mode", mode));
    }
    consumers.getJsonObject(1).put("range", 5);
    consumers.getJsonObject(3).put("offsetsDirectory", directory.resolve("offsets").toString());
    node = new Node(directory.resolve("node")).start("--consumers", consumers.encode());
    receivers = new AddressReceivers(directory);
  }

  @AfterAll
  static void stopNode() {
    try (Node last = node) {
      assertThat(last.stop().status()).isZero();
    }
  }

  private static JsonObject consumer(String group, String topic, String address) {
    return new JsonObject()
        .put("group", group)
        .put("topics", new JsonArray().add(topic))
        .put("address", address)
        .put("addressTimeoutMillis", 3_000)
        .put("retryDelaysMillis", JsonArray.of(100, 100, 100, 100, 100));
  }

  private static Jar.Running receiver(String name, String... addresses) {
    return receivers.start(node, name, addresses);
  }

  private static List<String> named(String what, int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> what + "-" + i).toList();
  }

  private static Set<String> all(List<List<String>> lists) {
    Set<String> all = new TreeSet<>();
    lists.forEach(all::addAll);
    return all;
  }

  private static long warned(String address) {
    return node.process()
            .out()
            .lines()
            .filter(line -> line.contains(NOBODY.formatted(address)))
            .count()
        + node.process()
            .err()
            .lines()
            .filter(line -> line.contains(NOBODY.formatted(address)))
            .count();
  }

  /** Its consumers are those of the node's setting. */
  @Test
  void everyModeSendsAllMessagesInItsOrderWhateverHappensToTheReceiver() {
    node.createTopic("modes", 3);
    List<String> first = named("first", 0, 60);
    node.sendByKey("modes", first);
    for (String mode : MODES) {
      Wait.until("nobody is there for " + mode, () -> warned(mode + ".in") > 0);
    }
    String[] addresses = MODES.stream().map(mode -> mode + ".in").toArray(String[]::new);
    Jar.Running one = receiver("receiver-1", addresses);
    for (String address : addresses) {
      Wait.until(address, () -> payloads(got(address, one)).containsAll(first));
      assertThat(got(address, one))
          .as("an absence is no attempt")
          .allMatch(it -> it.attempt() == 1);
    }
    List<String> second = named("second", 0, 300);
    node.sendByKey("modes", second);
    List<String> hang = named("hang", 0, 2);
    node.sendByKey("modes", hang);
    for (String address : addresses) {
      Wait.until(address, () -> payloads(got(address, one)).stream().anyMatch(hang::contains));
    }
    one.kill();
    List<List<String>> odd =
        Stream.of("slow", "fail", "throw", "twice").map(what -> named(what, 0, 2)).toList();
    odd.forEach(each -> node.sendByKey("modes", each));
    Jar.Running two = receiver("receiver-2", addresses);
    List<List<String>> sent = new ArrayList<>(odd);
    sent.addAll(List.of(first, second, hang));
    long messages = sent.stream().mapToLong(List::size).sum();
    for (String mode : List.of("sharded", "level", "singleton")) {
      node.awaitConsumed("of-" + mode, messages);
    }
    for (String address : addresses) {
      Wait.until(address, () -> payloads(got(address, one, two)).equals(all(sent)));
      List<Got> got = got(address, one, two);
      if (!address.startsWith("level")) {
        inOrder(got);
      }
      for (String what : List.of("slow", "fail", "throw")) {
        Wait.untilAsserted(() -> attempts(got(address, two), what, 2));
      }
      attempts(got, "hang", 2);
      attempts(got, "twice", 1);
    }
    two.close();
  }

  /** A message may come again, but none of its shard comes before it is finished. */
  private static void inOrder(List<Got> got) {
    Map<Integer, Long> last = new HashMap<>();
    for (Got each : got) {
      Long before = last.put(each.shard(), each.offset());
      assertThat(before == null || each.offset() == before || each.offset() == before + 1)
          .as("%s after offset %s", each, before)
          .isTrue();
    }
  }

  private static void attempts(List<Got> got, String what, int attempts) {
    for (String payload : named(what, 0, 2)) {
      assertThat(
              got.stream().filter(it -> it.payload().equals(payload)).map(Got::attempt).distinct())
          .as(payload)
          .containsExactlyElementsOf(IntStream.rangeClosed(1, attempts).boxed().toList());
    }
  }

  private static HttpResponse<String> open(String group, JsonObject options) {
    return node.post("/api/groups/" + group + "/sessions", options.encode());
  }

  private static String opened(String group, JsonObject options) {
    HttpResponse<String> answer = open(group, options);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    return "/api/groups/"
        + group
        + "/sessions/"
        + new JsonObject(answer.body()).getString("session");
  }

  private static JsonObject session(String topic, String address, int expiresMillis) {
    JsonObject options = consumer("", topic, address).put("expiresMs", expiresMillis);
    options.remove("group");
    return options;
  }

  @Test
  void aSessionSendsItsMessagesToItsAddressUntilItIsClosed() {
    node.createTopic("opened", 2);
    String session = opened("opened", session("opened", "opened.in", 300_000));
    HttpResponse<String> polled = node.get(session + "/messages");
    assertThat(polled.statusCode()).as(polled.body()).isEqualTo(400);
    assertThat(polled.body()).contains("to the address 'opened.in': reply there");
    List<String> sent = named("m", 0, 20);
    node.sendByKey("opened", sent);
    Wait.until("nobody is there", () -> warned("opened.in") > 0);
    Jar.Running receiver = receiver("receiver-3", "opened.in");
    Wait.until("all", () -> payloads(got("opened.in", receiver)).containsAll(sent));
    node.awaitConsumed("opened", 20);
    assertThat(node.post(session + "/extend", "").statusCode()).isEqualTo(200);
    assertThat(node.delete(session).statusCode()).isEqualTo(204);
    node.sendByKey("opened", named("late", 0, 5));
    assertThat(node.post(session + "/extend", "").statusCode()).isEqualTo(404);
    Wait.until("its messages wait", () -> Long.valueOf(5).equals(node.lag("opened")));
    assertThat(payloads(got("opened.in", receiver))).containsExactlyInAnyOrderElementsOf(sent);
    receiver.close();
  }

  @Test
  void aSessionExpiresWithoutAListenerAndNamesNoAddressOfTheSystem() {
    node.createTopic("expires", 1);
    String session = opened("expires", session("expires", "expires.in", 5_000));
    for (String address : List.of("evenkeel.api.topics", "__vertx.reply.1")) {
      HttpResponse<String> refused = open("expires", session("expires", address, 5_000));
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(refused.body()).contains("reserved");
    }
    node.send("expires", List.of("m"));
    Wait.until("its member has gone", () -> members("expires") == 0);
    HttpResponse<String> over = node.post(session + "/extend", "");
    assertThat(over.statusCode()).as(over.body()).isEqualTo(404);
    assertThat(node.lag("expires")).isEqualTo(1);
  }

  /** Whoever has lost the id of a session can end it with the name of its member. */
  @Test
  void aSessionEndsWhenAnotherOneTakesItsMembersName() {
    node.createTopic("taken", 1);
    String lost = opened("taken", session("taken", "taken.in", 300_000));
    String name =
        new JsonObject(node.read("/api/groups/taken"))
            .getJsonArray("members")
            .getJsonObject(0)
            .getString("member");
    String second = opened("taken", session("taken", "taken.in", 300_000).put("member", name));
    Wait.until("it ends", () -> node.post(lost + "/extend", "").statusCode() == 404);
    assertThat(members("taken")).isEqualTo(1);
    assertThat(node.delete(second).statusCode()).isEqualTo(204);
    Wait.until("nobody is left", () -> members("taken") == 0);
  }

  private static int members(String group) {
    return new JsonObject(node.read("/api/groups/" + group)).getJsonArray("members").size();
  }

  /** A member whose address has no listener does not keep the others of its group waiting. */
  @Test
  void aMemberWithoutAListenerHoldsNoLevelUp() {
    node.createTopic("lone", 2);
    opened(
        "lone",
        session("lone", "lone.in", 300_000)
            .put("mode", "level")
            .put("range", 3)
            .put("stallTimeoutMillis", 3_600_000));
    node.send("lone", named("m", 0, 5));
    Wait.until("nobody is there", () -> warned("lone.in") > 0);
    Jar.Running other =
        node.consume("other", "lone", "lone", "--mode", "level", "--range", "3", "--max", "200");
    node.send("lone", named("n", 0, 195));
    Jar.Result result = other.await();
    assertThat(result.status()).as(result.toString()).isZero();
    assertThat(result.lines()).hasSize(200);
    Jar.Running receiver = receiver("receiver-4", "lone.in");
    node.send("lone", named("o", 0, 20));
    Wait.until("it takes part again", () -> got("lone.in", receiver).size() == 20);
    receiver.close();
  }

  /** Its listeners are in this program and in another one: each gets messages in turn. */
  @Test
  void aVerticleSendsItsMessagesToAnAddress() {
    node.createTopic("verticle", 1);
    Vertx vertx = await(AddressExample.clusteredVertx(AddressReceivers.hazelcast(node)));
    try {
      List<String> here = new ArrayList<>();
      vertx
          .eventBus()
          .<io.vertx.core.buffer.Buffer>consumer(
              "verticle.in",
              message -> {
                here.add(message.headers().get("evenkeel-offset"));
                message.reply(null);
              });
      Jar.Running receiver = receiver("receiver-5", "verticle.in");
      String id =
          await(
              vertx.deployVerticle(
                  "java:dev.evenkeel.ConsumerVerticle",
                  new DeploymentOptions()
                      .setConfig(consumer("verticle", "verticle", "verticle.in"))));
      node.send("verticle", named("m", 0, 40));
      node.awaitConsumed("verticle", 40);
      assertThat(here).isNotEmpty();
      assertThat(here.size() + got("verticle.in", receiver).size()).isEqualTo(40);
      await(vertx.undeploy(id));
      assertThat(members("verticle")).isZero();
      String session = ask(vertx, "open", session("verticle", "verticle.in", 300_000));
      node.send("verticle", named("n", 0, 10));
      node.awaitConsumed("verticle", 50);
      ask(vertx, "close", new JsonObject().put("session", session));
      assertThat(members("verticle")).isZero();
      receiver.close();
    } finally {
      await(vertx.close());
    }
  }

  /** Asks over the event bus; gives the session. */
  private static String ask(Vertx vertx, String action, JsonObject question) {
    return await(
            vertx
                .eventBus()
                .<JsonObject>request(
                    "evenkeel.api.sessions",
                    question.put("action", action).put("group", "verticle")))
        .body()
        .getString("session");
  }

  @Test
  void aNodeRefusesAConsumerThatItCannotRun() {
    Jar.Result refused =
        Jar.run(
            directory,
            "serve",
            "--consumers",
            "[{\"group\":\"g\",\"topics\":[\"t\"],\"adress\":\"a\"}]");
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err().lines())
        .singleElement()
        .asString()
        .contains("consumers, entry 1: unknown consumer option 'adress': did you mean 'address'?");
  }
}
