package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file goes in by one process and comes out, every line once, by a group of others. */
@Tag("full")
class FirstLightIT {
  private static final int LINES = Integer.getInteger("evenkeel.lines", 200_000);

  @TempDir Path directory;

  @Test
  void everyLineExactlyOnceInOrderPerKeyByThreeConsumers() {
    Path input = Lines.write(directory.resolve("input.log"), LINES, 1000);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("access", 12);

      List<Jar.Running> consumers = new ArrayList<>();
      for (String name : List.of("a", "b", "c")) {
        consumers.add(node.consume(name, "access", "readers", "--format", "text"));
      }
      Jar.Result produced =
          node.produce("producer", input, "access", "--key-regex", Lines.KEY_REGEX).await();
      assertThat(produced.err().strip()).endsWith("acked " + LINES + " of " + LINES);
      assertThat(produced.status()).isZero();
      node.awaitConsumed("readers", LINES);
      consumers.forEach(consumer -> assertThat(consumer.stop().status()).isZero());
      var outputs = Lines.read(consumers.stream().map(consumer -> consumer.out).toList());
      if (inGoodOrder(node)) {
        Lines.assertExactlyOnceInOrder(input, outputs);
      } else {
        Lines.assertComplete(input, outputs);
      }

      Jar.Result described =
          Jar.run(directory, words("group describe readers --format json --http %s", node.url()));
      assertThat(described.status()).as(described.toString()).isZero();
      JsonObject group = new JsonObject(described.out());
      assertThat(group.getJsonArray("shards")).hasSize(12);
      for (int i = 0; i < 12; i++) {
        assertThat(group.getJsonArray("shards").getJsonObject(i).getLong("lag")).isZero();
      }

      Jar.Result again = node.consume("a", "access", "readers", "--idle-exit", "2s").await();
      assertThat(again.status()).isZero();
      assertThat(again.out()).isEmpty();
      assertThat(node.stop().status()).isZero();
    }
  }

  /**
   * Whether none was held up for so long that it was taken for dead: who takes its place gets some
   * of it again. Nothing else may let a message come twice.
   */
  private static boolean inGoodOrder(Node node) {
    JsonArray moves = new JsonArray(node.read("/api/rebalances?group=readers&limit=1000"));
    return moves.stream()
        .map(move -> ((JsonObject) move).getString("reason"))
        .noneMatch("member timed out"::equals);
  }
}
