package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes come and go under load: nothing is lost or doubled, the order stays, and whoever is killed
 * on the way changes nothing of that.
 */
class GrowthIT {
  private static final int BULK_BYTES = 8_192;

  @TempDir Path directory;

  /** A producer, three consumers, and the judgement of what they did. */
  private static final class Load implements AutoCloseable {
    private final Growing cluster;
    private final List<Jar.Running> consumers = new ArrayList<>();
    private final Jar.Running producer;
    private final Feeder feeder;

    Load(Growing cluster) {
      this.cluster = cluster;
      cluster.node("n1").createTopic("events", 6);
      List.of("a", "b", "c").forEach(name -> consumers.add(cluster.consume(name, "events", "g")));
      producer = cluster.produce("producer", "events", 1_000);
      feeder = new Feeder(producer.process.getOutputStream(), 200);
    }

    /** Every consumer has printed more than now. */
    void awaitProgress() {
      DeliveryCheck.awaitProgress(consumers);
    }

    void judge() {
      long lines = feeder.finish();
      producer.awaitAcked(lines);
      cluster.nodes.values().iterator().next().awaitConsumed("g", lines);
      consumers.forEach(Jar.Running::stopWell);
      DeliveryCheck check = DeliveryCheck.of(consumers);
      check.assertEachKeyCompleteAndInOrder(lines);
      System.err.println(
          "GrowthIT: " + lines + " messages, " + check.redelivered() + " delivered again");
    }

    /** Between the times at which two messages in turn were sent, in milliseconds. */
    long longestGap() {
      long[] times =
          Lines.read(consumers.stream().map(consumer -> consumer.out).toList()).stream()
              .flatMap(List::stream)
              .mapToLong(line -> new JsonObject(line).getLong("timestamp"))
              .sorted()
              .toArray();
      long longest = 0;
      for (int i = 1; i < times.length; i++) {
        longest = Math.max(longest, times[i] - times[i - 1]);
      }
      return longest;
    }

    @Override
    public void close() {
      feeder.close();
    }
  }

  @Test
  @Timeout(900)
  void aLoneNodeGrowsToThreeAndTheFirstOneLeaves() {
    try (Growing cluster = new Growing(directory);
        Load load = new Load(cluster)) {
      load.awaitProgress();
      cluster.join("n2");
      assertThat(cluster.node("n1").admin("cluster", "status").out())
          .contains("Two nodes keep the data: one failure still stops the cluster");
      cluster.join("n3");
      load.awaitProgress();
      cluster.remove("n1");
      load.awaitProgress();
      load.judge();
    }
  }

  @Test
  @Tag("full")
  @Timeout(900)
  void aLoneNodeGrowsToFourAndTheFirstOneLeaves() {
    try (Growing cluster = new Growing(directory);
        Load load = new Load(cluster)) {
      load.awaitProgress();
      cluster.join("n2");
      cluster.join("n3");
      cluster.join("n4");
      load.awaitProgress();
      cluster.awaitLogGroup("d3");
      Later later = new Later(cluster);
      cluster.remove("n1");
      load.awaitProgress();
      later.judge();
      load.judge();
    }
  }

  /** A topic that is created when a log group was added: some of its shards are there. */
  private static final class Later {
    private final Growing cluster;
    private final Jar.Running consumer;
    private final Jar.Running producer;
    private final Feeder feeder;

    Later(Growing cluster) {
      this.cluster = cluster;
      cluster.node("n2").createTopic("later", 4);
      JsonObject topic = new JsonObject(cluster.node("n2").read("/api/topics/later"));
      assertThat(Growing.objects(topic, "logGroups"))
          .anyMatch(group -> group.getString("group").equals("d3"));
      consumer = cluster.consume("l", "later", "h");
      producer = cluster.produce("later", "later", 200);
      feeder = new Feeder(producer.process.getOutputStream(), 20);
    }

    void judge() {
      long lines = feeder.finish();
      assertThat(producer.await().err()).contains("acked " + lines + " of " + lines);
      cluster.nodes.values().iterator().next().awaitConsumed("h", lines);
      assertThat(consumer.stop().status()).isZero();
      new DeliveryCheck(Lines.read(List.of(consumer.out))).assertEachKeyCompleteAndInOrder(lines);
    }
  }

  @Test
  @Tag("full")
  @Timeout(1800)
  void whoIsKilledInAnyPhaseChangesNothing() {
    try (Growing cluster = new Growing(directory);
        Load load = new Load(cluster)) {
      cluster.join("n2");
      cluster.join("n3");
      load.awaitProgress();

      // A joining node, before it was taken in, and while it gets its copies.
      cluster.begin("n4").kill();
      cluster.node("n4").begin();
      Wait.until(
          "n4 gets copies",
          120,
          () -> cluster.node("n4").process().err().contains("is taking this node in"));
      cluster.node("n4").kill();
      cluster.node("n4").start();
      cluster.awaitSettled();
      load.awaitProgress();

      // The driving node, while a node joins.
      cluster.begin("n5");
      Wait.until(
          "n5 is about to get copies",
          120,
          () -> cluster.node("n5").process().err().contains("take this node in"));
      killAndStart(cluster, cluster.driver());
      cluster.node("n5").awaitReady();
      cluster.awaitSettled();
      load.awaitProgress();

      // A node that is being drained, then the one that drives that.
      begin(cluster, "n2", "drain");
      killAndStart(cluster, "n2");
      begin(cluster, "n2", "drain");
      killAndStart(cluster, cluster.driver());
      cluster.other("n2").admin("cluster", "drain", "n2");
      load.awaitProgress();
      cluster.other("n2").admin("cluster", "undrain", "n2");
      cluster.awaitSettled();

      // One that is down leaves, too.
      cluster.node("n3").kill();
      cluster.remove("n3");
      load.awaitProgress();
      load.judge();
    }
  }

  /** With {@code -Devenkeel.growthMiB=5120}, five GiB are there before the first node comes. */
  @Test
  @Tag("full")
  @Timeout(3600)
  void manyBytesMoveWhileTheClusterGrowsAndShrinks() throws IOException {
    long mib = Long.getLong("evenkeel.growthMiB", 256);
    try (Growing cluster = new Growing(directory, "--data-groups", "6")) {
      cluster.node("n1").createTopic("bulk", 12);
      long bulk = fill(cluster, mib << 20);
      try (Load load = new Load(cluster)) {
        load.awaitProgress();
        for (String id : List.of("n2", "n3", "n4", "n5")) {
          cluster.join(id);
          load.awaitProgress();
          System.err.println("GrowthIT: with " + id + " " + cluster.bytes());
        }
        cluster.remove("n1");
        load.awaitProgress();
        cluster.remove("n4");
        load.awaitProgress();
        System.err.println("GrowthIT: without n1 and n4 " + cluster.bytes());
        load.judge();
        System.err.println("GrowthIT: longest time without a new message: " + load.longestGap());
      }
      assertThat(cluster.node("n2").written("bulk")).isEqualTo(bulk);
      assertReadable(cluster.node("n2"), "bulk");
    }
  }

  /** Prints how fast a producer is with three nodes and with six. */
  @Test
  @Tag("full")
  @Timeout(3600)
  void sixNodesHoldAboutHalfOfWhatThreeDid() throws IOException {
    long bytes = Long.getLong("evenkeel.growthMiB", 256) << 20;
    try (Growing cluster = new Growing(directory, "--data-groups", "6")) {
      cluster.join("n2");
      cluster.join("n3");
      cluster.node("n1").createTopic("bulk", 12);
      double three = megabytesPerSecond(cluster, bytes);
      List.of("n4", "n5", "n6").forEach(id -> cluster.join(id));
      double six = megabytesPerSecond(cluster, bytes);
      System.err.printf("GrowthIT: %.1f MB/s with three nodes, %.1f with six%n", three, six);
      // Each message is on three of six nodes, and two fills are there.
      Awaitility.await("all nodes have about the same")
          .atMost(Duration.ofMinutes(5))
          .conditionEvaluationListener(any -> {})
          .untilAsserted(
              () ->
                  assertThat(cluster.bytes().values())
                      .hasSize(6)
                      .allMatch(held -> Math.abs(held - (double) bytes) < 0.15 * bytes));
      System.err.println("GrowthIT: six nodes have " + cluster.bytes());
    }
  }

  private static double megabytesPerSecond(Growing cluster, long bytes) throws IOException {
    long begun = System.nanoTime();
    fill(cluster, bytes);
    return bytes / 1e6 / ((System.nanoTime() - begun) / 1e9);
  }

  /** In each shard, the first message, one in the middle, and the last. */
  private static void assertReadable(Node node, String topic) {
    for (JsonObject shard :
        Growing.objects(new JsonObject(node.read("/api/topics/" + topic)), "shardList")) {
      long end = shard.getLong("end");
      for (long offset : new long[] {0, end / 2, end - 1}) {
        String path =
            "/api/topics/%s/messages?shard=%s&offset=%s&limit=1"
                .formatted(topic, shard.getInteger("shard"), offset);
        JsonArray found = new JsonArray(node.read(path));
        assertThat(found).as(path).hasSize(1);
        assertThat(found.getJsonObject(0).getString("payload")).hasSize(BULK_BYTES - 1);
      }
    }
  }

  /** Sends messages of 8 KiB until there are so many bytes; gives their number. */
  private static long fill(Growing cluster, long bytes) throws IOException {
    long lines = bytes / BULK_BYTES;
    Random random = new Random(1);
    byte[] payload = new byte[BULK_BYTES - 1];
    Jar.Running producer = cluster.fill("filler" + System.nanoTime(), "bulk");
    try (OutputStream out = new BufferedOutputStream(producer.process.getOutputStream(), 1 << 20)) {
      for (long line = 0; line < lines; line++) {
        times(64, i -> payload[random.nextInt(payload.length)] = (byte) ('a' + random.nextInt(26)));
        for (int i = 0; line == 0 && i < payload.length; i++) {
          payload[i] = (byte) ('a' + random.nextInt(26));
        }
        out.write(payload);
        out.write('\n');
      }
    }
    producer.awaitAcked(lines);
    return lines;
  }

  private static void begin(Growing cluster, String id, String action) {
    assertThat(cluster.other(id).post("/api/cluster/nodes/" + id + "/" + action, "").statusCode())
        .isEqualTo(200);
  }

  private static void killAndStart(Growing cluster, String id) {
    cluster.node(id).kill();
    cluster.node(id).start();
  }

  @Test
  void aNodeThatCannotJoinSaysWhy() {
    try (Growing cluster = new Growing(directory)) {
      cluster.join("n2");
      Node twin = new Node(directory.resolve("twin"));
      twin.with("--node", "n2", "--join", cluster.seeds());
      try (twin) {
        Jar.Result refused = twin.begin().await();
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err())
            .contains("the cluster has a node 'n2' with data", "give the new node another id");
      }
      Jar.Result last = cluster.node("n1").tryAdmin("cluster", "remove", "n7");
      assertThat(last.out()).contains("node n7 is not in the cluster");
    }
  }
}
