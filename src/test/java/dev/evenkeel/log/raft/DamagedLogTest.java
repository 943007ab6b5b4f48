package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.protocol.files.DurableFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log of a running leader rots on its disk, where a follower needs it. */
class DamagedLogTest {
  private static final int ENTRIES = 44;

  @TempDir Path temp;
  private final List<LogSettings.Peer> peers =
      List.of("a", "b", "c").stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();
  private final Map<String, TestNode> nodes = new TreeMap<>();

  @AfterEach
  void stop() {
    nodes.values().forEach(TestNode::close);
  }

  private interface Spoiler {
    void spoil(TestNode node) throws IOException;
  }

  @Test
  void aLeaderThatCannotReadItsLogSaysSoAndAnotherBringsTheFollowerUpToDate() throws Exception {
    leaderIsSpoilt(DamagedLogTest::spoilClosedSegments);
  }

  /** Whoever keeps the bodies mends them: no other node needs to lead. */
  @Test
  void aLeaderThatCannotReadBodiesLeadsOnAndItsFollowerGetsThemWhenTheyAreMended()
      throws Exception {
    String away = leaveOneBehind();
    List<TestNode> both = List.copyOf(nodes.values());
    long written = d0(leader()).status().commitIndex();
    // Applying looks into the file as well.
    await()
        .atMost(TestNode.PATIENCE)
        .until(() -> both.stream().allMatch(n -> n.d0().status().appliedIndex() >= written));
    for (TestNode node : both) {
      spoilBodies(node);
    }
    start(away);
    long last = d0(leader()).status().commitIndex();
    await().atMost(TestNode.PATIENCE).until(() -> d0(away).leadership().leader() != null);
    assertThat(d0(away).status().appliedIndex()).isLessThan(last);
    assertThat(both).allMatch(node -> node.d0().eligibility().eligible());
    for (TestNode node : both) {
      // Twice gives the bytes as they were.
      spoilBodies(node);
    }
    await().atMost(TestNode.PATIENCE).until(() -> d0(away).status().appliedIndex() >= last);
    assertThat(both).allMatch(node -> node.d0().eligibility().eligible());
  }

  /** Starts three nodes, stops one of the followers, and writes large entries. */
  private String leaveOneBehind() throws Exception {
    for (String id : List.of("a", "b", "c")) {
      start(id);
    }
    Appends appends = new Appends(() -> d0(leader()));
    appends.append("first");
    String away = nodes.keySet().stream().filter(id -> !id.equals(leader())).findFirst().get();
    nodes.remove(away).close();
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < ENTRIES; i++) {
      appends.append(large + i);
    }
    return away;
  }

  private void leaderIsSpoilt(Spoiler spoiler) throws Exception {
    String away = leaveOneBehind();
    // Either of them may lead by then; it is still in memory that the newest segments are.
    String damaged = leader();
    spoiler.spoil(nodes.get(damaged));
    start(away);
    LogGroup bad = d0(damaged);
    await()
        .atMost(TestNode.PATIENCE)
        .until(() -> !bad.eligibility().eligible() || !damaged.equals(leader()));
    if (damaged.equals(leader())) {
      assertThat(bad.eligibility().reasons()).containsOnlyKeys(Reason.DAMAGED);
      assertThat(bad.eligibility().reasons().get(Reason.DAMAGED))
          .matches("an entry of the log that . needs cannot be read: .*");
    }
    String sound =
        nodes.keySet().stream()
            .filter(id -> !id.equals(damaged) && !id.equals(away))
            .findFirst()
            .orElseThrow();
    await()
        .atMost(TestNode.PATIENCE)
        .until(
            () ->
                sound.equals(leader())
                    || TestNode.refused(d0(leader()).handLeadershipTo(sound)) == null);
    await()
        .atMost(TestNode.PATIENCE)
        .until(
            () ->
                d0(away).status().appliedIndex() >= d0(sound).status().commitIndex()
                    && d0(sound).status().commitIndex() > ENTRIES);
    assertThat(d0(sound).eligibility().eligible()).isTrue();
  }

  /** A byte in each body that is on disk. */
  private static void spoilBodies(TestNode node) throws IOException {
    int spoilt = 0;
    Path directory = node.state("d0").bodiesDirectory();
    for (Path file : DurableFiles.list(directory)) {
      if (file.toString().endsWith(".seg")) {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
          for (long at = 1000; at < open.length(); at += 200_000) {
            open.seek(at);
            int old = open.read();
            open.seek(at);
            open.write(old ^ 1);
            spoilt++;
          }
        }
      }
    }
    assertThat(spoilt).isGreaterThan(ENTRIES);
  }

  /** A byte in the middle of each segment but the one that is open. */
  private static void spoilClosedSegments(TestNode node) throws IOException {
    int spoilt = 0;
    for (Path file : DurableFiles.list(node.groupDirectory("d0").resolve("current"))) {
      if (file.getFileName().toString().matches("log_\\d+-\\d+")) {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
          bytes.seek(bytes.length() / 2);
          int before = bytes.read();
          bytes.seek(bytes.length() / 2);
          bytes.write(before ^ 1);
        }
        spoilt++;
      }
    }
    assertThat(spoilt).isGreaterThan(3);
  }

  private void start(String id) throws LogStartException {
    Path home = temp.resolve(id);
    LogSettings settings = TestNode.settings(id, home, peers, 1, 1_000_000);
    nodes.put(id, new TestNode(settings, TestNode.live(home)));
  }

  private LogGroup d0(String id) {
    return nodes.get(id).d0();
  }

  private String leader() {
    return TestNode.leader(nodes);
  }
}
