package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a shard's owner knows goes to the next owner, also when the whole group goes and comes. */
class HandoverIT {
  @TempDir Path directory;

  /** Each consumer counts a shard's messages in a file of its own; the state is the count. */
  private static final String ON_ASSIGN =
      "read n; echo \"${n:-0}\" > count-$EVENKEEL_MEMBER-$EVENKEEL_TOPIC-$EVENKEEL_SHARD";

  private static final String ON_RELEASE =
      "cat count-$EVENKEEL_MEMBER-$EVENKEEL_TOPIC-$EVENKEEL_SHARD";
  private static final String EXEC =
      "f=count-$EVENKEEL_MEMBER-$EVENKEEL_TOPIC-$EVENKEEL_SHARD; n=$(cat $f); echo $((n+1)) > $f";

  @Test
  void aCountKeptByConsumersThatComeAndGoIsExact() throws IOException {
    Path input = Lines.write(directory.resolve("input.log"), 400, 50);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("words", 4);
      Jar.Running first = counter(node, "first");
      assertThat(
              node.produce("p1", input, "words", "--key-regex", Lines.KEY_REGEX).await().status())
          .isZero();
      awaitOwned(node, "first", 4);
      awaitSomeProgress(first, node);
      try (Jar.Running second = counter(node, "second")) {
        awaitOwned(node, "second", 2);
        awaitOwned(node, "first", 2);
        assertThat(first.stop().status()).isZero();
        awaitOwned(node, "second", 4);
        assertThat(
                node.produce("p2", input, "words", "--key-regex", Lines.KEY_REGEX).await().status())
            .isZero();
        node.awaitConsumed("counters", 800);
        assertThat(second.stop().status()).isZero();
      }
      try (Jar.Running third = counter(node, "third")) {
        awaitOwned(node, "third", 4);
        Wait.untilAsserted(30, () -> assertThat(countOf(node, "third")).isEqualTo(800));
        assertThat(third.stop().status()).isZero();
      }
    }
  }

  @Tag("full")
  @Test
  void aSecondMemberOfTheSameNameTakesThePlaceOfTheFirst() {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 3);
      try (Jar.Running first = node.consume("twin", "t", "g")) {
        awaitOwned(node, "g", "twin", 3);
        long epoch = node.shards("g").get(0).getLong("epoch");
        try (Jar.Running second = node.consume("twin", "t", "g")) {
          Jar.Result replaced = first.await();
          assertThat(replaced.status()).isEqualTo(1);
          assertThat(replaced.err().strip()).contains("twin").hasLineCount(1);
          awaitOwned(node, "g", "twin", 3);
          assertThat(node.shards("g").get(0).getLong("epoch")).isGreaterThan(epoch);
          assertThat(second.process.isAlive()).isTrue();
        }
      }
    }
  }

  private static Jar.Running counter(Node node, String member) {
    return node.consume(
        member,
        "words",
        "counters",
        words("--exec %s --on-assign %s --on-release %s", EXEC, ON_ASSIGN, ON_RELEASE));
  }

  private static int countOf(Node node, String member) throws IOException {
    int sum = 0;
    for (int shard = 0; shard < 4; shard++) {
      Path file = node.directory.resolve("count-" + member + "-words-" + shard);
      String text = Files.exists(file) ? Files.readString(file).strip() : "";
      // The shell empties the file before it writes the next count.
      sum += text.isEmpty() ? 0 : Integer.parseInt(text);
    }
    return sum;
  }

  private static void awaitSomeProgress(Jar.Running consumer, Node node) {
    Wait.until(() -> !consumer.process.isAlive() || countOf(node, "first") > 20);
  }

  private static void awaitOwned(Node node, String member, int count) {
    awaitOwned(node, "counters", member, count);
  }

  private static void awaitOwned(Node node, String group, String member, int count) {
    Wait.untilAsserted(
        member + " owns " + count,
        () -> {
          List<JsonObject> shards = node.shards(group);
          Set<Integer> owned = new HashSet<>();
          for (JsonObject shard : shards) {
            if (member.equals(shard.getString("owner"))
                && "OWNED".equals(shard.getString("state"))) {
              owned.add(shard.getInteger("shard"));
            }
          }
          assertThat(owned).as(() -> shards.toString()).hasSize(count);
        });
  }
}
