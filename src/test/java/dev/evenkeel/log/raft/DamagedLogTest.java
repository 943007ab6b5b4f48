package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log of a running leader rots on its disk, where a follower needs it. */
class DamagedLogTest {
  private static final int ENTRIES = 44;

  @TempDir Path temp;
  private final ThreeTestNodes nodes = new ThreeTestNodes(() -> temp);

  @AfterEach
  void stop() {
    nodes.close();
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
    List<TestNode> both = List.copyOf(nodes.running.values());
    long written = nodes.d0(nodes.leader()).status().commitIndex();
    // Applying looks into the file as well.
    Wait.until(() -> both.stream().allMatch(n -> n.d0().status().appliedIndex() >= written));
    each(both, DamagedLogTest::spoilBodies);
    nodes.start(away);
    long last = nodes.d0(nodes.leader()).status().commitIndex();
    Wait.until(() -> nodes.d0(away).leadership().leader() != null);
    assertThat(nodes.d0(away).status().appliedIndex()).isLessThan(last);
    assertThat(both).allMatch(node -> node.d0().elections().eligibility().eligible());
    for (TestNode node : both) {
      // Twice gives the bytes as they were.
      spoilBodies(node);
    }
    Wait.until(() -> nodes.d0(away).status().appliedIndex() >= last);
    assertThat(both).allMatch(node -> node.d0().elections().eligibility().eligible());
  }

  /** Starts three nodes, stops one of the followers, and writes large entries. */
  private String leaveOneBehind() throws Exception {
    nodes.startAll();
    Appends appends = new Appends(() -> nodes.d0(nodes.leader()));
    appends.append("first");
    String away = nodes.follower();
    nodes.stop(away);
    String large = "x".repeat(1 << 20);
    times(ENTRIES, i -> appends.append(large + i));
    return away;
  }

  private void leaderIsSpoilt(Spoiler spoiler) throws Exception {
    String away = leaveOneBehind();
    // Either of them may lead by then; it is still in memory that the newest segments are.
    String damaged = nodes.leader();
    spoiler.spoil(nodes.running.get(damaged));
    nodes.start(away);
    LogGroup bad = nodes.d0(damaged);
    Wait.until(() -> !bad.elections().eligibility().eligible() || !damaged.equals(nodes.leader()));
    if (damaged.equals(nodes.leader())) {
      assertThat(bad.elections().eligibility().reasons()).containsOnlyKeys(Reason.DAMAGED);
      assertThat(bad.elections().eligibility().reasons().get(Reason.DAMAGED))
          .matches("an entry of the log that . needs cannot be read: .*");
    }
    String sound =
        nodes.running.keySet().stream()
            .filter(id -> !id.equals(damaged) && !id.equals(away))
            .findFirst()
            .orElseThrow();
    Wait.until(
        () ->
            sound.equals(nodes.leader())
                || TestNode.refused(nodes.d0(nodes.leader()).elections().handLeadershipTo(sound))
                    == null);
    Wait.until(
        () ->
            nodes.d0(away).status().appliedIndex() >= nodes.d0(sound).status().commitIndex()
                && nodes.d0(sound).status().commitIndex() > ENTRIES);
    assertThat(nodes.d0(sound).elections().eligibility().eligible()).isTrue();
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
}
