package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * All ways of consuming at once on one topic, for {@code evenkeel.soakSeconds} (in the full form
 * ten minutes), with failures, delays, limits of rate and retention: heap, native memory, threads
 * and files of the node and of every client stay flat, and nothing is left behind.
 */
@Timeout(1_800)
@Tag("full")
class SoakIT {
  private static final int SECONDS = Integer.getInteger("evenkeel.soakSeconds", 60);
  private static final int SAMPLES = 12;
  private static final int RATE = 100;
  private static final String TOPIC = "soak";

  /** Heaps that are there from the beginning, so that what else grows shows. */
  private static final List<String> FIXED_HEAP =
      List.of(
          words("-Xms192m -Xmx192m -XX:+AlwaysPreTouch -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"));

  @TempDir Path directory;

  private final Map<String, Jar.Running> running = new LinkedHashMap<>();

  @Test
  void nothingGrowsWhileAllModesRunAtOnce() throws Exception {
    try (Node node = new Node(directory.resolve("node")).inJvm(FIXED_HEAP).start()) {
      node.admin("topic", "create", TOPIC, "--shards", "6", "--retention", "30s");
      consume(node, "sharded-1", "sharded", failing());
      consume(node, "sharded-2", "sharded", failing());
      consume(node, "level-1", "level", "--mode", "level", "--range", "50");
      consume(node, "level-2", "level", "--mode", "level", "--range", "50");
      consume(node, "dedup", "dedup", "--dedup", "key", "--order", "key");
      consume(node, "single-1", "single", "--mode", "singleton");
      consume(node, "single-2", "single", "--mode", "singleton");
      String offsets = directory.resolve("offsets").toString();
      consume(node, "all", "all", "--mode", "broadcast", "--offsets", offsets);
      consume(node, "limited", "limited", "--order", "key", "--key-rate", "100/s");
      try {
        Jar.Running producer =
            start(
                "producer",
                "produce",
                TOPIC,
                "--key-regex",
                Lines.KEY_REGEX,
                "--rate",
                String.valueOf(RATE),
                "--spool",
                directory.resolve("spool").toString(),
                "--cluster",
                node.cluster(),
                // More than is needed: looking takes time, too, and all must live until the last.
                Lines.write(directory.resolve("input.log"), 10 * RATE * SECONDS, 200).toString());
        running.put("node", node.process());
        Map<String, List<Footprint>> samples = new LinkedHashMap<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
          long due = (long) RATE * SECONDS * (sample + 1) / (SAMPLES + 1);
          Wait.until(600, () -> node.written(TOPIC) >= due);
          for (Map.Entry<String, Jar.Running> each : running.entrySet()) {
            samples
                .computeIfAbsent(each.getKey(), any -> new ArrayList<>())
                .add(Footprint.of(each.getValue().process.pid()));
          }
        }
        samples.forEach((name, taken) -> System.out.println(name + " " + taken.get(SAMPLES - 1)));
        assertThat(producer.stop().status()).isZero();
        for (String group : List.of("sharded", "level", "dedup", "single", "limited")) {
          Wait.untilAsserted(180, () -> assertThat(node.lag(group)).as(group).isZero());
        }
        samples.forEach(
            (name, taken) -> assertThat(Footprint.grown(taken)).as(name + " " + taken).isEmpty());
      } finally {
        running.remove("node");
        running.values().forEach(Jar.Running::close);
      }
    }
  }

  private void consume(Node node, String member, String group, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "consume",
                TOPIC,
                "--group",
                group,
                "--member",
                member,
                "--cluster",
                node.cluster()));
    args.addAll(List.of(more));
    start(member, args.toArray(String[]::new));
  }

  private Jar.Running start(String name, String... args) {
    Jar.Running process = Jar.startWith(directory, name, FIXED_HEAP, args);
    running.put(name, process.inCrowd());
    return process;
  }

  /** Every hundredth message fails for good. */
  private static String[] failing() {
    return new String[] {
      "--order",
      "key",
      "--retry-delays",
      "200ms,1s",
      "--exec",
      "case $(cat) in *00\\ 200) exit 1;; esac"
    };
  }
}
