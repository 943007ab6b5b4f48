package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node is away while lines come as fast as they are taken: the producer's memory stays within
 * 128 MiB, the spool, if there is one, within its limit, and then everything is sent. Some seconds
 * here; {@code -Pfull} makes it a minute.
 */
@Tag("full")
class SpoolAwayIT {
  private static final int AWAY_SECONDS = Integer.getInteger("evenkeel.awaySeconds", 8);
  private static final long LIMIT_BYTES = 64L << 20;

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void memoryAndDiskStayBoundedAndNothingIsLost() throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("events", 3);
      Path spool = directory.resolve("spool");
      // More messages than fit into memory as objects: 64 MiB of short lines.
      try (Jar.Running producer =
          Jar.startFedWith(
              node.directory,
              "producer",
              List.of("-Xmx128m", "-XX:+ExitOnOutOfMemoryError"),
              words(
                  "produce events --spool %s --spool-limit 64MiB --cluster %s -",
                  spool, node.cluster()))) {
        LineFeeder feeder = new LineFeeder(producer.process.getOutputStream());
        feeder.start();
        Wait.until("it sends", 120, () -> TopicMessages.count(node, "events") > 1_000);
        node.kill();
        long killed = System.nanoTime();
        Awaitility.await("the spool is full, and reading waits")
            .atMost(Duration.ofSeconds(240))
            .pollInterval(Duration.ofSeconds(2))
            .until(
                () -> {
                  long before = feeder.lines;
                  assertThat(producer.process.isAlive()).as(producer.err()).isTrue();
                  assertThat(size(spool)).isLessThan(LIMIT_BYTES * 5 / 4);
                  return size(spool) > LIMIT_BYTES / 2 && standsStill(feeder, before);
                });
        stayAway(killed);
        assertThat(size(spool)).isLessThan(LIMIT_BYTES * 5 / 4);
        node.start();
        assertAllThere(node, producer, feeder.finish());
      }
    }
  }

  @Test
  @Timeout(600)
  void withoutASpoolTheBufferIsBoundedAndReadingWaits() throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("events", 3);
      try (Jar.Running producer =
          Jar.startFedWith(
              node.directory,
              "producer",
              List.of("-Xmx128m", "-XX:+ExitOnOutOfMemoryError"),
              words("produce events --delivery-timeout 10m --cluster %s -", node.cluster()))) {
        LineFeeder feeder = new LineFeeder(producer.process.getOutputStream());
        feeder.start();
        Wait.until("it sends", 120, () -> TopicMessages.count(node, "events") > 100_000);
        node.kill();
        long killed = System.nanoTime();
        Awaitility.await("the buffer is full, and reading waits")
            .atMost(Duration.ofSeconds(240))
            .pollInterval(Duration.ofSeconds(1))
            .until(
                () -> {
                  long before = feeder.lines;
                  assertThat(producer.process.isAlive()).as(producer.err()).isTrue();
                  return standsStill(feeder, before);
                });
        stayAway(killed);
        assertThat(producer.process.isAlive()).as(producer.err()).isTrue();
        node.start();
        assertAllThere(node, producer, feeder.finish());
      }
    }
  }

  private static void stayAway(long killedNanos) throws InterruptedException {
    long until = killedNanos + TimeUnit.SECONDS.toNanos(AWAY_SECONDS);
    // How long it is away is what is tested.
    TimeUnit.NANOSECONDS.sleep(Math.max(0, until - System.nanoTime()));
  }

  private static void assertAllThere(Node node, Jar.Running producer, long lines) {
    producer.awaitAcked(lines);
    TopicMessages.assertCount(node, "events", lines);
  }

  private static boolean standsStill(LineFeeder feeder, long before) throws InterruptedException {
    // Long enough for a reader that goes on to be seen, however busy the machine is.
    feeder.join(1_500);
    return feeder.lines == before;
  }

  private static long size(Path spool) throws IOException {
    if (!Files.isDirectory(spool)) {
      return 0;
    }
    long sum = 0;
    try (Stream<Path> files = Files.list(spool)) {
      for (Path file : files.toList()) {
        sum += Files.exists(file) ? file.toFile().length() : 0;
      }
    }
    return sum;
  }

  /** Short lines, as fast as they are taken. */
  private static final class LineFeeder extends Thread {
    private static final int CHUNK = 200;

    private final OutputStream out;
    volatile long lines;
    volatile boolean finished;

    LineFeeder(OutputStream out) {
      super("line-feeder");
      setDaemon(true);
      this.out = out;
    }

    @Override
    public void run() {
      try (OutputStream open = out) {
        while (!finished) {
          StringBuilder chunk = new StringBuilder();
          times(CHUNK, i -> chunk.append("line ").append(lines + i).append('\n'));
          open.write(chunk.toString().getBytes(StandardCharsets.US_ASCII));
          open.flush();
          lines += CHUNK;
        }
      } catch (IOException e) {
        // The producer has ended, and says itself why.
        return;
      }
    }

    long finish() throws InterruptedException {
      finished = true;
      join();
      return lines;
    }
  }
}
