package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A group reads a topic from the moment it subscribes, also without members. */
class SubscriptionIT extends OneNode {
  @Closing private static EvenkeelClient client;

  @BeforeAll
  static void connect() {
    client = await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(node.cluster()))));
  }

  private static ConditionFactory soon() {
    return Awaitility.await().atMost(Duration.ofSeconds(60));
  }

  private static ConsumerOptions options(String group, String... topics) {
    return new ConsumerOptions().setGroup(group).setTopics(List.of(topics));
  }

  private static ConsumerOptions latest(String group, String... topics) {
    return options(group, topics).setStart(StartAt.LATEST);
  }

  private static Consumer consumer(ConsumerOptions options, List<String> got) {
    return await(
        client.consumer(
            options,
            delivery -> {
              got.add(new String(delivery.message().payload(), UTF_8));
              return Future.succeededFuture();
            }));
  }

  private static List<String> payloads(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
  }

  private static void reshard(String topic, int shards) {
    assertThat(node.admin("topic", "reshard", topic, "--shards", "" + shards).status()).isZero();
  }

  private static void assertAll(List<String> got, List<String> sent) {
    soon().untilAsserted(() -> assertThat(got).containsExactlyInAnyOrderElementsOf(sent));
  }

  @Test
  void whatIsSentOnceAConsumerIsThereIsForIt() {
    node.createTopic("moment", 4);
    node.sendByKey("moment", payloads("old", 87));
    for (String mode : List.of("a", "b", "c")) {
      List<String> got = new CopyOnWriteArrayList<>();
      Consumer consumer = consumer(latest("moment-" + mode, "moment"), got);
      List<String> sent = payloads("new-" + mode, 50);
      node.sendByKey("moment", sent);
      assertAll(got, sent);
      await(consumer.close());
    }
  }

  @Test
  void soIsWhatIsSentToATopicThatFitsItsPatternLater() {
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer = consumer(latest("tenants", "tenant-*"), got);
    node.createTopic("tenant-1", 1);
    // At once: nobody may have to notice the topic first.
    assertThat(node.post("/api/topics/tenant-1/messages", "{\"payload\":\"x\"}").statusCode())
        .isEqualTo(200);
    assertAll(got, List.of("x"));
    await(consumer.close());
  }

  @Test
  void soIsWhatIsSentOnceACopyingConsumerIsThere() {
    node.createTopic("copied", 4);
    node.sendByKey("copied", payloads("old", 20));
    List<String> got = new CopyOnWriteArrayList<>();
    ConsumerOptions options =
        latest("copies", "copied")
            .setMode(ConsumerOptions.Mode.BROADCAST)
            .setMember("m")
            .setOffsetsDirectory(directory.resolve("offsets").toString());
    Consumer consumer = consumer(options, got);
    List<String> sent = payloads("new", 50);
    node.sendByKey("copied", sent);
    assertAll(got, sent);
    await(consumer.close());
  }

  @Test
  void soIsWhatIsSentOnceASessionIsOpen() {
    node.createTopic("polled", 2);
    node.sendByKey("polled", payloads("old", 87));
    reshard("polled", 8);
    JsonObject options =
        JsonObject.of("topics", JsonArray.of("polled"), "from", "latest", "order", "none");
    HttpResponse<String> opened = node.post("/api/groups/sessions/sessions", options.encode());
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
    String session = new JsonObject(opened.body()).getString("session");
    List<String> sent = payloads("new", 40);
    node.sendByKey("polled", sent);
    String path = "/api/groups/sessions/sessions/" + session;
    List<String> got = new ArrayList<>();
    soon()
        .untilAsserted(
            () -> {
              HttpResponse<String> answer = node.get(path + "/messages?max=100&waitMs=1000");
              JsonArray messages = new JsonObject(answer.body()).getJsonArray("messages");
              messages.forEach(each -> got.add(((JsonObject) each).getString("payload")));
              assertThat(got).containsExactlyInAnyOrderElementsOf(sent);
            });
    assertThat(node.delete(path).statusCode()).isEqualTo(204);
  }

  /** Its shards are older than what the group knows of the topic, and the group is older. */
  @Test
  void aTopicThatIsTakenInLaterBeginsThen() {
    node.createTopic("first", 1);
    node.createTopic("second", 2);
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer = consumer(latest("later", "first"), got);
    reshard("second", 3);
    node.sendByKey("second", payloads("old", 87));
    await(consumer.subscribe("second"));
    List<String> sent = payloads("new", 50);
    node.sendByKey("second", sent);
    assertAll(got, sent);
    await(consumer.close());
  }

  private static void createShortTopic(String name) {
    JsonObject topic = new JsonObject().put("name", name).put("shards", 2);
    var made = node.post("/api/topics", topic.put("retentionMillis", 1_000).encode());
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
  }

  /** Until retention has dropped what was consumed after all that was consumed before. */
  private static void awaitRetention() {
    createShortTopic("consumed");
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer = consumer(options("quick", "consumed"), got);
    List<String> sent = payloads("", 20);
    node.sendByKey("consumed", sent);
    assertAll(got, sent);
    soon().until(() -> starts("consumed") == sent.size());
    await(consumer.close());
  }

  /** The sum of the first offsets that are kept. */
  private static long starts(String topic) {
    JsonArray shards = new JsonObject(node.read("/api/topics/" + topic)).getJsonArray("shardList");
    return shards.stream().mapToLong(shard -> ((JsonObject) shard).getLong("start")).sum();
  }

  /** A group that has subscribed is behind, or has nobody who consumes, or is paused. */
  @Test
  void retentionKeepsWhatAnyGroupHasNotConsumedAcrossReshardsAndDropsTheRestSoon() {
    createShortTopic("kept");
    List<String> sent = new ArrayList<>();
    for (String group : List.of("stopped", "paused")) {
      await(consumer(options(group, "kept"), new CopyOnWriteArrayList<>()).close());
    }
    assertThat(node.admin("group", "pause", "paused").status()).isZero();
    List<String> fast = new CopyOnWriteArrayList<>();
    Consumer consumer = consumer(options("fast", "kept"), fast);
    for (int shards = 3; shards < 6; shards++) {
      List<String> more = payloads(shards + "-", 100);
      node.sendByKey("kept", more);
      sent.addAll(more);
      assertAll(fast, sent);
      reshard("kept", shards);
    }
    List<String> last = payloads("last", 100);
    node.sendByKey("kept", last);
    sent.addAll(last);
    assertAll(fast, sent);
    awaitRetention();

    assertThat(node.lag("stopped")).isEqualTo(sent.size());
    assertThat(node.lag("paused")).isEqualTo(sent.size());
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer slow = consumer(options("stopped", "kept"), got);
    assertAll(got, sent);
    List<String> resumed = new CopyOnWriteArrayList<>();
    assertThat(node.admin("group", "resume", "paused").status()).isZero();
    Consumer late = consumer(options("paused", "kept"), resumed);
    assertAll(resumed, sent);
    List.of(consumer, slow, late).forEach(each -> await(each.close()));
  }
}
