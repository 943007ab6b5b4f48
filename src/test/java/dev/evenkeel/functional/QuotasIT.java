package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Quotas over real processes: whatever asks for more than its quota gets that much and no more, and
 * nothing is lost. The short forms check that it takes as long as it must; the long forms measure
 * 30 s.
 */
@Timeout(300)
class QuotasIT {
  private static final double SECONDS = 30;
  private static final double TOLERANCE = 0.05;

  @TempDir Path directory;

  private static void quota(Node node, String... args) {
    // A cluster that has just begun is not at its feature level for a moment.
    Awaitility.await("quota " + Arrays.toString(args))
        .atMost(Duration.ofSeconds(60))
        .until(() -> node.tryAdmin(args), result -> result.status() == 0);
  }

  private static EvenkeelClient connect(String seeds) {
    return await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(seeds.split(",")))));
  }

  private static Message message(int number, int bytes) {
    byte[] payload = new byte[bytes];
    byte[] text = (number + " ").getBytes(StandardCharsets.UTF_8);
    System.arraycopy(text, 0, payload, 0, text.length);
    return new Message(null, Map.of(), 0, payload);
  }

  /** Sends all the time, as fast as the producer's buffer lets it. */
  private static final class Sender {
    final AtomicLong acknowledged = new AtomicLong();
    final AtomicLong bytes = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    private final Producer producer;
    private final int payloadBytes;
    private volatile boolean ended;
    private final List<Future<?>> sent = new ArrayList<>();

    Sender(EvenkeelClient client, String topic, int payloadBytes) {
      this.payloadBytes = payloadBytes;
      producer =
          await(
              client.producer(
                  new ProducerOptions()
                      .setTopic(topic)
                      .setBatchBytes(16 << 10)
                      .setBufferBytes(1 << 20)));
      times(400, i -> send(i));
    }

    private void send(int number) {
      if (ended) {
        return;
      }
      producer
          .send(message(number, payloadBytes))
          .onComplete(
              done -> {
                if (done.succeeded()) {
                  acknowledged.incrementAndGet();
                  bytes.addAndGet(payloadBytes);
                } else {
                  failed.incrementAndGet();
                }
                send(number + 400);
              });
    }

    void end() {
      ended = true;
      await(producer.close());
    }
  }

  private static long sum(List<Sender> senders) {
    return senders.stream().mapToLong(each -> each.acknowledged.get()).sum();
  }

  @Test
  void aTopicQuotaHoldsOverThreeProducersAndLosesNothing() throws Exception {
    int each = 300;
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("orders", 3);
      node.createTopic("free", 1);
      quota(node, "quota", "set", "topic", "orders", "--messages", "300");
      EvenkeelClient client = connect(node.cluster());
      Producer other = await(client.producer(new ProducerOptions().setTopic("free")));
      List<Future<?>> sent = new ArrayList<>();
      long begun = System.nanoTime();
      for (int p = 0; p < 3; p++) {
        Producer producer =
            await(client.producer(new ProducerOptions().setTopic("orders").setBatchBytes(1 << 10)));
        for (int i = 0; i < each; i++) {
          sent.add(producer.send(message(p * each + i, 100)));
        }
      }
      await(other.send(message(0, 10)));
      assertThat(sent.stream().allMatch(Future::isComplete))
          .as("a topic without a quota does not wait for one that has")
          .isFalse();
      await(Future.all(sent));
      double seconds = (System.nanoTime() - begun) / 1e9;
      assertThat(seconds).as("900 messages at 300/s").isGreaterThan(2);
      assertThat(node.written("orders")).isEqualTo(3L * each);
      JsonArray list = new JsonArray(node.admin("quota", "list", "--format", "json").out());
      assertThat(list.getJsonObject(0).getLong("messages")).isEqualTo(300);
      assertThat(list.getJsonObject(0).getLong("usedMessagesPerSecond")).isPositive();
      assertThat(node.get("/metrics").body())
          .contains("evenkeel_quota_wait_seconds_count{kind=\"topic\"}")
          .contains("evenkeel_quota_refusals_total{kind=\"topic\"}");
      quota(node, "quota", "set", "producer", "importer", "--messages", "100");
      Producer named =
          await(
              client.producer(
                  new ProducerOptions().setTopic("free").setName("importer").setBatchBytes(1)));
      begun = System.nanoTime();
      sent.clear();
      times(150, i -> sent.add(named.send(message(i, 10))));
      await(Future.all(sent));
      assertThat((System.nanoTime() - begun) / 1e9).as("150 messages at 100/s").isGreaterThan(1);
      node.admin("quota", "clear", "producer", "importer");
      node.admin("quota", "clear", "topic", "orders");
      assertThat(node.admin("quota", "list", "--format", "json").out().strip()).isEqualTo("[ ]");
      await(client.close());
    }
  }

  @Test
  void aGroupRateHoldsOverItsMembersThroughAKill() throws Exception {
    int messages = 600;
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("mails", 6);
      quota(node, "quota", "set", "group", "smtp", "--bytes", "10MiB/s");
      try (Jar.Running killed = node.consume("a", "mails", "smtp", "--group-rate", "150/s")) {
        // A member that runs already learns of a rate with its next heartbeat. One that joins later
        // learns of it together with its shards.
        Wait.until("the rate", () -> node.admin("quota", "list").out().contains("group-rate"));
        try (Jar.Running stays = node.consume("b", "mails", "smtp")) {
          aRateThroughAKill(node, killed, stays, messages);
        }
      }
    }
  }

  private static void aRateThroughAKill(
      Node node, Jar.Running killed, Jar.Running stays, int messages) throws Exception {
    // One that starts late would find nothing left.
    new Members(node, "smtp").awaitCounts(Map.of("a", 3, "b", 3));
    long begun = System.nanoTime();
    node.sendByKey("mails", IntStream.range(0, messages).mapToObj(i -> "m" + i).toList());
    Wait.until("both have begun", () -> lines(killed) > 30 && lines(stays) > 30);
    killed.kill();
    Wait.until("everything", () -> distinct(List.of(killed, stays)) == messages);
    double seconds = (System.nanoTime() - begun) / 1e9;
    assertThat(seconds).as("600 messages at 150/s").isGreaterThan(3.5);
    assertThat(node.admin("quota", "list").out()).containsPattern("group-rate +smtp +- +150/s");
    stays.stop();
  }

  private static long lines(Jar.Running member) {
    return member.out().lines().count();
  }

  private static long distinct(List<Jar.Running> members) {
    TreeSet<String> all = new TreeSet<>();
    members.forEach(each -> each.out().lines().forEach(all::add));
    return all.size();
  }

  // ---- The long forms

  /** Three producers on three nodes; in the middle one goes and another comes. */
  @Tag("full")
  @Test
  void threeProducersGetWhatTheQuotaSaysOver30Seconds() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      Node node = trio.node(1);
      node.createTopic("orders", 6);
      quota(node, "quota", "set", "topic", "orders", "--messages", "2000");
      List<EvenkeelClient> clients = new ArrayList<>();
      List<Sender> senders = new ArrayList<>();
      times(4, i -> clients.add(connect(trio.cluster())));
      times(3, i -> senders.add(new Sender(clients.get(i), "orders", 200)));
      TimeUnit.SECONDS.sleep(3);
      long before = sum(senders);
      long begun = System.nanoTime();
      TimeUnit.SECONDS.sleep(15);
      senders.get(0).end();
      senders.add(new Sender(clients.get(3), "orders", 200));
      Thread.sleep((long) (1_000 * SECONDS - (System.nanoTime() - begun) / 1_000_000));
      double perSecond = (sum(senders) - before) / ((System.nanoTime() - begun) / 1e9);
      System.out.println("three producers at 2000 messages/s: " + perSecond);
      assertThat(perSecond).isBetween(2_000 * (1 - TOLERANCE), 2_000 * (1 + TOLERANCE));
      assertThat(senders).allMatch(each -> each.failed.get() == 0);

      // A change counts within a second.
      node.admin("quota", "set", "topic", "orders", "--bytes", "1MB/s");
      TimeUnit.SECONDS.sleep(2);
      begun = System.nanoTime();
      JsonObject topic = new JsonObject(node.read("/api/topics/orders"));
      long bytes = topic.getLong("bytes");
      Thread.sleep((long) (1_000 * SECONDS));
      topic = new JsonObject(node.read("/api/topics/orders"));
      perSecond = (topic.getLong("bytes") - bytes) / ((System.nanoTime() - begun) / 1e9);
      System.out.println("three producers at 1 MB/s: " + perSecond);
      assertThat(perSecond).isBetween(1e6 * (1 - TOLERANCE), 1e6 * (1 + TOLERANCE));
      senders.subList(1, 4).forEach(Sender::end);
      clients.forEach(client -> await(client.close()));
    }
  }

  /** Members of group smtp with a rate of 200/s, which have begun to read many messages. */
  private List<Jar.Running> threeMembers(Trio trio) throws Exception {
    trio.node(1).createTopic("mails", 12);
    fill(trio, "mails", 20_000);
    List<Jar.Running> members = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      members.add(trio.consume(name, "mails", "smtp", "--group-rate", "200/s"));
    }
    awaitAll(members);
    return members;
  }

  /** Three members; one is killed in the middle and another joins. */
  @Tag("full")
  @Test
  void threeMembersStartWhatTheGroupRateSaysOver30Seconds() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      List<Jar.Running> members = threeMembers(trio);
      double perSecond =
          measured(
              members,
              () -> {
                members.get(0).kill();
                members.add(trio.consume("d", "mails", "smtp", "--group-rate", "200/s"));
              });
      System.out.println("members at 200/s through a kill and a join: " + perSecond);
      assertThat(perSecond).isBetween(200 * (1 - TOLERANCE), 200 * (1 + TOLERANCE));
    }
  }

  /** The node that gives out the time dies in the middle. */
  @Tag("full")
  @Test
  void theGroupRateHoldsThroughTheDeathOfTheCoordinator() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      List<Jar.Running> members = threeMembers(trio);
      Node coordinator = trio.dispatcher(trio.node(1));
      double perSecond = measured(members, coordinator::kill);
      System.out.println("members at 200/s through the death of the coordinator: " + perSecond);
      assertThat(perSecond).isBetween(200 * (1 - 2 * TOLERANCE), 200 * (1 + TOLERANCE));
    }
  }

  /** What the members of a group fetch. */
  @Tag("full")
  @Test
  void aGroupFetchesWhatItsQuotaSaysOver30Seconds() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      trio.node(1).createTopic("mails", 6);
      fill(trio, "mails", 60_000);
      quota(trio.node(1), "quota", "set", "group", "smtp", "--messages", "1000");
      List<Jar.Running> members = new ArrayList<>();
      List.of("a", "b", "c").forEach(name -> members.add(trio.consume(name, "mails", "smtp")));
      awaitAll(members);
      double perSecond = measured(members, () -> members.get(0).stop());
      System.out.println("members that fetch 1000/s through a stop: " + perSecond);
      assertThat(perSecond).isBetween(1_000 * (1 - TOLERANCE), 1_000 * (1 + TOLERANCE));
    }
  }

  /** Handlers publish to shards of all nodes, in requests that the quota does not carry. */
  @Tag("full")
  @Test
  void whatHandlersPublishPassesOnceThroughTheDeathOfTheCoordinator() throws Exception {
    int inputs = 60;
    int outputs = 40;
    try (Trio trio = new Trio(directory).start()) {
      trio.node(1).createTopic("in", 3);
      trio.node(1).createTopic("out", 3);
      quota(trio.node(1), "quota", "set", "topic", "out", "--messages", "150");
      trio.node(1).sendByKey("in", IntStream.range(0, inputs).mapToObj(i -> "m" + i).toList());
      EvenkeelClient client = connect(trio.cluster());
      ContextHandler handler =
          (delivery, context) -> {
            String input = delivery.message().payloadText();
            for (int i = 0; i < outputs; i++) {
              context.publish("out", input + i % 7, Buffer.buffer(input + "-" + i));
            }
            return Future.succeededFuture();
          };
      await(client.consumer(options("work", "in"), handler));
      List<String> got = new CopyOnWriteArrayList<>();
      await(
          client.consumer(
              options("check", "out"),
              delivery -> {
                got.add(delivery.message().payloadText());
                return Future.succeededFuture();
              }));
      Wait.until("some of it", () -> got.size() > inputs * outputs / 4);
      Node coordinator = trio.dispatcher(trio.node(1));
      coordinator.kill();
      Wait.until("all of it", 120, () -> new TreeSet<>(got).size() == inputs * outputs);
      long written = trio.others(coordinator).get(0).written("out");
      assertThat(written).as("each output is in the log once").isEqualTo((long) inputs * outputs);
      await(client.close());
    }
  }

  private static ConsumerOptions options(String group, String topic) {
    return new ConsumerOptions().setGroup(group).setMember(group).setTopics(List.of(topic));
  }

  private void fill(Trio trio, String topic, int messages) throws Exception {
    EvenkeelClient client = connect(trio.cluster());
    Producer producer =
        await(client.producer(new ProducerOptions().setTopic(topic).setBatchBytes(1 << 10)));
    List<Future<?>> sent = new ArrayList<>();
    times(messages, i -> sent.add(producer.send(message(i, 20))));
    await(Future.all(sent));
    await(client.close());
  }

  private static void awaitAll(List<Jar.Running> members) {
    Wait.until(
        "all members have begun", 90, () -> members.stream().allMatch(each -> lines(each) > 20));
  }

  private interface Change {
    void run() throws Exception;
  }

  /** Messages per second over 30 s, with a change in the middle. */
  private static double measured(List<Jar.Running> members, Change change) throws Exception {
    TimeUnit.SECONDS.sleep(2);
    long before = linesOf(members);
    long begun = System.nanoTime();
    TimeUnit.SECONDS.sleep(14);
    change.run();
    Thread.sleep((long) (1_000 * SECONDS - (System.nanoTime() - begun) / 1_000_000));
    return (linesOf(members) - before) / ((System.nanoTime() - begun) / 1e9);
  }

  private static long linesOf(List<Jar.Running> members) throws Exception {
    long sum = 0;
    for (Jar.Running each : members) {
      sum += Files.exists(each.out) ? lines(each) : 0;
    }
    return sum;
  }
}
