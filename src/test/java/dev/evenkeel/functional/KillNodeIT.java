package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node is killed again and again under load, while a producer and three consumers stay up.
 * Short here; {@code -Pfull} makes it 30 kills.
 */
class KillNodeIT {
  private static final int KILLS = Integer.getInteger("evenkeel.kills", 3);

  @TempDir Path directory;

  @Test
  @Timeout(1200)
  void nothingAcknowledgedIsLostOrDoubledAndKeysStayInOrder() {
    long seed = Long.getLong("evenkeel.seed", System.nanoTime());
    System.err.println("KillNodeIT: seed " + seed + ", kills " + KILLS);
    Random random = new Random(seed);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("events", 6);
      List<Jar.Running> consumers = new ArrayList<>();
      for (String name : List.of("a", "b", "c")) {
        consumers.add(node.consume(name, "events", "g", "--format", "json"));
      }
      Jar.Running producer =
          Jar.startFed(
              node.directory,
              "producer",
              words(
                  "produce events --key-regex %s --rate 5000 --cluster %s -",
                  Lines.KEY_REGEX, node.cluster()));
      long lines;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 200)) {
        for (int kill = 0; kill < KILLS; kill++) {
          long before = delivered(consumers);
          int more = 1000 + random.nextInt(8000);
          Awaitility.await("deliveries before kill " + kill)
              .atMost(Duration.ofSeconds(90))
              .pollInterval(Duration.ofMillis(10))
              .until(() -> delivered(consumers) > before + more * 50L);
          node.kill();
          node.start();
        }
        lines = feeder.finish();
      }
      producer.awaitAcked(lines);
      node.awaitConsumed("g", lines);
      consumers.forEach(Jar.Running::stopWell);
      DeliveryCheck check = DeliveryCheck.of(consumers);
      check.assertEachKeyCompleteAndInOrder(lines);
      System.err.println(
          "KillNodeIT: " + lines + " messages, " + check.redelivered() + " delivered again");
    }
  }

  /** Bytes that the consumers have printed: cheap, and grows with what they finished. */
  private static long delivered(List<Jar.Running> consumers) {
    return consumers.stream().mapToLong(consumer -> consumer.out.toFile().length()).sum();
  }
}
