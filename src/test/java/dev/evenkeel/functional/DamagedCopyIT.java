package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The files of the node that leads a log group rot while it is stopped. */
@Tag("full")
class DamagedCopyIT {
  private static final int MESSAGES = 6_000;

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void allIsServedAndTheNodeCopiesTheLogGroupAnewAndLeadsItAgain() throws IOException {
    try (Trio trio = new Trio(directory).start()) {
      trio.node(1).createTopic("events", 3);
      Path input = Lines.write(directory.resolve("input"), MESSAGES, 50);
      Jar.Result produced = trio.produceFile("producer", "events", input).await();
      assertThat(produced.status()).as(produced.err()).isZero();
      Node rotten = trio.node(1);
      Node asked = trio.node(2);
      awaitLeader(asked, "d2", "n1");

      assertThat(rotten.stop().status()).isZero();
      // What it served from memory it reads from its disk from now on.
      spoil(rotten.directory.resolve("data/live/d2"));
      rotten.begin();
      rotten.awaitReady();
      awaitLeader(asked, "d2", "n1");
      Jar.Running consumer = trio.consume("c", "events", "g");
      asked.awaitConsumed("g", MESSAGES);
      consumer.stopWell();
      DeliveryCheck check = new DeliveryCheck(Lines.read(List.of(consumer.out)));
      assertThat(check.distinct()).isEqualTo(MESSAGES);

      Wait.until(
          "n1 has copied d2",
          120,
          () -> rotten.process().err().contains("log group d2: this node has a whole copy again"));
      // Whichever of the start, a reader and the scrub met the damage first.
      awaitLeader(asked, "d2", "n1");
      Wait.untilAsserted(
          "nothing is left of the damaged copy",
          () -> {
            assertThat(log(asked, "d2").getJsonArray("ineligible")).isEmpty();
            assertThat(rotten.read("/metrics"))
                .containsPattern("copied_anew_total[^\\n]*d2[^\\n]* 1");
            assertThat(rotten.directory.resolve("data/damaged")).isEmptyDirectory();
          });
      trio.consume("again", "events", "h");
      asked.awaitConsumed("h", MESSAGES);
      awaitLeader(asked, "d2", "n1");
    }
  }

  /** Flips a byte in the middle of the largest file that holds values. */
  private static void spoil(Path live) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> found = Files.list(live)) {
      found
          .filter(file -> file.toString().matches(".*[.](sst|blob)"))
          .max(Comparator.comparing(file -> file.toFile().length()))
          .ifPresent(files::add);
    }
    assertThat(files).isNotEmpty();
    for (Path file : files) {
      try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
        bytes.seek(bytes.length() / 2);
        int before = bytes.read();
        bytes.seek(bytes.length() / 2);
        bytes.write(before ^ 1);
      }
    }
  }

  private static void awaitLeader(Node asked, String group, String node) {
    Wait.until(
        node + " leads " + group, 120, () -> node.equals(log(asked, group).getString("leader")));
  }

  private static JsonObject log(Node asked, String group) {
    return new JsonObject(asked.read("/api/cluster"))
        .getJsonArray("logs").stream()
            .map(JsonObject.class::cast)
            .filter(log -> log.getString("group").equals(group))
            .findFirst()
            .orElseThrow();
  }
}
