package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hand-over waits neither for messages that pile up, nor for ever for an owner that hangs. */
@Tag("full")
class ControlAndDataIT extends OneNode {
  private static final int SHARDS = 4;

  @Test
  void anOwnerThatHangsInItsReleaseLosesTheShardAtTheCap() {
    node.createTopic("held", 2);
    Members members = new Members(node, "hg");
    Path input = Lines.write(directory.resolve("held.log"), 200, 20);
    Path ended = directory.resolve("ended");
    // Until its consumer ends it, because the shard is lost, or is no more.
    String hanging =
        "trap 'echo $EVENKEEL_SHARD >> "
            + ended
            + "; exit 1' TERM; while kill -0 $PPID 2>/dev/null; do sleep 0.2; done";
    try (Jar.Running hung =
        node.consume(
            "hung", "held", "hg", words("--format json --lock-time 2s --on-release %s", hanging))) {
      members.awaitCounts(Map.of("hung", 2));
      produce("held-1", input, "held");
      node.awaitConsumed("hg", 200);
      try (Jar.Running next = node.consume("next", "held", "hg", "--format", "json")) {
        int shard = lost(members.awaitCounts(Map.of("hung", 1, "next", 1)));
        JsonObject move = moves("hg").get(0);
        assertThat(move.getInteger("shard")).isEqualTo(shard);
        assertThat(move.getString("from")).isEqualTo("hung");
        assertThat(move.getString("to")).isEqualTo("next");
        assertThat(move.getBoolean("capped")).isTrue();
        assertThat(node.admin("group", "rebalances", "hg").out()).contains("CAP HIT");
        await("it knows that it has lost it", () -> Files.exists(ended));
        await("which", () -> Files.readString(ended).equals(shard + "\n"));
        produce("held-2", input, "held");
        node.awaitConsumed("hg", 400);
        hung.kill();
        members.awaitCounts(Map.of("next", 2));
        assertThat(next.stop().status()).isZero();
        assertThat(payloads(hung, next)).hasSize(200);
        assertThat(new DeliveryCheck(Lines.read(List.of(hung.out, next.out))).distinct())
            .isEqualTo(400);
      }
    }
  }

  private static int lost(Map<Integer, String> owners) {
    return owners.entrySet().stream()
        .filter(entry -> entry.getValue().equals("next"))
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  private static Set<String> payloads(Jar.Running... consumers) {
    Set<String> payloads = new TreeSet<>();
    for (Jar.Running consumer : consumers) {
      consumer
          .out()
          .lines()
          .forEach(line -> payloads.add(new JsonObject(line).getString("payload")));
    }
    return payloads;
  }

  @Test
  void aDrainIsKnownWhileHandlersRunAndTheOtherShardsGoOn() throws IOException {
    node.createTopic("slow", SHARDS);
    Members members = new Members(node, "sg");
    Path began = directory.resolve("began");
    Files.createFile(began);
    times(SHARDS, shard -> Files.createFile(hold(shard)));
    String exec =
        "echo $EVENKEEL_MEMBER $EVENKEEL_SHARD $EVENKEEL_OFFSET >> "
            + began
            + "; while [ -e "
            + directory.resolve("hold-")
            + "$EVENKEEL_SHARD ]; do sleep 0.1; done";
    Path input = Lines.write(directory.resolve("slow.log"), 60, 40);
    produce("slow-1", input, "slow");
    try (Jar.Running slow = node.consume("slow", "slow", "sg", "--exec", exec)) {
      await("a handler runs on each shard", () -> begun(began, "slow").size() == SHARDS);
      try (Jar.Running quick = node.consume("quick", "slow", "sg", "--exec", exec)) {
        await("half of them are let go", () -> draining().size() == SHARDS / 2);
        Set<Integer> going = draining();
        for (int shard = 0; shard < SHARDS; shard++) {
          if (!going.contains(shard)) {
            Files.delete(hold(shard));
          }
        }
        await(
            "the others go on to their ends",
            () -> begun(began, "slow", going).equals(ends(going)));
        assertThat(draining()).isEqualTo(going);
        each(going, shard -> Files.delete(hold(shard)));
        Map<Integer, String> owners = members.awaitCounts(Map.of("slow", 2, "quick", 2));
        node.awaitConsumed("sg", 60);
        for (int shard : going) {
          assertThat(owners.get(shard)).isEqualTo("quick");
          // Of the many messages that it had in hand it began none after it was told.
          assertThat(begun(began, "slow"))
              .filteredOn(line -> line.startsWith(shard + " "))
              .hasSize(1);
        }
        assertThat(Files.readAllLines(began)).hasSize(60);
        assertThat(quick.stop().status()).isZero();
        assertThat(slow.stop().status()).isZero();
      }
    }
  }

  /** Each as {@code SHARD OFFSET}. */
  private static List<String> begun(Path file, String member) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith(member + " "))
        .map(line -> line.substring(member.length() + 1))
        .toList();
  }

  /** How many messages of each other shard a member has begun. */
  private static Map<Integer, Long> begun(Path file, String member, Set<Integer> without)
      throws IOException {
    return begun(file, member).stream()
        .map(line -> Integer.parseInt(line.split(" ")[0]))
        .filter(shard -> !without.contains(shard))
        .collect(Collectors.groupingBy(shard -> shard, Collectors.counting()));
  }

  private static Map<Integer, Long> ends(Set<Integer> without) {
    return node.shards("sg").stream()
        .filter(shard -> !without.contains(shard.getInteger("shard")))
        .collect(
            Collectors.toMap(shard -> shard.getInteger("shard"), shard -> shard.getLong("end")));
  }

  private static Path hold(int shard) {
    return directory.resolve("hold-" + shard);
  }

  private static Set<Integer> draining() {
    return node.shards("sg").stream()
        .filter(shard -> "DRAINING".equals(shard.getString("state")))
        .map(shard -> shard.getInteger("shard"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void aFloodOfMessagesHoldsUpNoHeartbeat() {
    node.createTopic("flood", SHARDS);
    Members members = new Members(node, "fg");
    try (Jar.Running one = node.consume("one", "flood", "fg");
        Jar.Running two = node.consume("two", "flood", "fg")) {
      Map<Integer, String> owners = members.awaitCounts(Map.of("one", 2, "two", 2));
      Set<String> before = places("fg");
      long sent;
      try (Jar.Running producer =
              Jar.startFed(
                  directory,
                  "flooding",
                  words(
                      "produce flood --key-regex %s --cluster %s -",
                      Lines.KEY_REGEX, node.cluster()));
          Feeder feeder = new Feeder(producer.process.getOutputStream(), 50)) {
        await("many are there", () -> end("flood") >= 200_000);
        sent = feeder.finish();
        assertThat(producer.await().status()).isZero();
      }
      node.awaitConsumed("fg", sent);
      assertThat(places("fg")).as("nothing moved meanwhile").isEqualTo(before);
      assertThat(members.owners()).isEqualTo(owners);
      assertThat(one.stop().status()).isZero();
      assertThat(two.stop().status()).isZero();
    }
  }

  private static long end(String topic) {
    return new JsonObject(node.get("/api/topics/" + topic).body()).getLong("messages");
  }

  private static void produce(String name, Path input, String topic) {
    assertThat(node.produce(name, input, topic, "--key-regex", Lines.KEY_REGEX).await().status())
        .isZero();
  }

  /** Shard and epoch of each move: its other figures become known later. */
  private static Set<String> places(String group) {
    return moves(group).stream()
        .map(move -> move.getInteger("shard") + "@" + move.getLong("epoch"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Newest first. */
  private static List<JsonObject> moves(String group) {
    return new JsonArray(node.get("/api/rebalances?group=" + group).body())
        .stream().map(JsonObject.class::cast).toList();
  }

  private static void await(String what, Callable<Boolean> condition) {
    Wait.until(what, 90, condition);
  }
}
