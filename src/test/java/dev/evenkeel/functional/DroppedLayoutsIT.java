package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Producers whose shards are sealed, emptied and dropped while they stand still: what they have in
 * hand, or in their spool, comes to the shards that there are now, once and in the order of keys.
 */
@Tag("full")
@Timeout(600)
class DroppedLayoutsIT {
  private static final String TOPIC = "lines";
  private static final int KEYS = 50;
  private static final int SPOOLED_LINES = 60_000;
  private static final String PADDING = "x".repeat(1_000);

  @TempDir Path directory;
  private final List<Jar.Running> started = new ArrayList<>();

  @Test
  void aProducerThatWasStoppedSendsToTheShardsOfNow() {
    try (Node node = node()) {
      Jar.Running reader = reader(node);
      Jar.Running producer =
          started(
              Jar.startFed(
                  directory,
                  "producer",
                  words(
                      "produce %s --key-regex %s --rate 3000 --cluster %s -",
                      TOPIC, Lines.KEY_REGEX, node.cluster())));
      Feeder feeder = new Feeder(producer.process.getOutputStream(), KEYS);
      awaitRead(reader, 5_000);
      LevelGroup.signal(producer, "STOP");
      replaceLayouts(node);
      long before = read(reader);
      LevelGroup.signal(producer, "CONT");
      awaitRead(reader, before + 5_000);
      long lines = feeder.finish();
      producer.awaitAcked(lines);
      awaitRead(reader, lines);
      reader.stop();
      assertOnceAndInOrder(reader, lines);
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  @Test
  void aLargeSpoolIsSentInOneRun() {
    Path file = lines();
    try (Node node = node()) {
      Jar.Running reader = reader(node);
      Jar.Running first = spool(node, file, "first");
      awaitRead(reader, SPOOLED_LINES / 20);
      node.kill();
      awaitSpooled(first, SPOOLED_LINES * (long) PADDING.length() * 3 / 4);
      first.kill();
      node.start();
      replaceLayouts(node);
      Jar.Result sent = spool(node, file, "second").await();
      assertThat(sent.status()).as(sent.err()).isZero();
      assertThat(sent.err().strip()).endsWith("acked " + SPOOLED_LINES + " of " + SPOOLED_LINES);
      awaitRead(reader, SPOOLED_LINES);
      reader.stop();
      assertOnceAndInOrder(reader, SPOOLED_LINES);
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private Node node() {
    Node node = new Node(directory.resolve("node")).with("--data-groups", "3").start();
    admin(node, "create", TOPIC, "--shards", "3", "--retention", "1s");
    return node;
  }

  private static void admin(Node node, String... args) {
    List<String> all = new ArrayList<>(List.of("topic"));
    all.addAll(List.of(args));
    Jar.Result done = node.admin(all.toArray(String[]::new));
    assertThat(done.status()).as(done.err()).isZero();
  }

  /** Two layouts come and go: nothing is left of the shards that producers know. */
  private static void replaceLayouts(Node node) {
    admin(node, "reshard", TOPIC, "--shards", "5");
    awaitDropped(node, 3);
    admin(node, "reshard", TOPIC, "--shards", "2");
    awaitDropped(node, 8);
  }

  private static void awaitDropped(Node node, int firstShard) {
    Awaitility.await("shards below " + firstShard + " are dropped")
        .atMost(Duration.ofSeconds(180))
        .ignoreExceptions()
        .until(
            () ->
                new JsonObject(node.read("/api/topics/" + TOPIC))
                        .getJsonArray("shardList")
                        .getJsonObject(0)
                        .getInteger("shard")
                    >= firstShard);
  }

  private Jar.Running started(Jar.Running running) {
    started.add(running);
    return running;
  }

  private Jar.Running reader(Node node) {
    return started(
        Jar.startInCrowd(
            directory, "reader", "consume", TOPIC, "--group", "g", "--cluster", node.cluster()));
  }

  private Jar.Running spool(Node node, Path file, String name) {
    String spool = directory.resolve("spool").toString();
    String key = Lines.KEY_REGEX;
    return started(
        node.produce(name, file, TOPIC, "--key-regex", key, "--rate", "8000", "--spool", spool));
  }

  private Path lines() {
    Path file = directory.resolve("input");
    long[] next = new long[KEYS];
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (int i = 0; i < SPOOLED_LINES; i++) {
        int key = i % KEYS;
        out.write("user-" + key + " " + next[key]++ + " " + PADDING + "\n");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return file;
  }

  private void awaitSpooled(Jar.Running producer, long bytes) {
    Wait.until(
        "messages wait in the spool",
        180,
        () -> {
          assertThat(producer.process.isAlive()).as(producer.err()).isTrue();
          try (var files = Files.walk(directory.resolve("spool"))) {
            return files.filter(Files::isRegularFile).mapToLong(f -> f.toFile().length()).sum()
                > bytes;
          }
        });
  }

  private static long read(Jar.Running reader) {
    try (var lines = Files.lines(reader.out)) {
      return lines.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void awaitRead(Jar.Running reader, long lines) {
    Wait.until(lines + " lines are read", 180, () -> read(reader) >= lines);
  }

  private static void assertOnceAndInOrder(Jar.Running reader, long lines) {
    Map<String, Long> next = new HashMap<>();
    for (String line : Lines.read(List.of(reader.out)).get(0)) {
      String[] words = line.split(" ", 3);
      long expected = next.merge(words[0], 1L, Long::sum) - 1;
      assertThat(Long.parseLong(words[1])).as(words[0]).isEqualTo(expected);
    }
    assertThat(next.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(lines);
  }
}
