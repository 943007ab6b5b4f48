package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.cli.OddCertificates;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clusters that grow with certificates, and what becomes of old shards in large ones. */
@Tag("full")
class GrowthFormsIT {
  @TempDir Path directory;

  @Test
  @Timeout(900)
  void withCertificatesNodesAreLetIn() throws IOException {
    Path certificates = directory.resolve("certificates");
    OddCertificates.write(certificates);
    try (Growing cluster = new Growing(directory, tls(certificates, "n1"))) {
      cluster.node("n1").createTopic("events", 3);
      cluster.node("n1").send("events", List.of("1", "2", "3"));
      for (String id : List.of("n2", "n3", "n4")) {
        assertThat(cluster.node("n1").admin("cluster", "admit", id).out())
            .contains("node " + id + " may join now");
        cluster.join(id, tls(certificates, id));
      }
      cluster.remove("n1");
      cluster.node("n3").send("events", List.of("4", "5", "6"));
      assertThat(cluster.node("n2").written("events")).isEqualTo(6);
    }
  }

  @Test
  @Timeout(600)
  void whoIsNotLetInIsToldHow() throws IOException {
    Path certificates = directory.resolve("certificates");
    OddCertificates.write(certificates);
    try (Growing cluster = new Growing(directory, tls(certificates, "n1"))) {
      Node early = cluster.begin("n2", tls(certificates, "n2"));
      Wait.until(
          "it says what to do", 120, () -> early.process().err().contains("cluster admit n2"));
      assertThat(cluster.node("n1").admin("cluster", "admit", "n2").status()).isZero();
      early.awaitReady();
      cluster.awaitSettled();
      Jar.Result odd = cluster.begin("n3", tls(certificates, "stranger")).process().await();
      assertThat(odd.status()).isEqualTo(1);
      assertThat(odd.err()).contains("is for CN=stranger, not for node n3");
    }
  }

  private static String[] tls(Path certificates, String id) {
    return new String[] {"--peer-tls", certificates.resolve(id).toString()};
  }

  @Test
  @Timeout(900)
  void sealedShardsGoOnceNobodyNeedsThem() {
    try (Growing cluster = new Growing(directory)) {
      List.of("n2", "n3", "n4", "n5").forEach(id -> cluster.join(id));
      Node node = cluster.node("n1");
      node.admin("topic", "create", "short", "--shards", "5", "--retention", "5s");
      node.sendByKey("short", IntStream.range(0, 100).mapToObj(String::valueOf).toList());
      Jar.Running consumer = cluster.consume("a", "short", "g");
      node.awaitConsumed("g", 100);
      for (int shards : List.of(10, 2)) {
        node.admin("topic", "reshard", "short", "--shards", String.valueOf(shards));
        node.sendByKey("short", IntStream.range(0, 100).mapToObj(String::valueOf).toList());
      }
      Wait.untilAsserted(
          "only the last layout is left",
          180,
          () -> assertThat(numbers(node)).containsExactly(15, 16));
      // The owner goes on with them.
      node.sendByKey("short", IntStream.range(0, 100).mapToObj(String::valueOf).toList());
      Wait.until("all is consumed", 120, () -> consumer.out().lines().count() == 400);
      assertThat(consumer.stop().status()).isZero();
    }
  }

  private static List<Integer> numbers(Node node) {
    return Growing.objects(new JsonObject(node.read("/api/topics/short")), "shardList").stream()
        .map(shard -> shard.getInteger("shard"))
        .toList();
  }
}
