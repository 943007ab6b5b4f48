package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes go from the previous release to this one, back, and forth again, one after another,
 * while producers and consumers of both work. Nobody loses a message or sees a failed request.
 */
@Tag("upgrade")
class UpgradeIT {
  private static final Path PREVIOUS =
      Path.of(System.getProperty("evenkeel.previous.jar", "target/previous/evenkeel.jar"))
          .toAbsolutePath();

  /** The highest level that the previous release reads. */
  private static final int PREVIOUS_LEVEL = 8;

  private static final List<String> HELD =
      List.of("-Xmx512m", "-Devenkeel.feature.level.max=" + PREVIOUS_LEVEL);
  private static final int KEYS = 50;
  private static final int RATE = 300;

  @TempDir Path directory;

  private final List<Jar.Running> started = new ArrayList<>();

  /** A topic, who produces to it, and the members of a group of both releases. */
  private final class Work {
    final String topic;
    final Jar.Running producer;
    final Feeder feeder;
    final List<Jar.Running> members;

    Work(Trio trio, String topic, Path jar) {
      this.topic = topic;
      members =
          List.of(consume(trio, topic, "previous", PREVIOUS), consume(trio, topic, "now", Jar.JAR));
      producer =
          client(
              jar,
              "producer-" + topic,
              words(
                  "produce %s --key-regex %s --rate %s --cluster %s -",
                  topic, Lines.KEY_REGEX, RATE, trio.cluster()));
      feeder = new Feeder(producer.process.getOutputStream(), KEYS);
    }

    /** Each member gets messages, now. */
    void awaitProgress() {
      for (Jar.Running member : members) {
        long before = member.out().lines().count();
        Wait.until(
            topic + " goes on at " + member.out.getFileName(),
            () -> member.out().lines().count() > before + RATE / 4);
      }
    }

    void finish(Node node) {
      long lines = feeder.finish();
      producer.awaitAcked(lines);
      node.awaitConsumed("g-" + topic, lines);
      members.forEach(Jar.Running::stopWell);
      assertWhole(lines);
    }

    /** Every key's lines are there once, in order; each member got those of an epoch in order. */
    private void assertWhole(long lines) {
      Map<Integer, TreeMap<Long, String>> shards = new TreeMap<>();
      long handled = 0;
      for (Jar.Running member : members) {
        Map<String, Long> last = new HashMap<>();
        for (String line : member.out().lines().toList()) {
          JsonObject json = new JsonObject(line);
          handled++;
          int shard = json.getInteger("shard");
          long offset = json.getLong("offset");
          Long former = last.put(shard + "@" + json.getLong("epoch"), offset);
          assertThat(former == null || former < offset).as(line).isTrue();
          String before =
              shards
                  .computeIfAbsent(shard, none -> new TreeMap<>())
                  .put(offset, json.getString("payload"));
          assertThat(before == null || before.equals(json.getString("payload"))).as(line).isTrue();
        }
      }
      Map<String, Long> next = new HashMap<>();
      shards.forEach(
          (shard, messages) ->
              messages.forEach(
                  (offset, payload) -> {
                    String[] words = payload.split(" ");
                    long expected = next.merge(words[0], 1L, Long::sum) - 1;
                    assertThat(Long.parseLong(words[1])).as(payload).isEqualTo(expected);
                  }));
      assertThat(next.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(lines);
      System.err.printf(
          "UpgradeIT: %s: %d messages, %d handled again%n", topic, lines, handled - lines);
    }
  }

  @Test
  @Timeout(900)
  void aClusterGoesForthAndBackUnderLoad() {
    assertThat(PREVIOUS).as("made by mvn -Pupgrade verify").exists();
    try (Trio trio = new Trio(directory)) {
      trio.nodes.forEach(node -> node.of(PREVIOUS));
      trio.start();
      Node asked = trio.node(1);
      asked.createTopic("previous", 6);
      asked.createTopic("now", 6);
      Work previous = new Work(trio, "previous", PREVIOUS);
      Work now = new Work(trio, "now", Jar.JAR);
      awaitProgress(previous, now);

      for (Node node : trio.nodes) {
        restart(trio, node, Jar.JAR, HELD);
        awaitProgress(previous, now);
      }
      assertThat(level(asked)).as("is held").isEqualTo(PREVIOUS_LEVEL);
      for (Node node : trio.nodes) {
        restart(trio, node, PREVIOUS, List.of("-Xmx512m"));
        awaitProgress(previous, now);
      }
      for (Node node : trio.nodes) {
        restart(trio, node, Jar.JAR, List.of("-Xmx512m"));
        awaitProgress(previous, now);
      }
      Wait.until("every node reads the newest level", () -> level(asked) == FeatureLevel.NEWEST);
      awaitProgress(previous, now);
      previous.finish(asked);
      now.finish(asked);
      // What is new in this release works with what the previous one has written.
      asked.admin("topic", "reshard", "now", "--shards", "2");
      asked.send("now", List.of("one more"));
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private static void awaitProgress(Work... works) {
    each(works, work -> work.awaitProgress());
  }

  private static void restart(Trio trio, Node node, Path jar, List<String> options) {
    assertThat(node.stop().status()).as(node.process().err()).isZero();
    node.of(jar).inJvm(options).start();
    trio.awaitCaughtUp(node);
  }

  private static int level(Node node) {
    return new JsonObject(node.read("/api/cluster")).getInteger("featureLevel", 0);
  }

  private Jar.Running consume(Trio trio, String topic, String member, Path jar) {
    return Jar.unfed(
        client(
            jar,
            "consumer-" + topic + "-" + member,
            words(
                "consume %s --group g-%s --member %s --format json --cluster %s",
                topic, topic, member, trio.cluster())));
  }

  private Jar.Running client(Path jar, String name, String... args) {
    Jar.Running running =
        Jar.startJar(jar, Surroundings.NONE, directory, name, Jar.CROWD_OPTIONS, args).inCrowd();
    started.add(running);
    return running;
  }
}
