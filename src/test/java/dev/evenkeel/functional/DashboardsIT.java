package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Dashboards;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Rate;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes with groups of all modes serve every figure, with every label, of the dashboards. */
@Tag("full")
class DashboardsIT {
  @TempDir Path directory;

  @Test
  void nodesServeWhatTheDashboardsAsk() throws Exception {
    List<Dashboards.Query> queries = Dashboards.queries();
    try (Trio trio = new Trio(directory).start()) {
      Node node = trio.nodes.get(0);
      node.createTopic("t", 3);
      node.send("t", List.of("a", "b", "a", "c"));
      var client = await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(node.cluster()))));
      try {
        consume(client, group("paced").setKeyRate(Rate.parse("100/s")));
        consume(
            client,
            group("once")
                .setDedup(ConsumerOptions.Dedup.PAYLOAD)
                .setOrder(ConsumerOptions.Order.NONE));
        consume(client, group("level").setMode(ConsumerOptions.Mode.LEVEL));
        consume(
            client,
            group("all")
                .setMode(ConsumerOptions.Mode.BROADCAST)
                .setOffsetsDirectory(directory.resolve("offsets").toString()));
        Wait.untilAsserted(() -> assertThat(missing(queries, served(trio))).isEmpty());
      } finally {
        await(client.close());
      }
    }
  }

  private static ConsumerOptions group(String name) {
    return new ConsumerOptions().setGroup(name).setTopics(List.of("t"));
  }

  private static void consume(EvenkeelClient client, ConsumerOptions options) {
    await(client.consumer(options, delivery -> Future.succeededFuture()));
  }

  /** Name of a sample → its labels, on whichever node. */
  private static Map<String, Set<String>> served(Trio trio) {
    Map<String, Set<String>> all = new HashMap<>();
    for (Node node : trio.nodes) {
      PrometheusText.parse(node.read("/metrics"))
          .labelNames
          .forEach(
              (name, labels) -> all.computeIfAbsent(name, none -> new HashSet<>()).addAll(labels));
    }
    return all;
  }

  private static Set<String> missing(
      List<Dashboards.Query> queries, Map<String, Set<String>> served) {
    Set<String> missing = new TreeSet<>();
    for (Dashboards.Query query : queries) {
      for (String name : query.metrics()) {
        Set<String> labels = served.get(name);
        // Nodes without TLS have no certificates.
        if (labels == null && !name.startsWith("evenkeel_tls_")) {
          missing.add(query.where() + ": " + name);
        } else if (labels != null && !labels.containsAll(query.labels())) {
          missing.add(query.where() + ": " + name + " with " + query.labels());
        }
      }
    }
    return missing;
  }
}
