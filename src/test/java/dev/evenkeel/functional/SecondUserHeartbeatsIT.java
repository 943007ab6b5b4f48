package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The members of a user go on, whatever heartbeats and questions another user sends. */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecondUserHeartbeatsIT {
  private static final int MEMBERS = 300;
  private static final int WAITING = 100;

  @TempDir static Path directory;
  private NodeWithUsers node;

  @BeforeAll
  void start() throws Exception {
    node =
        new NodeWithUsers(directory)
            .user("shop", "produce:*,consume:*,group:*,view:*,admin:*")
            .user("pay", "produce:paid,consume:paid,group:pay")
            .user("many", "consume:many,group:many")
            .start();
    EvenkeelClient client = await(Evenkeel.connect(node.options("shop")));
    Admin admin = client.admin();
    await(admin.createTopic("paid", 4));
    await(admin.createTopic("many", 4));
    await(client.close());
  }

  @AfterAll
  void stop() {
    node.close();
  }

  /** The largest filter. */
  private static List<String> filter() {
    int each = MessageFilter.BYTES_MAX / MessageFilter.CONDITIONS_MAX;
    return MessageFilter.of(
            IntStream.range(0, MessageFilter.CONDITIONS_MAX)
                .mapToObj(i -> "key=" + "%04d".formatted(i) + "x".repeat(each - 8))
                .toList())
        .texts();
  }

  private static Buffer beat(int member, List<String> filter) {
    Heartbeat beat = Heartbeats.beat("many", "m" + member, "many-" + member, 1_000);
    return Heartbeats.with(
            beat,
            "topics",
            List.of("many"),
            "wishes",
            beat.wishes().withFilter(filter),
            "memberTimeoutMillis",
            60_000L)
        .toJson()
        .toBuffer();
  }

  /** Sends heartbeats as fast as they are answered, each of another member. */
  private static void storm(Link link, List<Buffer> beats, AtomicInteger next, AtomicBoolean ends) {
    link.request(Addresses.dispatcher("n1"), beats.get(next.getAndIncrement() % MEMBERS), 30_000)
        .onComplete(
            answered -> {
              if (!ends.get()) {
                storm(link, beats, next, ends);
              }
            });
  }

  @Test
  void aMemberJoinsAndGoesOnBesideTheLargestHeartbeats() {
    List<String> filter = filter();
    List<Buffer> beats = IntStream.range(0, MEMBERS).mapToObj(i -> beat(i, filter)).toList();
    Link many = await(Evenkeel.link(node.options("many")));
    AtomicInteger sent = new AtomicInteger();
    AtomicBoolean ends = new AtomicBoolean();
    for (int i = 0; i < WAITING; i++) {
      storm(many, beats, sent, ends);
    }
    Wait.until("all have sent a heartbeat", () -> sent.get() > 2 * MEMBERS);
    EvenkeelClient pay = await(Evenkeel.connect(node.options("pay")));
    Set<String> got = ConcurrentHashMap.newKeySet();
    List<Consumer> members = new ArrayList<>();
    for (String name : List.of("a", "b")) {
      members.add(
          await(
              pay.consumer(
                  new ConsumerOptions()
                      .setGroup("pay")
                      .setTopics(List.of("paid"))
                      .setMember(name)
                      .setMemberTimeoutMillis(5_000),
                  delivery -> {
                    got.add(delivery.message().payloadText());
                    return Future.succeededFuture();
                  })));
    }
    Producer producer = await(pay.producer(new ProducerOptions().setTopic("paid")));
    int begun = sent.get();
    int messages = 0;
    while (sent.get() < begun + 4 * MEMBERS) {
      await(producer.send("k" + messages, ("m" + messages++).getBytes(UTF_8)));
    }
    int all = messages;
    Wait.until("all messages", () -> got.size() == all);
    ends.set(true);
    EvenkeelClient shop = await(Evenkeel.connect(node.options("shop")));
    Link admin = await(Evenkeel.link(node.options("shop")));
    JsonObject moves =
        new JsonObject().put("action", "rebalances").put("group", "pay").put("limit", 100);
    assertThat(await(admin.request(ApiAddresses.GROUPS, moves.toBuffer(), 30_000)).toString())
        .as("nobody was lost")
        .doesNotContain("timeout");
    for (Consumer member : members) {
      await(member.close());
    }
    admin.close();
    many.close();
    await(shop.close());
    await(pay.close());
  }

  @Test
  void aMemberDoesNotChangeTheRateThatSomebodyElseHasSet() {
    EvenkeelClient shop = await(Evenkeel.connect(node.options("shop")));
    await(shop.admin().setGroupRate("pay", Rate.parse("1000/s")));
    Link pay = await(Evenkeel.link(node.options("pay")));
    Refused.with(Refusal.FORBIDDEN, () -> name(pay, 1), "admin:pay");
    name(pay, 1_000);
    pay.close();
    await(shop.close());
  }

  private static void name(Link link, int perSecond) {
    Quota rate = new Quota(QuotaKind.GROUP_RATE, "pay", 0, perSecond, 1_000);
    Buffer request =
        Calls.RESERVE.request(new ReserveRequest(rate.key(), 0, 0, ReserveRequest.ANY_WAIT, rate));
    Frames.answerBody(await(link.request(Addresses.control("n1"), request, 10_000)));
  }

  @Test
  void jsonOfManyValuesIsRefusedBeforeItIsParsed() {
    Link link = await(Evenkeel.link(node.options("pay")));
    String values = "[" + "[],".repeat(1_000_000) + "1]";
    Refused.with(
        Refusal.TOO_LARGE,
        () -> await(link.request(ApiAddresses.PRODUCE, Buffer.buffer(values), 30_000)),
        "JSON values");
    link.close();
  }
}
