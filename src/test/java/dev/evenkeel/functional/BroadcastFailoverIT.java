package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mode broadcast with three nodes: messages come in all the time, the leader of a shard is killed,
 * and a member with it, and later the topic is made again with more shards under the members'
 * hands.
 */
@Tag("full")
class BroadcastFailoverIT {
  private static final int SHARDS = 3;
  private static final int MORE_SHARDS = 5;
  private static final int LATER_MESSAGES = 500;

  /** What is not stored yet at the most, and what may be handed out beyond it. */
  private static final long AGAIN_MAX = 1_000 + 32;

  @TempDir Path directory;

  private Jar.Running consume(Trio trio, String run, String member) {
    String offsets = offsets(member).toString();
    return trio.consumeInto(
        run, member, "news", "readers", "--mode", "broadcast", "--offsets", offsets);
  }

  private Path offsets(String member) {
    return directory.resolve("offsets-" + member);
  }

  @Test
  @Timeout(600)
  void everyMemberGetsEverythingInOrderWhoeverIsKilledAndWhateverIsMadeAgain() throws IOException {
    try (Trio trio = new Trio(directory).start()) {
      Node any = trio.node(1);
      any.createTopic("news", SHARDS);
      final Jar.Running steady = consume(trio, "steady", "steady");
      final Jar.Running killed = consume(trio, "killed", "killed");
      final Jar.Running producer = trio.produce("producer", "news", 500);
      long sent;
      Jar.Running again;
      Map<Integer, Long> stored;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 100)) {
        await("both have every shard", () -> shards(steady) == SHARDS && shards(killed) == SHARDS);
        await("some progress is on its disk", () -> sum(stored("killed")) >= 500);
        Node leader = trio.node(leader(any));
        leader.kill();
        killed.kill();
        stored = stored("killed");
        again = consume(trio, "again", "killed");
        awaitProgressEverywhere(List.of(steady, again));
        sent = feeder.finish();
      }
      producer.awaitAcked(sent);
      await("the steady one has all", () -> messages(steady).size() >= sent);
      await("the ends of the log are known", () -> sum(ends(trio)) == sent);
      Map<Integer, Long> ends = ends(trio);
      await("the one that was killed has all", () -> nextOffsets(messages(again)).equals(ends));

      assertWholeAndInOrder(messages(steady), Map.of(), sent);
      goesOnFromItsDisk(messages(killed), stored, messages(again), sent);
      theTopicIsMadeAgain(trio, List.of(steady, again));
    }
  }

  /**
   * Nothing is missing, the order is that of the log, and no more comes twice than was promised.
   */
  private static void goesOnFromItsDisk(
      List<JsonObject> before, Map<Integer, Long> stored, List<JsonObject> after, long sent) {
    Map<Integer, Long> handled = nextOffsets(before);
    assertInOrder(before, Map.of());
    assertInOrder(after, stored);
    for (int shard = 0; shard < SHARDS; shard++) {
      assertThat(handled.get(shard) - stored.getOrDefault(shard, 0L))
          .as("handled %s and stored %s", handled, stored)
          .isBetween(0L, AGAIN_MAX);
    }
    List<JsonObject> all = new ArrayList<>();
    for (JsonObject message : before) {
      if (message.getLong("offset") < stored.getOrDefault(message.getInteger("shard"), 0L)) {
        all.add(message);
      }
    }
    all.addAll(after);
    assertWhole(all, sent);
  }

  /** Members that run find the new topic by themselves, from its beginning, and tell it. */
  private void theTopicIsMadeAgain(Trio trio, List<Jar.Running> members) {
    var node = trio.nodes.stream().filter(each -> each.process().process.isAlive()).toList().get(0);
    List<Integer> before = members.stream().map(member -> messages(member).size()).toList();
    node.admin("topic", "delete", "news");
    node.createTopic("news", MORE_SHARDS);
    Path later = Lines.write(directory.resolve("later.log"), LATER_MESSAGES, 100);
    Jar.Result produced = trio.produceFile("later", "news", later).await();
    assertThat(produced.status()).as(produced.err()).isZero();
    for (int i = 0; i < members.size(); i++) {
      Jar.Running member = members.get(i);
      int first = before.get(i);
      await("all of the new topic", () -> messages(member).size() >= first + LATER_MESSAGES);
      Jar.Result ended = member.stop();
      assertThat(ended.status()).as(ended.err()).isZero();
      assertThat(ended.err()).contains("news was deleted and made again");
      List<JsonObject> all = messages(member);
      List<JsonObject> ofNew = all.subList(first, all.size());
      assertWholeAndInOrder(ofNew, Map.of(), LATER_MESSAGES);
      assertThat(nextOffsets(ofNew)).hasSize(MORE_SHARDS);
    }
  }

  private static void assertWholeAndInOrder(
      List<JsonObject> messages, Map<Integer, Long> from, long count) {
    assertInOrder(messages, from);
    assertWhole(messages, count);
  }

  private static void assertWhole(List<JsonObject> messages, long count) {
    List<String> lines = messages.stream().map(JsonObject::encode).toList();
    DeliveryCheck check = new DeliveryCheck(List.of(lines));
    check.assertEachKeyCompleteAndInOrder(count);
    assertThat(check.redelivered()).isZero();
  }

  /** One after another in each shard, without a gap or a repeat. */
  private static void assertInOrder(List<JsonObject> messages, Map<Integer, Long> from) {
    Map<Integer, Long> next = new HashMap<>(from);
    for (JsonObject message : messages) {
      long expected = next.merge(message.getInteger("shard"), 1L, Long::sum) - 1;
      assertThat(message.getLong("offset")).as(message.encode()).isEqualTo(expected);
    }
  }

  // What is known

  /** Whole lines only: the last one of a killed consumer may be cut. */
  private static List<JsonObject> messages(Jar.Running consumer) {
    String out = consumer.out();
    return out.substring(0, out.lastIndexOf('\n') + 1).lines().map(JsonObject::new).toList();
  }

  private static Map<Integer, Long> nextOffsets(List<JsonObject> messages) {
    Map<Integer, Long> next = new TreeMap<>();
    for (JsonObject message : messages) {
      next.merge(message.getInteger("shard"), message.getLong("offset") + 1, Math::max);
    }
    return next;
  }

  private static int shards(Jar.Running consumer) {
    return nextOffsets(messages(consumer)).size();
  }

  /** By shard: the next offset in a member's file. */
  private Map<Integer, Long> stored(String member) throws IOException {
    Path file = offsets(member).resolve("readers.offsets");
    return Files.exists(file)
        ? Files.readAllLines(file).stream()
            .filter(line -> line.matches("\\d+ \\d+"))
            .map(line -> line.split(" "))
            .collect(
                Collectors.toMap(
                    words -> Integer.parseInt(words[0]), words -> Long.parseLong(words[1])))
        : Map.of();
  }

  private static long sum(Map<Integer, Long> offsets) {
    return offsets.values().stream().mapToLong(Long::longValue).sum();
  }

  private static List<JsonObject> shardList(Node node) {
    return new JsonObject(node.get("/api/topics/news").body())
        .getJsonArray("shardList").stream().map(JsonObject.class::cast).toList();
  }

  /** The node that leads the first shard. */
  private static String leader(Node node) {
    return shardList(node).get(0).getString("leader");
  }

  /** By shard: the next offset of the log, as a node that lives knows it; 0 if it does not. */
  private static Map<Integer, Long> ends(Trio trio) {
    var node = trio.nodes.stream().filter(each -> each.process().process.isAlive()).toList().get(0);
    Map<Integer, Long> ends = new TreeMap<>();
    for (JsonObject shard : shardList(node)) {
      Long end = shard.getLong("end");
      ends.put(shard.getInteger("shard"), end == null ? 0 : end);
    }
    return ends;
  }

  /** Every one has printed a message of every shard that was sent after now. */
  private static void awaitProgressEverywhere(List<Jar.Running> members) {
    Map<Integer, Long> before = nextOffsets(messages(members.get(0)));
    Set<Integer> shards = before.keySet();
    for (Jar.Running member : members) {
      await(
          "every shard goes on",
          () -> {
            Map<Integer, Long> now = nextOffsets(messages(member));
            return shards.stream()
                .allMatch(shard -> now.getOrDefault(shard, 0L) > before.get(shard) + 100);
          });
    }
  }

  private static void await(String what, Callable<Boolean> condition) {
    Awaitility.await(what)
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(300))
        .until(condition);
  }
}
