package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Twelve shards, 2,000 messages a second with a sequence a key, a millisecond of work a message: a
 * consumer joins, one leaves, one is killed.
 */
class RebalanceIT {
  private static final int KEYS = 200;

  /** Finished and not committed: 1,000 messages; begun and not finished: one hand-out. */
  private static final int UNCOMMITTED_MAX = 1_000 + 32;

  @TempDir Path directory;

  private final List<Jar.Running> started = new ArrayList<>();

  @Test
  void joinsAndLeavesMoveLittleAndRepeatNothingAndAKillRepeatsWhatWasUncommitted()
      throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("steady", 12);
      Members members = new Members(node, "workers");
      Jar.Running a = member(node, "a");
      Jar.Running b = member(node, "b");
      member(node, "c");
      members.awaitCounts(Map.of("a", 4, "b", 4, "c", 4));
      Jar.Running producer =
          Jar.startFed(
              directory,
              "producer",
              words(
                  "produce steady --rate 2000 --key-regex %s --cluster %s -",
                  Lines.KEY_REGEX, node.cluster()));
      Feeder feeder = new Feeder(producer.process.getOutputStream(), KEYS);
      awaitHandled(1_000);

      Map<Integer, String> before = members.owners();
      member(node, "d");
      Map<Integer, String> joined = members.awaitCounts(Map.of("a", 3, "b", 3, "c", 3, "d", 3));
      assertThat(Members.moves(before, joined)).as("moves of a join").isEqualTo(3);
      awaitHandled(handled().distinct() + 2_000);

      assertThat(a.stop().status()).isZero();
      Map<Integer, String> left = members.awaitCounts(Map.of("b", 4, "c", 4, "d", 4));
      assertThat(Members.moves(joined, left)).as("moves of a leave").isEqualTo(3);
      awaitHandled(handled().distinct() + 2_000);
      assertThat(handled().twice()).as("repeated by graceful moves").isEmpty();

      b.kill();
      members.awaitCounts(Map.of("c", 6, "d", 6));
      awaitHandled(handled().distinct() + 2_000);
      feeder.close();
      long sent = feeder.finish();
      assertThat(producer.await().status()).isZero();
      node.awaitConsumed("workers", sent);
      for (Jar.Running running : started) {
        if (running.process.isAlive()) {
          assertThat(running.stop().status()).isZero();
        }
      }
      Handled all = handled();
      all.assertComplete(sent);
      Set<Integer> killed = new HashSet<>(left.keySet());
      killed.removeIf(shard -> !left.get(shard).equals("b"));
      assertThat(killed).containsAll(all.twice().keySet());
      assertThat(all.twice().values())
          .allSatisfy(offsets -> assertThat(offsets).hasSizeLessThanOrEqualTo(UNCOMMITTED_MAX));
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private Jar.Running member(Node node, String name) {
    Jar.Running running =
        Jar.startInCrowd(
            directory,
            name,
            "bench",
            "rebalance-member",
            "--topic",
            "steady",
            "--group",
            "workers",
            "--member",
            name,
            // One that only waits for a processor is not lost: this is about moves that are asked
            // for, and about one that is killed, which is noticed by its connection.
            "--member-timeout",
            "20s",
            "--cluster",
            node.cluster());
    started.add(running);
    return running;
  }

  private Handled handled() {
    return new Handled(Lines.read(started.stream().map(running -> running.out).toList()));
  }

  private void awaitHandled(int count) {
    Awaitility.await(count + " messages are handled")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(500))
        .until(() -> lines() >= count && handled().distinct() >= count);
  }

  /** No fewer than messages are handled, and much cheaper to know. */
  private long lines() {
    long lines = 0;
    for (Jar.Running running : started) {
      for (byte each : bytes(running.out)) {
        lines += each == '\n' ? 1 : 0;
      }
    }
    return lines;
  }

  private static byte[] bytes(Path file) {
    return Unchecked.get(() -> Files.readAllBytes(file));
  }
}
