package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The dispatcher is killed between a drain and the release that it asked for. */
@Tag("full")
class DispatcherDiesIT {
  private static final int SHARDS = 4;
  private static final int LINES = 300;

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void theNextOneEndsTheHandOverAndEveryShardHasOneOwner() throws Exception {
    Path input = Lines.write(directory.resolve("input.log"), LINES, 40);
    Path hold = Files.createFile(directory.resolve("hold"));
    // As long as the file is there, and then for a moment: longer than the death of a node is
    // unknown.
    String onRelease = "while [ -e " + hold + " ]; do sleep 0.1; done; sleep 1; echo state";
    try (Trio trio = new Trio(directory).start()) {
      Node any = trio.node(1);
      any.createTopic("orders", SHARDS);
      Jar.Running one = trio.consume("one", "orders", "g", "--on-release", onRelease);
      new Members(any, "g").awaitCounts(Map.of("one", SHARDS));
      produce(trio, "first", input);
      any.awaitConsumed("g", LINES);
      Jar.Running two =
          trio.consume("two", "orders", "g", "--on-assign", "cat", "--on-release", "echo state");
      await("two shards are let go", () -> draining(any) == SHARDS / 2);

      Node dead = trio.dispatcher(any);
      dead.kill();
      Node left = trio.others(dead).get(0);
      produce(trio, "second", input);
      Files.delete(hold);
      Members members = new Members(left, "g");
      members.awaitCounts(Map.of("one", SHARDS / 2, "two", SHARDS / 2));
      left.awaitConsumed("g", 2 * LINES);
      assertThat(two.stop().status()).isZero();
      members.awaitCounts(Map.of("one", SHARDS));
      assertThat(one.stop().status()).isZero();

      List<JsonObject> taken =
          new JsonArray(left.get("/api/rebalances?group=g").body())
              .stream()
                  .map(JsonObject.class::cast)
                  .filter(move -> "two".equals(move.getString("to")))
                  .toList();
      assertThat(taken).hasSize(SHARDS / 2);
      assertThat(taken).allMatch(move -> "one".equals(move.getString("from")));
      assertThat(taken).noneMatch(move -> move.getBoolean("capped"));
      assertThat(taken.stream().map(move -> move.getInteger("shard"))).doesNotHaveDuplicates();
      // The state of the one reached the other.
      assertThat(two.out().lines().filter("state"::equals)).hasSize(SHARDS / 2);
      List<List<String>> outputs = new ArrayList<>();
      for (List<String> output : Lines.read(List.of(one.out, two.out))) {
        outputs.add(output.stream().filter(line -> line.startsWith("{")).toList());
      }
      DeliveryCheck check = new DeliveryCheck(outputs);
      assertThat(check.distinct()).isEqualTo(2 * LINES);
      assertThat(check.redelivered()).isZero();
    }
  }

  private static void produce(Trio trio, String name, Path input) throws Exception {
    Jar.Running producer = trio.produce(name, "orders", 1_000);
    try (var stdin = producer.process.getOutputStream()) {
      Files.copy(input, stdin);
    }
    assertThat(producer.await().status()).isZero();
  }

  private static long draining(Node node) {
    return node.shards("g").stream()
        .filter(shard -> "DRAINING".equals(shard.getString("state")))
        .count();
  }

  private static void await(String what, Callable<Boolean> condition) {
    Wait.until(what, 120, condition);
  }
}
