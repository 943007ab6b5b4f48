package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members with {@code --stable} are stopped, killed and started again; no other shard moves. */
class StableMemberIT {
  @TempDir Path directory;

  private final List<Jar.Running> started = new ArrayList<>();
  private int runs;

  private Jar.Running consume(Node node, String member) {
    Jar.Running running =
        Jar.startInCrowd(
            directory,
            member + "-" + ++runs,
            words(
                "consume orders --group g --member %s --stable 2m --format json --cluster %s",
                member, node.cluster()));
    started.add(running);
    return running;
  }

  @Test
  @Timeout(180)
  void whoComesBackInTimeGetsItsShards() {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("orders", 6);
      consume(node, "a");
      Jar.Running b = consume(node, "b");
      Jar.Running c = consume(node, "c");
      new Members(node, "g").awaitCounts(Map.of("a", 2, "b", 2, "c", 2));
      Map<Integer, String> owners = owners(node);
      Map<Integer, Long> epochs = epochs(node, owners, "a");

      assertThat(b.stop().status()).isZero();
      c.kill();
      node.send("orders", List.of("1", "2", "3", "4", "5", "6", "7", "8"));
      Wait.until("both are missed", 30, () -> members(node) == 1);
      assertThat(owners(node).values()).containsOnly("a");
      b = consume(node, "b");
      c = consume(node, "c");
      Wait.until("each has its shards again", 30, () -> owners(node).equals(owners));
      node.awaitConsumed("g", 8);
      assertThat(epochs(node, owners, "a")).isEqualTo(epochs);
      b.stop();
      c.stop();
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private static int members(Node node) {
    return new JsonObject(node.read("/api/groups/g")).getJsonArray("members").size();
  }

  /** Those that live, by shard. */
  private static Map<Integer, String> owners(Node node) {
    Map<Integer, String> owners = new TreeMap<>();
    JsonObject group = new JsonObject(node.read("/api/groups/g"));
    group
        .getJsonArray("members")
        .forEach(
            each -> {
              JsonObject member = (JsonObject) each;
              member
                  .getJsonArray("shards")
                  .forEach(
                      shard ->
                          owners.put(
                              Integer.parseInt(shard.toString().split("/")[1]),
                              member.getString("member")));
            });
    return owners;
  }

  private static Map<Integer, Long> epochs(Node node, Map<Integer, String> owners, String owner) {
    Map<Integer, Long> epochs = new TreeMap<>();
    for (JsonObject shard : node.shards("g")) {
      if (owner.equals(owners.get(shard.getInteger("shard")))) {
        epochs.put(shard.getInteger("shard"), shard.getLong("epoch"));
      }
    }
    return epochs;
  }
}
