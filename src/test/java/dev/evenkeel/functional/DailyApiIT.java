package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Admin.OffsetReset;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.Serde;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.client.TypedProducer;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.client.plain.PlainConsumer;
import dev.evenkeel.client.plain.PlainProducer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What applications use every day, over a session with a real node. */
class DailyApiIT extends OneNode {
  private static ClientOptions options() {
    return new ClientOptions().setSeeds(List.of(node.cluster()));
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
      Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> got.size() == 2);
      assertThat(got).containsExactly("14711", "2null");
      await(consumer.close());

      List<Admin.DeadLetter> dead = await(admin.deadLetters("typed", null, 10));
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
      Admin.Quota set = await(admin.setQuota(QuotaKind.TOPIC, "limited", 1_000_000L, null));
      assertThat(set.bytesPerSecond()).isEqualTo(1_000_000);
      assertThat(set.messages()).isNull();
      await(admin.setGroupRate("limited", Rate.parse("30/m")));
      List<Admin.Quota> all = await(admin.quotas());
      assertThat(all).extracting(Admin.Quota::kind).contains(QuotaKind.TOPIC, QuotaKind.GROUP_RATE);
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
  void topicsAndGroupsAreAdministeredFromCode() {
    EvenkeelClient client = await(Evenkeel.connect(options()));
    try {
      Admin admin = client.admin();
      Admin.Topic made =
          await(
              admin.createTopic(
                  "managed", 4, new TopicSettings().setRetention(Duration.ofHours(1))));
      assertThat(made.shards()).isEqualTo(4);
      assertThat(made.settings().getRetentionMillis()).isEqualTo(3_600_000);
      refused(admin.createTopic("managed", 4), Refusal.TOPIC_EXISTS);
      refused(admin.createTopic("many", 10_001), Refusal.INVALID);
      Admin.Topic changed =
          await(admin.changeTopic("managed", new TopicSettings().setShardBytesMax(1L << 30)));
      assertThat(changed.settings().getShardBytesMax()).isEqualTo(1L << 30);
      assertThat(changed.settings().getRetentionMillis()).isEqualTo(3_600_000);
      assertThat(await(admin.topics())).extracting(Admin.Topic::name).contains("managed");

      node.send("managed", List.of("a", "b", "c"));
      Consumer consumer =
          await(
              client.consumer(
                  consumer("managed", "managed"), delivery -> Future.succeededFuture()));
      Awaitility.await().until(() -> consumer.consumed() == 3);
      Admin.Group group = await(admin.group("managed"));
      assertThat(group.members()).extracting(Admin.Member::name).containsExactly(consumer.member());
      assertThat(group.shards()).hasSize(4).allMatch(s -> consumer.member().equals(s.owner()));
      assertThat(await(admin.groups())).extracting(Admin.Group::name).contains("managed");
      refused(admin.deleteGroup("managed", false), Refusal.GROUP_ACTIVE);
      await(consumer.close());

      OffsetReset toEarliest = OffsetReset.to("earliest");
      assertThat(states(await(admin.resetOffsets("managed", toEarliest.dry()))))
          .hasSize(4)
          .containsOnly("DRY_RUN");
      assertThat(states(await(admin.resetOffsets("managed", toEarliest)))).containsOnly("DONE");
      assertThat(await(admin.group("managed")).lag()).isEqualTo(3);

      assertThat(await(admin.reshard("managed", 6)).shards()).isEqualTo(6);
      assertThat(await(admin.cluster()).getJsonArray("nodes")).hasSize(1);
      assertThat(await(admin.deleteGroup("managed", true)).getBoolean("dryRun")).isTrue();
      await(admin.deleteGroup("managed", false));
      refused(admin.group("managed"), Refusal.UNKNOWN_GROUP);
      await(admin.deleteTopic("managed"));
      refused(admin.topic("managed"), Refusal.UNKNOWN_TOPIC);
    } finally {
      await(client.close());
    }
  }

  private static List<String> states(JsonObject answer) {
    return answer.getJsonArray("shards").stream()
        .map(shard -> ((JsonObject) shard).getString("state"))
        .toList();
  }

  private static void refused(Future<?> future, Refusal refusal) {
    assertThatThrownBy(() -> await(future))
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(refusal));
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
      for (String topic : List.of("eu.orders", "eu.visits", "us.orders")) {
        node.createTopic(topic, 2);
        node.send(topic, List.of("1"));
      }
      Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> got.size() == 2);
      assertThat(got).containsExactlyInAnyOrder("eu.orders 1", "eu.visits 1");

      await(consumer.subscribe("us.orders"));
      Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> got.size() == 3);
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
      for (int i = 0; i < 100; i++) {
        assertThat(got.get(i)).isEqualTo(String.valueOf(i));
      }
      node.awaitConsumed("plain", 100);
      assertThatThrownBy(() -> client.producer(new ProducerOptions().setTopic("nowhere")))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("nowhere");
    }
  }
}
