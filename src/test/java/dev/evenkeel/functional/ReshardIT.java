package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The number of shards of a topic changes while producers and consumers work: keys stay in order,
 * nothing is lost or doubled, and states go on in the shards that take the place of others.
 */
class ReshardIT {
  private static final int KEYS = 200;

  @TempDir Path directory;

  private final List<Jar.Running> started = new ArrayList<>();

  /** When shards changed: from and to, in milliseconds since 1970. */
  private final List<long[]> changes = new ArrayList<>();

  @Test
  @Timeout(300)
  void keysStayInOrderWhileShardsComeAndGo() throws IOException {
    try (Node node = new Node(directory.resolve("node")).with("--data-groups", "3").start()) {
      node.createTopic("lines", 4);
      Path handled = directory.resolve("handled");
      member(node, "a", handled);
      Jar.Running b = member(node, "b", handled);
      Jar.Running c = member(node, "c", handled);
      Jar.Running producer = produce(node, "producer", "--rate", "2000");
      Feeder feeder = new Feeder(producer.process.getOutputStream(), KEYS);
      awaitMore(handled);

      reshard(node, 12);
      awaitOwned(node, 12);
      awaitMore(handled);
      b.kill();
      member(node, "d", handled);
      new Members(node, "g").awaitCounts(Map.of("a", 4, "c", 4, "d", 4));
      awaitMore(handled);
      reshard(node, 3);
      awaitOwned(node, 3);
      awaitMore(handled);
      c.stop();
      awaitMore(handled);
      feeder.close();
      long lines = feeder.finish();
      producer.awaitAcked(lines);
      node.awaitConsumed("g", lines);
      started.forEach(Jar.Running::stop);
      judge(handled, lines);
      // A group that comes now reads the sealed shards first.
      assertLogIsWhole(node, lines);
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  @Test
  @Tag("full")
  @Timeout(300)
  void everyModeGoesOn() {
    try (Node node = new Node(directory.resolve("node")).with("--data-groups", "3").start()) {
      node.createTopic("lines", 4);
      Map<String, List<Jar.Running>> groups = new TreeMap<>();
      for (String member : List.of("a", "b")) {
        for (String mode : List.of("level", "singleton")) {
          List<Jar.Running> members = groups.computeIfAbsent(mode, none -> new ArrayList<>());
          members.add(consume(node, mode, member, "--mode", mode));
        }
      }
      groups.put("shard", List.of(consume(node, "shard", "a", "--order", "shard")));
      groups.put("plain", List.of(consume(node, "plain", "a", "--order", "none")));
      String offsets = directory.resolve("offsets").toString();
      groups.put(
          "broadcast",
          List.of(consume(node, "cast", "a", "--mode", "broadcast", "--offsets", offsets)));
      Jar.Running later = produce(node, "late", "--rate", "300", "--deliver-after", "15s");
      Feeder lateFeeder = new Feeder(later.process.getOutputStream(), KEYS);
      Jar.Running producer = produce(node, "producer", "--rate", "200");
      Feeder feeder = new Feeder(producer.process.getOutputStream(), KEYS);
      awaitDelayed(node, 500);
      long late = lateFeeder.finish();
      later.await();
      awaitPrinted(groups);
      reshard(node, 6);
      awaitPrinted(groups);
      reshard(node, 2);
      awaitPrinted(groups);
      long lines = feeder.finish();
      producer.await();
      groups.forEach((mode, members) -> awaitLines(mode, members, lines + late));
      started.forEach(Jar.Running::stop);
      groups.forEach(
          (mode, members) -> assertThat(places(members)).as(mode).hasSize((int) (lines + late)));
      assertThat(node.admin("topic", "describe", "lines").out()).contains("delayed    0");
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  /** The program is killed while messages wait in its spool for shards that are sealed. */
  @Test
  @Tag("full")
  @Timeout(300)
  void aSpoolSendsOnWhatSealedShardsDidNotTake() {
    int lines = 60_000;
    Path file = Lines.write(directory.resolve("input"), lines, KEYS);
    try (Node node = new Node(directory.resolve("node")).with("--data-groups", "3").start()) {
      node.createTopic("lines", 4);
      Jar.Running first = spool(node, file, "first", 4_000);
      awaitMessages(node, lines / 10);
      reshard(node, 12);
      assertShows(node, 0, true, JsonArray.of());
      assertShows(node, 4, false, JsonArray.of(0));
      node.kill();
      // Nothing is acknowledged: what is read waits in the spool.
      awaitSpooled(first, lines / 3);
      first.kill();
      node.start();
      reshard(node, 3);
      Jar.Running second = spool(node, file, "second", 6_000);
      awaitMessages(node, lines / 2);
      reshard(node, 5);
      second.awaitAcked(lines);
      assertLogIsWhole(node, lines);
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private Jar.Running spool(Node node, Path file, String name, int rate) {
    String spool = directory.resolve("spool").toString();
    Jar.Running producer =
        node.produce(
            name,
            file,
            "lines",
            words("--key-regex %s --rate %s --spool %s", Lines.KEY_REGEX, rate, spool));
    started.add(producer);
    return producer;
  }

  private static void assertShows(Node node, int shard, boolean sealed, JsonArray parents) {
    JsonObject shown =
        new JsonObject(node.read("/api/topics/lines"))
            .getJsonArray("shardList")
            .getJsonObject(shard);
    assertThat(shown.getInteger("shard")).isEqualTo(shard);
    assertThat(shown.getBoolean("sealed")).isEqualTo(sealed);
    assertThat(shown.getJsonArray("parents")).isEqualTo(parents);
  }

  private static void awaitMessages(Node node, long messages) {
    Awaitility.await(messages + " messages are in the log")
        .atMost(Duration.ofSeconds(90))
        .ignoreExceptions()
        .until(
            () ->
                new JsonObject(node.read("/api/topics/lines")).getLong("messages", 0L) >= messages);
  }

  /** The spool holds so many bytes that those messages must be in it. */
  private void awaitSpooled(Jar.Running producer, long messages) {
    Wait.until(
        "messages wait in the spool",
        90,
        () -> {
          assertThat(producer.process.isAlive()).as(producer.err()).isTrue();
          try (var files = Files.walk(directory.resolve("spool"))) {
            return files.filter(Files::isRegularFile).mapToLong(f -> f.toFile().length()).sum()
                > messages * 35;
          }
        });
  }

  private Jar.Running consume(Node node, String group, String member, String... more) {
    List<String> args = new ArrayList<>(List.of("consume", "lines", "--group", group));
    args.addAll(List.of("--member", member, "--format", "json", "--cluster", node.cluster()));
    args.addAll(List.of(more));
    var running = Jar.startInCrowd(directory, group + "-" + member, args.toArray(String[]::new));
    started.add(running);
    return running;
  }

  private static void awaitDelayed(Node node, long messages) {
    Wait.until(
        "delayed messages wait",
        () -> new JsonObject(node.read("/api/topics/lines")).getLong("delayed", 0L) >= messages);
  }

  /** Every group has printed more than now. */
  private static void awaitPrinted(Map<String, List<Jar.Running>> groups) {
    Map<String, Integer> before = new TreeMap<>();
    groups.forEach((mode, members) -> before.put(mode, printed(members)));
    groups.forEach(
        (mode, members) ->
            Awaitility.await(mode + " goes on")
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(100))
                .until(() -> printed(members) > before.get(mode) + 100));
  }

  private static void awaitLines(String mode, List<Jar.Running> members, long lines) {
    Awaitility.await(mode + " has got all")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(200))
        .conditionEvaluationListener(any -> {})
        .until(() -> printed(members), printed -> printed >= lines);
  }

  private static int printed(List<Jar.Running> members) {
    return members.stream().mapToInt(each -> (int) each.out().lines().count()).sum();
  }

  /** Of each message, where it is; every line is there once. */
  private static Set<String> places(List<Jar.Running> members) {
    Set<String> places = new HashSet<>();
    for (Jar.Running member : members) {
      member
          .out()
          .lines()
          .map(JsonObject::new)
          .forEach(
              line ->
                  assertThat(places.add(line.getInteger("shard") + "/" + line.getLong("offset")))
                      .as("twice: %s", line)
                      .isTrue());
    }
    return places;
  }

  private Jar.Running member(Node node, String name, Path handled) {
    Jar.Running running =
        Program.start(
            directory,
            name,
            Program.clientClassPath(),
            ReshardMember.class.getName(),
            words("%s lines g %s %s", node.cluster(), name, handled));
    started.add(running);
    Wait.until(name + " joins", () -> running.out().contains("joined"));
    return running;
  }

  private Jar.Running produce(Node node, String name, String... more) {
    List<String> args = new ArrayList<>(List.of("produce", "lines", "--key-regex"));
    args.addAll(List.of(Lines.KEY_REGEX, "--cluster", node.cluster()));
    args.addAll(List.of(more));
    args.add("-");
    Jar.Running producer = Jar.startFed(directory, name, args.toArray(String[]::new));
    started.add(producer);
    return producer;
  }

  private void reshard(Node node, int shards) {
    long from = System.currentTimeMillis();
    Jar.Result done = node.admin("topic", "reshard", "lines", "--shards", String.valueOf(shards));
    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out().strip()).isEqualTo("topic lines has " + shards + " shards now");
    changes.add(new long[] {from, System.currentTimeMillis()});
  }

  /** Every open shard has an owner, and no sealed one. */
  private static void awaitOwned(Node node, int shards) {
    Wait.until(
        "the group owns " + shards + " shards",
        () ->
            node.shards("g").stream().filter(shard -> shard.getString("owner") != null).count()
                == shards);
  }

  /** Waits until a thousand messages more than now are handled. */
  private static void awaitMore(Path handled) {
    long[] before = {-1};
    Wait.until(
        "messages are handled",
        () -> {
          long bytes = Files.exists(handled) ? Files.size(handled) : 0;
          before[0] = before[0] < 0 ? bytes : before[0];
          return bytes > before[0] + 100_000;
        });
  }

  private void judge(Path handled, long lines) throws IOException {
    Map<String, Long> ended = new HashMap<>();
    Set<String> places = new HashSet<>();
    List<Long> ages = new ArrayList<>();
    List<Long> agesInChange = new ArrayList<>();
    long begun = 0;
    for (String line : Files.readAllLines(handled)) {
      String[] words = line.split(" ");
      long number = Long.parseLong(words[2]);
      assertThat(words[0]).as(line + " " + Arrays.toString(words)).isNotEqualTo("X");
      if (words[0].equals("E")) {
        ended.merge(words[1], number + 1, Math::max);
        continue;
      }
      begun++;
      assertThat(number)
          .as("those of its key before it have ended: %s", line)
          .isLessThanOrEqualTo(ended.getOrDefault(words[1], 0L));
      if (!places.add(words[3] + "/" + words[4])) {
        continue;
      }
      long sent = Long.parseLong(words[6]);
      long age = Long.parseLong(words[7]) - sent;
      ages.add(age);
      if (changes.stream().anyMatch(change -> sent >= change[0] && sent <= change[1])) {
        agesInChange.add(age);
      }
    }
    assertThat(ended.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(lines);
    assertThat(places).hasSize((int) lines);
    System.err.printf(
        "ReshardIT: %d messages, %d begun again; from send to handler %s, while shards change %s%n",
        lines, begun - lines, percentiles(ages), percentiles(agesInChange));
  }

  private static String percentiles(List<Long> ages) {
    ages.sort(null);
    return "p50 %d ms, p99 %d ms, max %d ms (%d)"
        .formatted(
            ages.get(ages.size() / 2),
            ages.get((int) (ages.size() * 0.99)),
            ages.get(ages.size() - 1),
            ages.size());
  }

  private void assertLogIsWhole(Node node, long lines) {
    Jar.Running reader =
        Jar.start(
            directory,
            "reader",
            "consume",
            "lines",
            "--group",
            "later",
            "--from",
            "earliest",
            "--format",
            "json",
            "--idle-exit",
            "5s",
            "--cluster",
            node.cluster());
    started.add(reader);
    Jar.Result read = reader.await();
    assertThat(read.status()).as(read.err()).isZero();
    Map<String, Long> next = new HashMap<>();
    read.out()
        .lines()
        .forEach(
            line -> {
              String[] words = new JsonObject(line).getString("payload").split(" ");
              long expected = next.merge(words[0], 1L, Long::sum) - 1;
              assertThat(Long.parseLong(words[1])).as(line).isEqualTo(expected);
            });
    assertThat(next.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(lines);
  }
}
