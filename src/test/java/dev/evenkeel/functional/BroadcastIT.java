package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mode broadcast by the commands that people use: every member gets every message, one that is
 * killed goes on where its own disk says, and what is damaged there is not guessed.
 */
class BroadcastIT {
  private static final int MESSAGES = 4_000;

  private static final int SHARDS = 2;

  @TempDir Path directory;

  private Path offsets(String member) {
    return directory.resolve("offsets-" + member);
  }

  private Jar.Running consume(Node node, String member, String... more) {
    List<String> args =
        new ArrayList<>(List.of("--mode", "broadcast", "--offsets", offsets(member).toString()));
    args.addAll(List.of(more));
    return node.consume(member, "news", "readers", args.toArray(String[]::new));
  }

  private static Set<String> lines(Path file) {
    return Unchecked.get(
        () -> Files.exists(file) ? new TreeSet<>(Files.readAllLines(file)) : Set.of());
  }

  private static void awaitLines(String what, Jar.Running member, int lines) {
    Awaitility.await(what)
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> new HashSet<>(member.out().lines().toList()).size() >= lines);
  }

  @Test
  @Timeout(400)
  void everyMemberGetsEverythingWhoeverIsKilled() throws IOException {
    Path first = Lines.write(directory.resolve("first.log"), MESSAGES, 100);
    Set<String> expected = lines(first);
    Path log = directory.resolve("killed.log");
    String work = "line=$(cat); [ -n \"$line\" ] && echo \"$line\" >> " + log;
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("news", SHARDS);
      try (Jar.Running steady = consume(node, "steady")) {
        Jar.Running killed = consume(node, "killed", "--order", "none", "--exec", work);
        Jar.Running producing = node.produce("producer", first, "news");
        Awaitility.await("some progress is on its disk")
            .atMost(Duration.ofSeconds(90))
            .pollInterval(Duration.ofMillis(20))
            .until(() -> stored("killed") >= 200);
        killed.kill();
        int handled = lines(log).size();
        long stored = stored("killed");
        assertThat(producing.await().status()).isZero();

        node.kill();
        node.start();
        try (Jar.Running again = consume(node, "killed", "--parallel", "64", "--order", "none")) {
          awaitLines("the steady one has all", steady, MESSAGES);
          awaitRest(log, again, expected);
          Set<String> twice = new TreeSet<>(again.out().lines().toList());
          twice.retainAll(lines(log));
          assertThat(twice.size())
              .as("again come only those of %s that were not stored: %s are", handled, stored)
              // Commands that ran at the kill may have written their line after the count.
              .isBetween(0, (int) (handled - stored) + 16);
          // The steady one may have had everything before the node went, and be away since.
          Wait.untilAsserted("both are members, without leases", () -> assertMembers(node));
          String described = node.admin("group", "describe", "readers").out();
          assertThat(described).contains("mode      broadcast").contains("status    OK");

          var otherMode = node.consume("other", "news", "readers", "--idle-exit", "1s").await();
          assertThat(otherMode.status()).isEqualTo(1);
          assertThat(otherMode.err()).contains("runs in mode broadcast, not sharded");
          assertThat(steady.stop().status()).isZero();
          again.stopWell();
        }
        assertThat(steady.out().lines()).as("once each").hasSize(MESSAGES);
        assertThat(lines(steady.out)).isEqualTo(expected);
      }
      nothingComesAgain(node);
      damagedOffsetsAreNotGuessed(node);
    }
  }

  private static void assertMembers(Node node) {
    JsonObject group = new JsonObject(node.read("/api/groups/readers"));
    assertThat(group.getString("mode")).isEqualTo("broadcast");
    assertThat(group.getString("status")).isEqualTo("OK");
    assertThat(members(group)).containsExactlyInAnyOrder("steady", "killed");
    group
        .getJsonArray("members")
        .forEach(each -> assertThat(((JsonObject) each).getJsonArray("shards")).isEmpty());
    // Without a lease there is nothing that retention could wait for.
    assertThat(node.shards("readers"))
        .hasSize(SHARDS)
        .allSatisfy(
            shard -> {
              assertThat(shard.getValue("epoch")).isNull();
              assertThat(shard.getValue("owner")).isNull();
              assertThat(shard.getValue("committed")).isNull();
            });
  }

  private static List<String> members(JsonObject group) {
    List<String> names = new ArrayList<>();
    JsonArray members = group.getJsonArray("members");
    members.forEach(member -> names.add(((JsonObject) member).getString("member")));
    return names;
  }

  /** The sum of the offsets in a member's file. */
  private long stored(String member) throws IOException {
    Path file = offsets(member).resolve("readers.offsets");
    return Files.exists(file)
        ? Files.readAllLines(file).stream()
            .filter(line -> line.matches("\\d+ \\d+"))
            .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
            .sum()
        : 0;
  }

  /** What the first run had not finished comes to the second; nothing is missing. */
  private static void awaitRest(Path log, Jar.Running again, Set<String> expected) {
    Wait.until(
        "nothing is missing after the kill",
        90,
        () -> {
          Set<String> got = new TreeSet<>(lines(log));
          got.addAll(again.out().lines().toList());
          return got.equals(expected);
        });
  }

  /** Both have stored where they stopped. */
  private void nothingComesAgain(Node node) {
    for (String member : List.of("steady", "killed")) {
      Jar.Result result = consume(node, member, "--idle-exit", "1s").await();
      assertThat(result.status()).as(result.err()).isZero();
      assertThat(result.out()).as(member).isEmpty();
    }
  }

  private void damagedOffsetsAreNotGuessed(Node node) throws IOException {
    Path file = offsets("steady").resolve("readers.offsets");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 20] ^= 4;
    Files.write(file, bytes);
    Jar.Result refused = consume(node, "steady", "--idle-exit", "1s").await();
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains(file.toString()).contains("is damaged");
    assertThat(refused.err().lines()).hasSize(1);
    Jar.Result latest =
        consume(node, "steady", "--idle-exit", "1s", "--on-damaged-offsets", "latest").await();
    assertThat(latest.status()).as(latest.err()).isZero();
    assertThat(latest.out()).isEmpty();
    assertThat(latest.err()).contains("is damaged").contains("begins at latest");
    Files.write(file, bytes);
    String all = String.valueOf(MESSAGES);
    Jar.Result earliest =
        consume(node, "steady", "--max", all, "--on-damaged-offsets", "earliest").await();
    assertThat(earliest.status()).as(earliest.err()).isZero();
    assertThat(earliest.out().lines()).doesNotHaveDuplicates().hasSize(MESSAGES);
  }
}
