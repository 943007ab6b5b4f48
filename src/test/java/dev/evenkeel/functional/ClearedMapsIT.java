package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.LiteMember;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The shared maps are hints: somebody clears them all the time, and nothing comes of it. */
@Tag("full")
class ClearedMapsIT {
  private static final int LINES = 60_000;

  @TempDir Path directory;

  @Test
  void clearingTheMapsMovesNoShardAndLosesAndDoublesNothing() throws Exception {
    Path input = Lines.write(directory.resolve("input.log"), LINES, 100);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 6);
      List<Jar.Running> consumers = new ArrayList<>();
      List.of("a", "b").forEach(name -> consumers.add(node.consume(name, "t", "g")));
      awaitOwners(node, 3, 3);
      List<Long> epochs = epochs(node);
      ClusterMember other = await(LiteMember.join(node.port));
      Jar.Running producer =
          node.produce("p", input, "t", "--key-regex", Lines.KEY_REGEX, "--rate", "10000");
      try {
        while (producer.process.isAlive()) {
          await(other.registry().clear());
          await(other.ownership().clear());
          assertThat(producer.process.waitFor(200, TimeUnit.MILLISECONDS)).isIn(true, false);
        }
        assertThat(producer.await().status()).isZero();
        // The dispatcher writes the hints anew.
        Wait.until(30, () -> await(other.registry().all()).size() == 2);
        assertThat(epochs(node)).isEqualTo(epochs);
      } finally {
        await(other.close());
      }
      node.awaitConsumed("g", LINES);
      consumers.forEach(consumer -> assertThat(consumer.stop().status()).isZero());
      Lines.assertExactlyOnceInOrder(
          input, Lines.read(consumers.stream().map(consumer -> consumer.out).toList()));
    }
  }

  private static List<Long> epochs(Node node) {
    return node.shards("g").stream().map(shard -> shard.getLong("epoch")).toList();
  }

  private static void awaitOwners(Node node, int a, int b) {
    Wait.until(
        () -> {
          List<String> owners =
              node.shards("g").stream()
                  .filter(shard -> "OWNED".equals(shard.getString("state")))
                  .map(shard -> shard.getString("owner"))
                  .toList();
          return owners.stream().filter("a"::equals).count() == a
              && owners.stream().filter("b"::equals).count() == b;
        });
  }
}
