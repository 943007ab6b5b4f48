package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.decide.ProducerShare;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user who fills the tables of the cluster as far as it can leaves room for others: they still
 * register producers, join groups, send, and set quotas.
 */
@Timeout(400)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SharedTablesIT {
  /** Requests of one client that may be on their way at once. */
  private static final int REFUSED_WITHIN = 1_000;

  /** Requests of one program at once. */
  private static final int AT_ONCE = 200;

  @TempDir static Path directory;
  private NodeWithUsers node;
  private Link greedy;
  private EvenkeelClient shop;

  @BeforeAll
  void start() throws Exception {
    node =
        new NodeWithUsers(directory)
            .user("shop", "produce:*,consume:*,group:*,view:*,admin:*")
            .user("greedy", "produce:no-such-topic,consume:*,group:*,admin:greedy*")
            .user("web", "consume:*,group:*")
            .start();
    shop = await(Evenkeel.connect(node.options("shop")));
    await(shop.admin().createTopic("orders", 1));
    greedy = await(Evenkeel.link(node.options("greedy")));
    Wait.until(
        "the feature level of owners",
        () ->
            ClusterView.fromJson(
                        await(greedy.request(Addresses.VIEW, Buffer.buffer(), 10_000))
                            .toJsonObject())
                    .featureLevel()
                >= FeatureLevel.TABLE_OWNERS);
  }

  @AfterAll
  void stop() {
    greedy.close();
    await(shop.close());
    node.close();
  }

  private <Q, A> Future<A> ask(Call<Q, A> call, Q question) {
    return greedy
        .request(Addresses.control("n1"), call.request(question), 10_000)
        .map(call::answered);
  }

  private Future<Reply> register(int number) {
    return ask(Calls.SUBMIT_META, new MetaCommand.RegisterProducer("greedy-" + number))
        .map(Calls::taken);
  }

  private Future<Reply> open(long number) {
    DataCommand open = new DataCommand.OpenProducer(ProducerIds.ofUser(number, "greedy"), 0);
    return ask(Calls.SUBMIT_DATA, new Calls.ToGroup(0, open)).map(Calls::taken);
  }

  private Future<Assignment> join(String group, String member) {
    Buffer beat =
        Heartbeats.with(
                Heartbeats.beat(group, member, member, 1),
                "policy",
                GroupPolicy.of(GroupPolicy.MODE_BROADCAST),
                "topics",
                List.of("orders"),
                "memberTimeoutMillis",
                600_000L,
                "clusterMember",
                greedy.clusterMember())
            .toJson()
            .toBuffer();
    return greedy
        .request(Addresses.dispatcher("n1"), beat, 10_000)
        .map(answer -> Assignment.fromJson(new JsonObject(Frames.copy(Frames.answerBody(answer)))));
  }

  /**
   * Asks until it is refused for good, and checks the refusal.
   *
   * @return how often it was granted
   */
  private static int fill(Refusal refusal, String words, int max, IntFunction<Future<?>> ask) {
    int granted = 0;
    for (int from = 0; from < max; from += AT_ONCE) {
      List<Future<?>> asked = new ArrayList<>();
      for (int i = from; i < from + AT_ONCE; i++) {
        asked.add(ask.apply(i));
      }
      await(Future.join(asked).transform(done -> Future.succeededFuture()));
      List<Throwable> failures = asked.stream().filter(Future::failed).map(Future::cause).toList();
      granted += AT_ONCE - failures.size();
      if (!failures.isEmpty()) {
        failures.forEach(each -> Refused.is(refusal, each, "'greedy'", words));
        return granted;
      }
    }
    throw new AssertionError("a user got all " + max);
  }

  @Test
  void namesOfProducers() {
    int max = SharedTable.PRODUCERS.max();
    int names = fill(Refusal.TOO_LARGE, "named producers of the cluster", max, this::register);
    assertThat(names).isBetween(max * 4 / 10, max / 2);
    assertThat(await(register(0))).as("a name that it has").isInstanceOf(Reply.OfProducer.class);
    Producer producer =
        await(shop.producer(new ProducerOptions().setTopic("orders").setName("shop-1")));
    await(producer.send(null, "a".getBytes(UTF_8)));
    await(producer.close());
  }

  @Test
  void producersThatALogGroupRemembers() {
    int opened = 0;
    try {
      for (; ; opened += AT_ONCE) {
        List<Future<?>> asked = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
          asked.add(open(1_000_000 + opened + i));
        }
        await(Future.all(asked));
      }
    } catch (RefusedException refused) {
      assertThat(refused.refusal()).isEqualTo(Refusal.OVERLOADED);
      assertThat(refused.getMessage()).contains("your user has");
    }
    assertThat(opened).isLessThan(ProducerShare.PRODUCERS_HARD_MAX);
    for (int i = 0; i < 20; i++) {
      Producer producer = await(shop.producer(new ProducerOptions().setTopic("orders")));
      await(producer.send(null, "b".getBytes(UTF_8)));
      await(producer.close());
    }
  }

  @Test
  void groupsAndMembers() {
    int max = SharedTable.GROUPS.max();
    List<Throwable> failures = new ArrayList<>();
    int made = 0;
    while (failures.isEmpty() && made < max) {
      List<Future<?>> asked = new ArrayList<>();
      for (int i = made; i < made + AT_ONCE; i++) {
        asked.add(join("greedy-" + i, "m" + i));
      }
      await(Future.join(asked).transform(done -> Future.succeededFuture()));
      asked.stream().filter(Future::failed).map(Future::cause).forEach(failures::add);
      made += AT_ONCE;
    }
    assertThat(failures)
        .allSatisfy(
            each -> {
              RefusedException refused = RefusedException.of(each);
              assertThat(refused.refusal()).isIn(Refusal.TOO_LARGE, Refusal.OVERLOADED);
              assertThat(refused.getMessage()).contains("the user 'greedy' has");
            });
    assertThat(made).isBetween(max * 4 / 10, max / 2 + AT_ONCE);
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer =
        await(
            shop.consumer(
                new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")),
                delivery -> {
                  got.add(delivery.message().payloadText());
                  return Future.succeededFuture();
                }));
    Producer producer = await(shop.producer(new ProducerOptions().setTopic("orders")));
    await(producer.send(null, "c".getBytes(UTF_8)));
    Wait.until("a message for a new group", () -> got.contains("c"));
    await(consumer.close());
    await(producer.close());
  }

  /** A node opens the member, but the group is the user's. */
  @Test
  void groupsOfSessionsOverHttp() throws Exception {
    HttpRequest open =
        HttpRequest.newBuilder(URI.create(node.url() + "/api/groups/over-http/sessions"))
            .header("Authorization", "Bearer " + node.token("web"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"topics\":[\"orders\"]}"))
            .build();
    HttpResponse<String> answer = node.http().send(open, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    HttpRequest shares =
        HttpRequest.newBuilder(URI.create(node.url() + "/api/shares"))
            .header("Authorization", "Bearer " + node.token("web"))
            .build();
    HttpResponse<String> held = node.http().send(shares, HttpResponse.BodyHandlers.ofString());
    assertThat(new JsonArray(held.body()).stream().map(JsonObject.class::cast))
        .extracting(each -> each.getString("kind") + " " + each.getLong("held"))
        .contains("groups 1", "members 1", "sessions 1");
  }

  @Test
  void quotasAndTopics() throws Exception {
    Admin admin = await(Evenkeel.connect(node.options("greedy"))).admin();
    int max = SharedTable.QUOTAS.max();
    int quotas =
        fill(
            Refusal.TOO_LARGE,
            "clear quotas that you do not need",
            max,
            i -> admin.setQuota(QuotaKind.TOPIC, "greedy-" + i, null, 5L));
    assertThat(quotas).isBetween(max * 4 / 10, max / 2);
    // While many are on their way, the last ones may be counted twice: then some more fit.
    String answer = "";
    HttpClient client = node.http();
    for (int i = 0; i < REFUSED_WITHIN && !answer.contains("TOO_LARGE"); i++) {
      HttpRequest more =
          HttpRequest.newBuilder(URI.create(node.url() + "/api/quotas/topic/greedy-more-" + i))
              .header("Authorization", "Bearer " + node.token("greedy"))
              .header("Content-Type", "application/json")
              .PUT(HttpRequest.BodyPublishers.ofString("{\"messages\":5}"))
              .build();
      answer = client.send(more, HttpResponse.BodyHandlers.ofString()).body();
    }
    assertThat(answer).contains("the user 'greedy' has", "TOO_LARGE");
    await(shop.admin().setQuota(QuotaKind.TOPIC, "orders", null, 1_000_000L));
    await(shop.admin().createTopic("more", 1));
  }
}
