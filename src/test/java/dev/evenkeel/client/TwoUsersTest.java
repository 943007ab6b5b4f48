package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Options;
import dev.evenkeel.Refused;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.testkit.EmbeddedNode;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What one user has begun, another one with the same permissions goes on with under the same name;
 * what has no name stays with whoever began it.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TwoUsersTest {
  private EmbeddedNode node;
  private EvenkeelClient first;
  private EvenkeelClient second;

  @BeforeAll
  void start() {
    node = EmbeddedNode.start(Map.of(), Map.of("first", TestUsers.ALL, "second", TestUsers.ALL));
    first = await(Evenkeel.connect(node.clientOptions("first")));
    second = await(Evenkeel.connect(node.clientOptions("second")));
  }

  @AfterAll
  void stop() {
    await(first.close());
    await(second.close());
    node.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void aProducerNameGoesOver() {
    node.createTopic("named", 1);
    ProducerOptions named = new ProducerOptions().setTopic("named").setName("till");
    Producer one = await(first.producer(named));
    await(one.send("k", bytes("1")));
    Producer other = await(second.producer(named));
    await(other.send("k", bytes("2")));
    Refused.with(Refusal.PRODUCER_FENCED, () -> await(one.send("k", bytes("3"))));
    Producer again = await(first.producer(named));
    await(again.send("k", bytes("4")));
    Refused.with(Refusal.PRODUCER_FENCED, () -> await(other.send("k", bytes("5"))));
    assertThat(await(first.admin().topics())).anyMatch(topic -> topic.name().equals("named"));
  }

  private Consumer member(EvenkeelClient client, String group, String name, List<String> got) {
    return await(
        client.consumer(
            Options.member(group, name, group),
            delivery -> {
              got.add(new String(delivery.message().payload(), UTF_8));
              return Future.succeededFuture();
            }));
  }

  @Test
  void aMemberNameGoesOverToTheNextRunWhoeverStartsIt() {
    node.createTopic("shared", 2);
    Producer producer = await(first.producer(new ProducerOptions().setTopic("shared")));
    List<String> ofFirst = new CopyOnWriteArrayList<>();
    List<String> ofSecond = new CopyOnWriteArrayList<>();

    Consumer left = member(first, "shared", "m", ofFirst);
    await(producer.send("k", bytes("1")));
    Wait.until("the first user's member has it", () -> ofFirst.equals(List.of("1")));
    await(left.close());
    await(producer.send("k", bytes("2")));
    Consumer replaced = member(second, "shared", "m", ofSecond);
    Wait.until("the second user's member has the next", () -> ofSecond.equals(List.of("2")));

    CompletableFuture<Throwable> ended = new CompletableFuture<>();
    replaced.onEnd(ended::complete);
    Consumer last = member(first, "shared", "m", ofFirst);
    Wait.until("the former run ends", ended::isDone);
    assertThat(ended.join()).hasMessageContaining("m");
    await(producer.send("k", bytes("3")));
    // What the former run had not committed comes again.
    Wait.until("the new run has the last", () -> ofFirst.contains("3"));
    node.expireMember("shared", "m");
    await(producer.send("k", bytes("4")));
    Wait.until("it joins again", () -> ofFirst.contains("4"));
    await(last.close());
  }

  @Test
  void aLeaderIsFollowedByTheOtherUsers() {
    List<String> leads = new CopyOnWriteArrayList<>();
    Candidate one = await(first.election(election("a"), new Career("a", leads)));
    Wait.until("the first leads", () -> leads.contains("a"));
    Candidate other = await(second.election(election("b"), new Career("b", leads)));
    await(one.close());
    Wait.until("the second leads", () -> leads.contains("b"));
    await(other.close());
  }

  private static ElectionOptions election(String member) {
    return new ElectionOptions().setName("chief").setMember(member);
  }

  private record Career(String name, List<String> leads) implements ElectionCareer {
    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      leads.add(name);
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> execute(LeaderContext context) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      return Future.succeededFuture();
    }
  }

  /** A message that waits is cancelled, a group paused and reset by whoever may. */
  @Test
  void whatOneBeganTheOtherChanges() {
    node.createTopic("later", 1);
    Producer producer = await(first.producer(new ProducerOptions().setTopic("later")));
    // Nodes that have just started do not give ids yet.
    String waits =
        Awaitility.await("a delayed message with an id")
            .until(
                () ->
                    await(
                            producer.sendAt(
                                Message.builder("1").build(), Instant.now().plusSeconds(600)))
                        .delayedId(),
                Objects::nonNull);
    await(second.admin().cancelDelayed("later", waits));
    await(producer.send("k", bytes("2")));
    List<String> got = new CopyOnWriteArrayList<>();
    member(first, "later", "m", got);
    Wait.until("it is consumed", () -> got.equals(List.of("2")));
    await(second.admin().pause("later"));
    await(producer.send("k", bytes("3")));
    await(second.admin().resume("later"));
    Wait.until("the group goes on", () -> got.equals(List.of("2", "3")));
  }

  /** The id of a producer without a name is its user's, and so are the messages in its spool. */
  @Test
  void aSpoolWithoutANameIsSentByWhoeverBeganIt(@TempDir Path directory) {
    node.createTopic("spooled", 1);
    ProducerOptions options =
        new ProducerOptions().setTopic("spooled").setSpool(directory.resolve("s").toString());
    await(first.admin().setQuota(QuotaKind.TOPIC, "spooled", null, 1L));
    SpoolingProducer one = await(first.spoolingProducer(options, null));
    for (int i = 0; i < 20; i++) {
      await(one.spool(Message.builder("" + i).build()));
    }
    await(one.close());
    await(first.admin().clearQuota(QuotaKind.TOPIC, "spooled"));

    Future<Void> refused =
        second
            .spoolingProducer(options, null)
            .compose(other -> other.flush().eventually(other::close));
    Refused.with(Refusal.FORBIDDEN, () -> await(refused), "the user who began it, or its spool");

    SpoolingProducer again = await(first.spoolingProducer(options, null));
    await(again.flush());
    await(again.close());
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer =
        await(
            second.consumer(
                Options.member("spooled", "m", "spooled"),
                delivery -> {
                  got.add(new String(delivery.message().payload(), UTF_8));
                  return Future.succeededFuture();
                }));
    Wait.until("all are there once", () -> got.size() == 20);
    assertThat(got).doesNotHaveDuplicates();
    await(consumer.close());
  }
}
