package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bytes of the messages on disk flip while nodes run, and consumers notice no more than a delay.
 */
@Tag("full")
class DamagedBodiesIT {
  private static final int MESSAGES = 20_000;
  private static final int FLIPS = 40;
  private static final int ROUNDS = 3;
  private static final String[] SETTINGS = {
    "--tail-cache-bytes", "1MiB", "--segment-bytes", "1MiB", "--scrub-interval", "2s"
  };

  @TempDir Path directory;
  private final long seed = Long.getLong("evenkeel.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @Test
  @Timeout(600)
  void whatOneNodeLosesIsMendedAndNothingIsLost() throws IOException {
    System.out.println("seed " + seed);
    try (Trio trio = new Trio(directory, SETTINGS).start()) {
      trio.node(1).createTopic("events", 3);
      Path input = Lines.write(directory.resolve("input"), MESSAGES, 500);
      Jar.Result produced = trio.produceFile("producer", "events", input).await();
      assertThat(produced.status()).as(produced.err()).isZero();
      Node rotten = trio.node(1);
      int flipped = flip(rotten);
      Path more = Lines.write(directory.resolve("more"), MESSAGES, 500);
      assertThat(trio.produceFile("second", "events", more).await().status()).isZero();
      Jar.Running consumer = trio.consume("c", "events", "g");
      trio.node(2).awaitConsumed("g", 2 * MESSAGES);
      Wait.until(
          "damage of " + flipped + " bytes is mended, seed " + seed,
          120,
          () ->
              metric(rotten, "evenkeel_bodies_mended_total") > 0
                  && metric(rotten, "evenkeel_bodies_mended_total")
                      == metric(rotten, "evenkeel_bodies_damaged_total"));
      assertThat(metric(rotten, "evenkeel_bodies_lost")).as("seed %s", seed).isZero();
      assertThat(trio.node(2).admin("cluster", "status").out()).doesNotContain("DAMAGED");
      consumer.stopWell();
    }
  }

  /** Under load, which goes on while the node starts anew. */
  @Test
  @Timeout(600)
  void aNodeWhoseMessagesIndexAndLogRotCopiesWhatItCannotMend() throws IOException {
    System.out.println("seed " + seed);
    try (Trio trio = new Trio(directory, SETTINGS).start()) {
      trio.node(1).createTopic("events", 3);
      Node rotten = trio.nodes.get(random.nextInt(trio.nodes.size()));
      Node asked = trio.node(rotten == trio.node(1) ? 2 : 1);
      Jar.Running consumer = trio.consume("c", "events", "g");
      for (int round = 0; round < ROUNDS; round++) {
        Path input = Lines.write(directory.resolve("input" + round), 4 * MESSAGES, 500);
        var producer = trio.produceFile("producer" + round, "events", input, "--rate", "4000");
        long some = round * 4L * MESSAGES + MESSAGES;
        Wait.until("load", 120, () -> asked.written("events") > some);
        flip(rotten);
        flipSome(rotten.directory.resolve("data/live"), ".*[.]sst");
        flipSome(rotten.directory.resolve("data/raft/raft"), "log_.*");
        Jar.Result produced = producer.await();
        assertThat(produced.status()).as(produced.err()).isZero();
        awaitWhole(rotten, asked);
      }
      asked.awaitConsumed("g", ROUNDS * 4L * MESSAGES);
      assertThat(rotten.process().err()).as("seed %s", seed).contains("has a whole copy again");
      for (Node node : trio.nodes) {
        assertThat(metric(node, "evenkeel_bodies_lost")).as("seed %s", seed).isZero();
      }
      consumer.stopWell();
    }
  }

  /**
   * Waits until the node has checked all files once more in one run, and nobody had anything
   * against a copy meanwhile. Whatever it meets when it starts anew by itself, it comes back.
   */
  private void awaitWhole(Node node, Node asked) {
    Passes passes = new Passes();
    Wait.until(
        "all copies are whole, seed " + seed,
        240,
        () -> {
          assertThat(node.process().process.isAlive()).as(node.process().err()).isTrue();
          Jar.Result status = asked.tryAdmin("cluster", "status");
          boolean sound = status.status() == 0 && !status.out().contains(" should not lead ");
          return passes.seen(sound, node);
        });
  }

  /** Tells from the bytes that were checked whether every file was, after the messages. */
  private static final class Passes {
    /** The rest of a pass, one that begins with a table made anew, and the begin of another. */
    private static final int ENOUGH = 4;

    private double first = -1;
    private double last = -1;

    boolean seen(boolean sound, Node node) {
      double scrubbed;
      double stored;
      try {
        scrubbed = metric(node, "evenkeel_scrub_bytes_total");
        stored = stored(node);
      } catch (UncheckedIOException | IOException e) {
        // It starts anew, or drops a file.
        scrubbed = -1;
        stored = 0;
      }
      if (!sound || scrubbed < last || first < 0) {
        first = scrubbed;
      }
      last = scrubbed;
      return first >= 0 && scrubbed - first > ENOUGH * stored;
    }
  }

  private static double stored(Node node) throws IOException {
    double bytes = 0;
    try (Stream<Path> files = Files.walk(node.directory.resolve("data/bodies"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        bytes += Files.size(file);
      }
    }
    return bytes;
  }

  /** Flips a byte in some of the files below a directory. */
  private void flipSome(Path directory, String name) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file :
          files.filter(each -> each.getFileName().toString().matches(name)).sorted().toList()) {
        if (random.nextBoolean() && Files.size(file) > 0) {
          flipAt(file, (long) (random.nextDouble() * Files.size(file)));
        }
      }
    } catch (UncheckedIOException | NoSuchFileException e) {
      System.out.println("a file went meanwhile: " + e);
    }
  }

  @Test
  @Timeout(600)
  void consumersGoOnBehindWhatEveryNodeHasLost() throws IOException {
    System.out.println("seed " + seed);
    try (Trio trio = new Trio(directory, SETTINGS).start()) {
      trio.node(1).createTopic("events", 1);
      Path input = Lines.write(directory.resolve("input"), 4 * MESSAGES, 500);
      assertThat(trio.produceFile("producer", "events", input).await().status()).isZero();
      // The same line, wherever a node has it. It is too old to be in the memory of a leader.
      List<String> lines = Files.readAllLines(input);
      String lost = lines.get(random.nextInt(MESSAGES));
      each(trio.nodes, node -> flip(node, lost));
      Jar.Running consumer = trio.consume("c", "events", "g");
      String last = quoted(lines.get(4 * MESSAGES - 1));
      Wait.until(
          "the group passes what is lost, seed " + seed,
          120,
          () -> Files.readString(consumer.out).contains(last));
      assertThat(Files.readString(consumer.out)).as("seed %s", seed).doesNotContain(quoted(lost));
      long counted = 0;
      for (Node node : trio.nodes) {
        counted += (long) metric(node, "evenkeel_bodies_lost_messages_total");
      }
      assertThat(counted).as("seed %s", seed).isPositive();
      Wait.until(
          "the status says so, seed " + seed,
          () -> trio.node(1).admin("cluster", "status").out().contains("lost messages of "));
    }
  }

  /** Flips bytes at random places of segments that are not written to. */
  private int flip(Node node) throws IOException {
    List<Path> segments = segments(node);
    for (int i = 0; i < FLIPS; i++) {
      Path segment = segments.get(random.nextInt(segments.size()));
      flipAt(segment, (long) (random.nextDouble() * Files.size(segment)));
    }
    return FLIPS;
  }

  private static String quoted(String line) {
    return '"' + line + '"';
  }

  private void flip(Node node, String text) throws IOException {
    int flipped = 0;
    for (Path segment : segments(node)) {
      int at = Files.readString(segment, StandardCharsets.ISO_8859_1).indexOf(text);
      if (at >= 0) {
        flipAt(segment, at);
        flipped++;
      }
    }
    assertThat(flipped).isPositive();
  }

  private static List<Path> segments(Node node) throws IOException {
    try (Stream<Path> files = Files.walk(node.directory.resolve("data/bodies"))) {
      List<Path> found = files.filter(each -> each.toString().endsWith(".seg")).toList();
      assertThat(found).isNotEmpty();
      return found;
    }
  }

  private static void flipAt(Path file, long at) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(at);
      int before = bytes.read();
      bytes.seek(at);
      bytes.write(before ^ 1);
    }
  }

  private static double metric(Node node, String name) {
    return node.read("/metrics")
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
