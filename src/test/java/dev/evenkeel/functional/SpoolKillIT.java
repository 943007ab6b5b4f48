package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A file is sent through a spool while the node and the program that sends it are killed. It takes
 * ten seconds to read, and much longer as long as the program is to be killed, so that the kills
 * find both at work; what has waited for the node is sent at full speed. Short here; {@code -Pfull}
 * makes it a million lines, ten kills of the node and two of the producer.
 */
class SpoolKillIT {
  private static final int LINES = Integer.getInteger("evenkeel.spoolLines", 100_000);
  private static final int NODE_KILLS = Integer.getInteger("evenkeel.spoolNodeKills", 3);
  private static final int PRODUCER_KILLS = Integer.getInteger("evenkeel.spoolProducerKills", 1);

  @TempDir Path directory;

  private Node node;
  private Path file;
  private Jar.Running producer;
  private int producers;

  @Test
  @Timeout(1200)
  void everyLineIsThereOnceAndKeysStayInOrder() {
    long seed = Long.getLong("evenkeel.seed", System.nanoTime());
    System.err.println("SpoolKillIT: seed " + seed);
    Random random = new Random(seed);
    file = Lines.write(directory.resolve("lines"), LINES, 50);
    try (Node started = new Node(directory.resolve("node")).start()) {
      node = started;
      node.createTopic("events", 6);
      List<Integer> at = new ArrayList<>();
      for (int i = 0; i < NODE_KILLS + PRODUCER_KILLS; i++) {
        at.add(1 + random.nextInt(i < PRODUCER_KILLS ? LINES / 10 : LINES / 2));
      }
      Collections.sort(at);
      begin(PRODUCER_KILLS > 0);
      // Producers first: when a node comes back, what was read meanwhile is sent in no time.
      int nodesKilled = 0;
      for (int i = 0; i < at.size(); i++) {
        awaitMessages(at.get(i));
        boolean killsProducer = i < PRODUCER_KILLS;
        boolean killsNode = nodesKilled < NODE_KILLS && (!killsProducer || random.nextBoolean());
        if (killsNode) {
          nodesKilled++;
          node.kill();
        }
        if (killsProducer) {
          assertThat(producer.process.isAlive()).as(producer.err()).isTrue();
          producer.kill();
        }
        if (killsNode) {
          node.start();
        }
        if (killsProducer) {
          begin(i + 1 < PRODUCER_KILLS);
        }
      }
      assertAllAcked(producer.await());
      begin(false);
      Jar.Result again = producer.await();
      assertAllAcked(again);
      assertThat(again.err()).contains("nothing is left of " + file);
      // Not --max: one that was taken for lost is given some again, and these would count, too.
      Jar.Running consumer = node.consume("c", "events", "g", "--format", "json");
      try (consumer) {
        node.awaitConsumed("g", LINES);
        assertThat(consumer.stop().status()).isZero();
      }
      new DeliveryCheck(Lines.read(List.of(consumer.out))).assertEachKeyCompleteAndInOrder(LINES);
      TopicMessages.assertCount(node, "events", LINES);
    } finally {
      if (producer != null) {
        producer.close();
      }
    }
  }

  /**
   * @param killed it is to be killed, and must not be done before, however late that comes
   */
  private void begin(boolean killed) {
    producer =
        node.produce(
            "producer-" + ++producers,
            file,
            "events",
            words(
                "--key-regex %s --rate %s --spool %s",
                Lines.KEY_REGEX, LINES / (killed ? 60 : 10), directory.resolve("spool")));
  }

  private static void assertAllAcked(Jar.Result produced) {
    assertThat(produced.err().strip()).endsWith("acked " + LINES + " of " + LINES);
    assertThat(produced.status()).isZero();
  }

  private void awaitMessages(int count) {
    Awaitility.await(count + " messages")
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> TopicMessages.count(node, "events") >= count);
  }
}
