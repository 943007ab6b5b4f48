package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.ClusterView;
import io.vertx.core.json.JsonObject;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node is away until the others have purged the log that it lacks: it comes back by a snapshot,
 * while load goes on, and then holds everything, as it shows when it has to lead.
 */
@Tag("full")
class SnapshotReturnIT {
  /** It leads, or has given the leadership away since, to whoever should have it. */
  private static void assertLed(Node away, String group, String leader) {
    if (!"n3".equals(leader)) {
      assertThat(away.process().err())
          .as("leader of " + group)
          .contains("group " + group + ": giving the leadership to " + leader);
    }
  }

  private static final int LARGE_LINES = 150_000;
  private static final int LARGE_BYTES = 300;

  /** The log has the heads of batches only: many shards make many batches, and the log long. */
  private static final int LARGE_SHARDS = 600;

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void aNodeWhoseLogWasPurgedReturnsBySnapshotAndHoldsEverything() throws IOException {
    try (Trio trio =
        new Trio(directory, "--snapshot-every-bytes", "4MiB", "--segment-bytes", "8MiB").start()) {
      Node a = trio.nodes.get(0);
      Node b = trio.nodes.get(1);
      Node away = trio.nodes.get(2);
      a.createTopic("events", 6);
      a.createTopic("large", LARGE_SHARDS);
      Jar.Running producer = trio.produce("producer", "events", 1_000);
      long lines;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 200)) {
        Wait.until("some messages before", () -> messages(a, "events") > 1_000);
        away.kill();
        Jar.Result large =
            a.produce("large", large(), "large", "--key-regex", "large (\\d+)").await();
        assertThat(large.err().strip()).endsWith("acked " + LARGE_LINES + " of " + LARGE_LINES);
        away.start();
        trio.awaitCaughtUp(away);
        lines = feeder.finish();
      }
      producer.awaitAcked(lines);
      for (String group : List.of("d0", "d1", "d2")) {
        assertThat(away.process().err()).contains("group " + group + ": restoring the installed");
      }
      trio.awaitCaughtUp(away);

      // What is written while another is away makes this one's log the longer: it must lead.
      a.kill();
      b.createTopic("later", 3);
      Path later = Lines.write(directory.resolve("later"), 300, 30);
      assertThat(b.produce("later", later, "later").await().status()).isZero();
      Jar.Running more = trio.produceLine("more", "events", "late 0");
      assertThat(more.await().status()).isZero();
      trio.awaitCaughtUp(away);
      b.kill();
      a.start();
      try (AckWatch watch = new AckWatch(trio, "later")) {
        ClusterView view = watch.view();
        assertLed(away, "meta", view.metaLeader());
        times(view.dataLeaders().size(), i -> assertLed(away, "d" + i, view.dataLeaders().get(i)));
      }
      Jar.Running all = trio.consume("all", "events", "fresh");
      away.awaitConsumed("fresh", lines + 1);
      assertThat(all.stop().status()).isZero();
      List<String> delivered =
          Lines.read(List.of(all.out)).get(0).stream()
              .filter(line -> !line.contains("\"late 0\""))
              .toList();
      new DeliveryCheck(List.of(delivered)).assertKeysComplete(lines);
      assertThat(messages(away, "large")).isEqualTo(LARGE_LINES);
      Jar.Running allLarge = trio.consume("large-reader", "large", "fresh-large");
      away.awaitConsumed("fresh-large", LARGE_LINES);
      assertThat(allLarge.stop().status()).isZero();
      DeliveryCheck largeCheck = new DeliveryCheck(Lines.read(List.of(allLarge.out)));
      assertThat(largeCheck.distinct()).isEqualTo(LARGE_LINES);
    }
  }

  private Path large() throws IOException {
    Path file = directory.resolve("large");
    String filler = "x".repeat(LARGE_BYTES);
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      times(LARGE_LINES, i -> out.write("large " + i + " " + filler + "\n"));
    }
    return file;
  }

  private static long messages(Node node, String topic) {
    Long messages = new JsonObject(node.get("/api/topics/" + topic).body()).getLong("messages");
    // Unknown while a log has no leader.
    return messages == null ? -1 : messages;
  }
}
