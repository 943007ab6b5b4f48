package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static dev.evenkeel.Words.words;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.Refused;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.api.DelayedMessageView;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.ListDelayedMessages.DelayedMessages;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.QuotaView;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.ResetGroup;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.Serde;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.client.TypedProducer;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.client.plain.PlainConsumer;
import dev.evenkeel.client.plain.PlainProducer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What applications use every day, over a session with a real node. */
class DailyApiIT extends OneNode {
  private static ClientOptions options() {
    return TestUsers.options().setSeeds(List.of(node.cluster()));
  }

  private static ConsumerOptions consumer(String group, String topic) {
    return new ConsumerOptions().setGroup(group).setTopics(List.of(topic));
  }

  @Test
  void objectsGoThroughAndWhatCannotBeReadBecomesADeadLetter() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      await(admin.createTopic("typed", 2));
      TypedProducer<JsonObject> orders =
          await(client.producer(new ProducerOptions().setTopic("typed")).map(Serde.JSON::producer));
      await(orders.send("k", new JsonObject().put("n", 1), Map.of("trace", "4711")));
      await(orders.producer().send("k", "no json".getBytes()));
      await(orders.send("k", new JsonObject().put("n", 2)));

      List<String> got = new CopyOnWriteArrayList<>();
      Consumer consumer =
          await(
              client.consumer(
                  consumer("typed", "typed").setRetryDelaysMillis(List.of(10L)),
                  Serde.JSON.handler(
                      (order, delivery) -> {
                        got.add(order.getInteger("n") + delivery.message().headerText("trace"));
                        return Future.succeededFuture();
                      })));
      Wait.until(30, () -> got.size() == 2);
      assertThat(got).containsExactly("14711", "2null");
      await(consumer.close());

      List<DeadLetterView> dead = await(admin.deadLetters("typed", null, 10));
      assertThat(dead).hasSize(1);
      assertThat(dead.get(0).attempts()).isEqualTo(2);
      assertThat(dead.get(0).error()).contains("the payload of 7 bytes cannot be read");
      assertThat(await(admin.replay("typed", List.of(dead.get(0).name())))).isEqualTo(1);
      assertThat(await(admin.dropAll("typed"))).isZero();
    } finally {
      await(client.close());
    }
  }

  @Test
  void quotasAreAdministeredFromCode() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      QuotaView set = await(admin.setQuota(QuotaKind.TOPIC, "limited", 1_000_000L, null));
      assertThat(set.bytesPerSecond()).isEqualTo(1_000_000);
      assertThat(set.messages()).isNull();
      await(admin.setGroupRate("limited", Rate.parse("30/m")));
      List<QuotaView> all = await(admin.quotas());
      assertThat(all).extracting(QuotaView::kind).contains(QuotaKind.TOPIC, QuotaKind.GROUP_RATE);
      assertThat(all)
          .filteredOn(each -> each.kind() == QuotaKind.GROUP_RATE)
          .allMatch(each -> each.messages() == 30 && each.periodMillis() == 60_000);
      refused(admin.setQuota(QuotaKind.TOPIC, "limited", null, null), Refusal.INVALID);
      refused(admin.setQuota(QuotaKind.TOPIC, "a b", 1L, null), Refusal.INVALID);
      await(admin.clearQuota(QuotaKind.TOPIC, "limited"));
      await(admin.clearQuota(QuotaKind.GROUP_RATE, "limited"));
      assertThat(await(admin.quotas())).isEmpty();
    } finally {
      await(client.close());
    }
  }

  @Test
  void aPausedGroupGetsNothingUntilItIsResumed() throws Exception {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      await(admin.createTopic("paused", 1));
      List<String> got = new CopyOnWriteArrayList<>();
      Consumer consumer =
          await(
              client.consumer(
                  consumer("paused", "paused"),
                  delivery -> {
                    got.add(new String(delivery.message().payload(), UTF_8));
                    return Future.succeededFuture();
                  }));
      node.send("paused", List.of("a"));
      Awaitility.await().until(() -> got.size() == 1);
      // The node has just started, and knows a moment later that all nodes read this.
      Awaitility.await()
          .ignoreExceptionsInstanceOf(RefusedException.class)
          .until(() -> await(admin.pause("paused").map(true)));
      await(admin.pause("paused", "paused", 0));
      refused(admin.pause("paused", "none"), Refusal.UNKNOWN_TOPIC);
      refused(admin.pause("paused", "paused", 7), Refusal.UNKNOWN_SHARD);
      refused(admin.resume("paused", "paused"), Refusal.INVALID);
      GroupView group = await(admin.group("paused"));
      assertThat(group.paused()).isTrue();
      assertThat(group.shards()).allMatch(GroupView.Shard::paused);
      node.send("paused", List.of("b"));
      node.kill();
      node.start();
      // It owns its shard again, and gets nothing.
      Awaitility.await()
          .ignoreExceptionsInstanceOf(RefusedException.class)
          .until(
              () -> consumer.member().equals(await(admin.group("paused")).shards().get(0).owner()));
      Thread.sleep(1_000);
      assertThat(got).containsExactly("a");
      assertThat(node.admin("group", "list").out()).containsPattern("paused +sharded +paused ");
      assertThat(node.admin("group", "describe", "paused").out()).contains("OWNED, paused");
      assertThat(node.admin("group", "resume", "paused").out()).contains("resumed group paused");
      Awaitility.await().until(() -> got.size() == 2);
      assertThat(await(admin.group("paused")).paused()).isFalse();
      await(consumer.close());
    } finally {
      await(client.close());
    }
  }

  @Test
  void aPlanForAGroupIsWhatHappens() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      await(admin.createTopic("planned", 4));
      ConsumerHandler handler = delivery -> Future.succeededFuture();
      Consumer first =
          await(client.consumer(consumer("planned", "planned").setMember("first"), handler));
      Awaitility.await()
          .ignoreExceptionsInstanceOf(RefusedException.class)
          .until(() -> ownersOf(admin, "planned").values().stream().allMatch("first"::equals));
      PlanGroup.GroupPlan plan = await(admin.plan(PlanGroup.of("planned").adding(1)));
      assertThat(plan.moves()).hasSize(2).allMatch(move -> move.to().equals("new-1"));
      JsonObject printed =
          new JsonObject(
              node.admin("group", "plan", "planned", "--add", "1", "--format", "json").out());
      assertThat(printed.getJsonArray("moves")).isEqualTo(RecordJson.json(plan.moves()));
      Consumer second =
          await(client.consumer(consumer("planned", "planned").setMember("new-1"), handler));
      Map<String, String> planned = new HashMap<>();
      plan.owners().forEach((name, shards) -> shards.forEach(each -> planned.put(each, name)));
      Awaitility.await().until(() -> ownersOf(admin, "planned").equals(planned));
      assertThat(await(admin.plan(PlanGroup.of("planned"))).moves()).isEmpty();
      String self = await(admin.cluster()).node();
      assertThat(node.admin("group", "plan", "planned", "--kill", self).out())
          .as("they run elsewhere")
          .contains("no shard moves");
      refused(admin.plan(PlanGroup.of("planned").killing("none")), Refusal.INVALID);
      refused(admin.plan(PlanGroup.of("none")), Refusal.UNKNOWN_GROUP);
      await(first.close());
      await(second.close());
    } finally {
      await(client.close());
    }
  }

  private static Map<String, String> ownersOf(Admin admin, String group) {
    Map<String, String> owners = new HashMap<>();
    await(admin.group(group))
        .shards()
        .forEach(shard -> owners.put(shard.topic() + "/" + shard.shard(), shard.owner()));
    return owners;
  }

  @Test
  void topicsAndGroupsAreAdministeredFromCode() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      TopicView made =
          await(
              admin.createTopic(
                  "managed", 4, new TopicSettings().setRetention(Duration.ofHours(1))));
      assertThat(made.shards()).isEqualTo(4);
      assertThat(made.limits().retentionMillis()).isEqualTo(3_600_000);
      refused(admin.createTopic("managed", 4), Refusal.TOPIC_EXISTS);
      refused(admin.createTopic("many", 10_001), Refusal.INVALID);
      TopicView changed =
          await(admin.changeTopic("managed", new TopicSettings().setShardBytesMax(1L << 30)));
      assertThat(changed.limits().shardBytesMax()).isEqualTo(1L << 30);
      assertThat(changed.limits().retentionMillis()).isEqualTo(3_600_000);
      assertThat(await(admin.topics())).extracting(TopicView::name).contains("managed");

      node.send("managed", List.of("a", "b", "c"));
      Consumer consumer =
          await(
              client.consumer(
                  consumer("managed", "managed"), delivery -> Future.succeededFuture()));
      Awaitility.await().until(() -> consumer.consumed() == 3);
      GroupView group = await(admin.group("managed"));
      assertThat(group.members())
          .extracting(GroupView.Member::member)
          .containsExactly(consumer.member());
      assertThat(group.shards()).hasSize(4).allMatch(s -> consumer.member().equals(s.owner()));
      assertThat(await(admin.groups())).extracting(GroupSummary::group).contains("managed");
      refused(admin.deleteGroup("managed", false), Refusal.GROUP_ACTIVE);
      await(consumer.close());

      ResetGroup toEarliest = ResetGroup.of("managed", "earliest");
      assertThat(states(await(admin.resetOffsets(toEarliest.dry()))))
          .hasSize(4)
          .containsOnly("DRY_RUN");
      assertThat(states(await(admin.resetOffsets(toEarliest)))).containsOnly("DONE");
      assertThat(await(admin.group("managed")).lag()).isEqualTo(3);

      assertThat(await(admin.reshard("managed", 6)).shards()).isEqualTo(6);
      assertThat(await(admin.cluster()).nodes()).hasSize(1);
      assertThat(await(admin.deleteGroup("managed", true)).dryRun()).isTrue();
      await(admin.deleteGroup("managed", false));
      refused(admin.group("managed"), Refusal.UNKNOWN_GROUP);
      await(admin.deleteTopic("managed"));
      refused(admin.topic("managed"), Refusal.UNKNOWN_TOPIC);
    } finally {
      await(client.close());
    }
  }

  private static List<String> states(ResetGroup.OffsetReset reset) {
    return reset.shards().stream().map(ResetGroup.ResetShard::state).toList();
  }

  private static void refused(Future<?> future, Refusal refusal) {
    Refused.with(refusal, () -> await(future));
  }

  @Test
  void aDelayedMessageIsListedAndCancelledAndTheOthersCome() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      await(admin.createTopic("later", 2));
      Producer producer =
          await(client.producer(new ProducerOptions().setTopic("later").setLingerMillis(50)));
      Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
      // The node has just started, and knows a moment later that all nodes read this.
      Wait.until(() -> await(producer.sendAt(message("old", "first"), tomorrow)).isDelayed());

      List<Future<Producer.Position>> sent = new ArrayList<>();
      for (String payload : List.of("a", "b", "c")) {
        sent.add(producer.sendAt(message("k", payload), tomorrow));
      }
      List<String> ids = sent.stream().map(each -> await(each).delayedId()).toList();
      assertThat(ids).doesNotHaveDuplicates();
      DelayedMessages page = await(admin.delayedMessages("later", "k", null, 2));
      assertThat(page.messages()).extracting(DelayedMessageView::id).isEqualTo(ids.subList(0, 2));
      assertThat(page.messages().get(0).payload().text()).isEqualTo("a");
      page = await(admin.delayedMessages("later", "k", page.next(), 2));
      assertThat(page.messages()).extracting(DelayedMessageView::id).containsExactly(ids.get(2));
      assertThat(page.next()).isNull();

      await(admin.cancelDelayed("later", ids.get(1)));
      refused(admin.cancelDelayed("later", ids.get(1)), Refusal.UNKNOWN_MESSAGE);
      refused(admin.delayedMessage("later", ids.get(1)), Refusal.UNKNOWN_MESSAGE);
      refused(admin.cancelDelayed("later", "1-2"), Refusal.INVALID);
      assertThat(node.admin("delayed", "cancel", "later", ids.get(0)).out())
          .contains("cancelled " + ids.get(0));
      assertThat(node.admin("delayed", "list", "later", "--key=k").out())
          .contains(ids.get(2))
          .doesNotContain(ids.get(0), ids.get(1));
      assertThat(node.delete("/api/topics/later/delayed/" + ids.get(0)).statusCode())
          .isEqualTo(404);
      assertThat(await(admin.delayedMessage("later", ids.get(2))).due().toEpochMilli() / 10)
          .isBetween(tomorrow.toEpochMilli() / 10, tomorrow.toEpochMilli() / 10 + 1);

      // The id that a send has given holds across a reshard.
      String kept = await(producer.sendAt(message("k", "d"), tomorrow)).delayedId();
      await(admin.reshard("later", 3));
      assertThat(await(admin.delayedMessage("later", kept)).payload().text()).isEqualTo("d");
      await(admin.cancelDelayed("later", kept));
      refused(admin.cancelDelayed("later", kept), Refusal.UNKNOWN_MESSAGE);

      List<String> got = new CopyOnWriteArrayList<>();
      await(
          client.consumer(
              consumer("later", "later"),
              Serde.TEXT.handler(
                  (text, delivery) -> {
                    got.add(text);
                    return Future.succeededFuture();
                  })));
      Instant soon = Instant.now().plusMillis(1_500);
      List<Future<Producer.Position>> next = new ArrayList<>();
      for (String payload : List.of("1", "2", "3")) {
        next.add(producer.sendAt(message("k", payload), soon));
      }
      await(admin.cancelDelayed("later", await(next.get(1)).delayedId()));
      Wait.until(30, () -> got.contains("3"));
      assertThat(got).containsExactly("1", "3");
      refused(
          admin.cancelDelayed("later", await(next.get(0)).delayedId()), Refusal.UNKNOWN_MESSAGE);
    } finally {
      await(client.close());
    }
  }

  private static Message message(String key, String payload) {
    return Message.builder(payload).key(key).build();
  }

  @Test
  void aFilterLeavesOutMessagesWhichCountAsConsumed() {
    node.createTopic("filtered", 3);
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Producer producer = await(client.producer(new ProducerOptions().setTopic("filtered")));
      List<Future<?>> sent = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        Message.Builder message = Message.builder("m" + i).key("k" + i % 100);
        sent.add(producer.send(message.header("region", i % 2 == 0 ? "eu-1" : "us-1").build()));
      }
      await(Future.all(sent));
      List<Delivery> got = new CopyOnWriteArrayList<>();
      // From 8 to 98, and even.
      MessageFilter filter = MessageFilter.of("key^=k8", "key=k97", "key=k98", "header:region^=eu");
      ConsumerOptions wanted = consumer("some", "filtered").setFilter(filter);
      Consumer consumer =
          await(
              client.consumer(
                  wanted,
                  delivery -> {
                    got.add(delivery);
                    return Future.succeededFuture();
                  }));
      node.awaitConsumed("some", 3_000);
      assertThat(got).hasSize(30 * 7);
      assertThat(got).extracting(each -> each.message().keyText()).doesNotContain("k97", "k81");
      assertThat(consumer.filtered()).isEqualTo(3_000 - got.size());
      JsonObject member =
          new JsonObject(node.read("/api/groups/some")).getJsonArray("members").getJsonObject(0);
      assertThat(member.getJsonArray("filter")).containsExactlyElementsOf(filter.texts());
      assertThat(got).allMatch(each -> each.logPosition() != null);
      assertThat(ordered(got)).isTrue();

      ConsumerOptions another = consumer("some", "filtered").setFilter(MessageFilter.of("key=k1"));
      refused(client.consumer(another, delivery -> null), Refusal.GROUP_MISMATCH);
      await(consumer.close());

      // A few to come, behind many that nobody wants.
      Jar.Running cli =
          node.consume("few", "filtered", "few", words("--filter key=rare --format json --max 1"));
      node.awaitConsumed("few", 3_000);
      await(producer.send("rare", "treasure".getBytes(UTF_8)));
      assertThat(cli.await().status()).isZero();
      JsonObject line = new JsonObject(cli.out().strip());
      assertThat(line.getString("payload")).isEqualTo("treasure");
      assertThat(line.getString("logGroup")).startsWith("d");
      assertThat(line.getLong("logIndex")).isPositive();
      assertThat(
              PrometheusText.parse(node.read("/metrics"))
                  .value("evenkeel_fetch_filtered_messages_total"))
          .isGreaterThanOrEqualTo(2_790 + 3_000);
    } finally {
      await(client.close());
    }
  }

  /** In each shard, later messages are not in earlier entries of the log. */
  private static boolean ordered(List<Delivery> all) {
    Map<Integer, Long> last = new HashMap<>();
    return all.stream()
        .allMatch(
            each -> {
              Long before = last.put(each.shard(), each.logPosition().index());
              return before == null || before <= each.logPosition().index();
            });
  }

  @Test
  void aPatternTakesInTopicsAsTheyAppearAndSubscriptionsChange() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      List<String> got = new CopyOnWriteArrayList<>();
      Consumer consumer =
          await(
              client.consumer(
                  consumer("patterns", "eu.*"),
                  Serde.TEXT.handler(
                      (text, delivery) -> {
                        got.add(delivery.topic() + " " + text);
                        return Future.succeededFuture();
                      })));
      assertThat(consumer.ownedShards()).as("there is no such topic yet").isZero();
      for (String topic : List.of("eu.orders", "eu.visits", "us.orders", "empty")) {
        node.createTopic(topic, 2);
      }
      for (String topic : List.of("eu.orders", "eu.visits", "us.orders")) {
        node.send(topic, List.of("1"));
      }
      Wait.until(30, () -> got.size() == 2);
      assertThat(got).containsExactlyInAnyOrder("eu.orders 1", "eu.visits 1");

      await(Future.all(consumer.subscribe("us.orders"), consumer.subscribe("empty")));
      Wait.until(30, () -> got.size() == 3);
      Awaitility.await().until(() -> consumer.ownedShards() == 8);
      assertThat(await(consumer.unsubscribe("empty"))).isTrue();
      refused(consumer.subscribe("us.orders"), Refusal.INVALID);
      refused(consumer.subscribe("nowhere"), Refusal.UNKNOWN_TOPIC);
      assertThat(await(consumer.unsubscribe("eu.*"))).isFalse();
      Awaitility.await().until(() -> consumer.ownedShards() == 2);
      node.send("eu.orders", List.of("2"));
      node.send("us.orders", List.of("2"));
      Awaitility.await().until(() -> got.contains("us.orders 2"));
      assertThat(got).doesNotContain("eu.orders 2");

      // The group knows how far it was.
      await(consumer.subscribe("eu.*"));
      Awaitility.await().until(() -> got.contains("eu.orders 2"));
      assertThat(got).hasSize(5);
      await(client.admin().deleteTopic("eu.visits"));
      node.send("eu.orders", List.of("3"));
      Awaitility.await().until(() -> got.contains("eu.orders 3"));
    } finally {
      await(client.close());
    }
  }

  @Test
  void codeWithoutVertxSendsAndPolls() throws InterruptedException {
    node.createTopic("plain", 3);
    try (PlainClient client = Evenkeel.connectAndWait(options());
        PlainProducer producer = client.producer(new ProducerOptions().setTopic("plain"))) {
      assertThat(producer.send("k", "0".getBytes()).offset()).isZero();
      for (int i = 1; i < 100; i++) {
        producer.sendAsync(Message.builder(String.valueOf(i)).key("k").build());
      }
      producer.flush();

      List<String> got = new ArrayList<>();
      List<Integer> attempts = new ArrayList<>();
      try (PlainConsumer consumer =
          client.consumer(consumer("plain", "plain").setRetryDelaysMillis(List.of(10L, 10L)))) {
        while (got.size() < 100) {
          for (Delivery delivery : consumer.poll(Duration.ofSeconds(10))) {
            if (delivery.offset() == 50 && delivery.attempt() < 3) {
              attempts.add(delivery.attempt());
              consumer.fail(delivery, new IllegalStateException("not yet"));
            } else {
              got.add(delivery.message().payloadText());
              consumer.done(delivery);
            }
          }
        }
        assertThat(consumer.poll(Duration.ZERO)).isEmpty();
      }
      assertThat(attempts).containsExactly(1, 2);
      times(100, i -> assertThat(got.get(i)).isEqualTo(String.valueOf(i)));
      node.awaitConsumed("plain", 100);
      Refused.saying(() -> client.producer(new ProducerOptions().setTopic("nowhere")), "nowhere");
    }
  }
}
