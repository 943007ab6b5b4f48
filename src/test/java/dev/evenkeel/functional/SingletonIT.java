package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mode singleton in processes that die, are stopped, and resign: one at a time writes, and a
 * resource that checks the term takes nothing from a former leader. {@code -Pfull} kills 20 times.
 */
@Timeout(900)
class SingletonIT {
  private static final int KILLS = Integer.getInteger("evenkeel.leaderKills", 3);
  private static final List<String> NAMES = List.of("a", "b", "c");

  @TempDir Path directory;
  @Closing private Node node;
  @Closing private LeaderGroup group;

  @BeforeEach
  void start() throws Exception {
    node = new Node(directory.resolve("node")).start();
    node.createTopic(LeaderGroup.TOPIC, 3);
    group = new LeaderGroup(directory, node);
    NAMES.forEach(group::start);
    group.awaitMembers(NAMES.size());
    group.send(30);
  }

  private FencedDatabase.Row leader() {
    LeaderGroup.await("a leader", () -> group.database.last() != null);
    return group.database.last();
  }

  @Test
  void killedLeadersLeaveNoOverlap() throws Exception {
    List<Long> millis = new ArrayList<>();
    for (int kill = 0; kill < KILLS; kill++) {
      FencedDatabase.Row before = leader();
      group.send(100);
      LeaderGroup.await("it works", () -> group.database.last().number() > before.number() + 10);
      long begin = System.nanoTime();
      group.member(before.member()).kill();
      FencedDatabase.Row next = group.awaitLeaderAfter(before.term());
      assertThat(next.member()).isNotEqualTo(before.member());
      millis.add((next.nanos() - begin) / 1_000_000);
      group.start(before.member());
      group.awaitMembers(NAMES.size());
    }
    System.out.println("take-overs after kill -9, in ms: " + millis);
    group.awaitAllDone();
    group.check();
    assertThat(group.described().getJsonObject("singleton").getLong("term"))
        .isEqualTo(group.database.last().term());
    group.stopAll();
  }

  @Test
  @Tag("full")
  void aLeaderThatWasStoppedAndGoesOnIsRefused() throws Exception {
    FencedDatabase.Row before = leader();
    Jar.Running stopped = group.member(before.member()).mayPause();
    group.send("report 3000");
    LeaderGroup.await("it works on it", () -> stopped.out().contains("begins report"));
    long begin = System.nanoTime();
    LevelGroup.signal(stopped, "STOP");
    FencedDatabase.Row next = group.awaitLeaderAfter(before.term());
    System.out.println("take-over after SIGSTOP: " + (next.nanos() - begin) / 1_000_000 + " ms");
    assertThat(next.member()).isNotEqualTo(before.member());
    LevelGroup.signal(stopped, "CONT");
    LeaderGroup.await(
        "its writes are refused",
        () ->
            group.database.rows().stream()
                .anyMatch(row -> !row.taken() && row.term() == before.term()));
    LeaderGroup.await("it knows", () -> stopped.out().contains("lost the lead of term"));
    group.awaitAllDone();
    group.check();
    assertThat(group.database.rows())
        .filteredOn(row -> row.number() > next.number() && row.term() < next.term())
        .isNotEmpty()
        .noneMatch(FencedDatabase.Row::taken);
    group.stopAll();
  }

  @Tag("full")
  @Test
  void whoResignsHandsOverBeforeTheNextBegins() throws Exception {
    List<Long> millis = new ArrayList<>();
    for (int i = 0; i < 2 * NAMES.size(); i++) {
      FencedDatabase.Row before = leader();
      group.send(20);
      group.send("resign");
      group.send(20);
      FencedDatabase.Row next = group.awaitLeaderAfter(before.term());
      assertThat(next.member()).isNotEqualTo(before.member());
      List<FencedDatabase.Row> rows = group.database.rows().subList(0, next.number());
      FencedDatabase.Row last = rows.get(rows.size() - 1);
      assertThat(last.text()).as("before %s", next).isEqualTo("handOver");
      assertThat(last.term()).isEqualTo(before.term());
      FencedDatabase.Row asked =
          rows.stream().filter(row -> row.text().equals("resign")).reduce((x, y) -> y).get();
      millis.add((next.nanos() - asked.nanos()) / 1_000_000);
    }
    Collections.sort(millis);
    System.out.println(
        "take-overs from the end of the message that resigned, which takes 20 ms, in ms: "
            + millis);
    group.awaitAllDone();
    group.check();
    assertThat(group.database.rows()).allMatch(FencedDatabase.Row::taken);
    group.stopAll();
  }

  @Tag("full")
  @Test
  void aForcedResetIsAHandOverBeforeAllComesAgain() throws Exception {
    FencedDatabase.Row before = leader();
    group.send(50);
    group.awaitAllDone();
    node.admin("group", "reset", LeaderGroup.GROUP, "--to", "earliest", "--force");
    FencedDatabase.Row next = group.awaitLeaderAfter(before.term());
    List<FencedDatabase.Row> rows = group.database.rows();
    FencedDatabase.Row last = rows.get(next.number() - 1);
    assertThat(last.text()).as("before %s", next).isEqualTo("handOver");
    assertThat(last.term()).isEqualTo(before.term());
    LeaderGroup.await(
        "all messages again",
        () ->
            group.database.rows().stream()
                    .filter(row -> row.term() == next.term() && row.text().startsWith("job-"))
                    .map(FencedDatabase.Row::text)
                    .distinct()
                    .count()
                == 80);
    group.check();
    assertThat(group.database.rows()).allMatch(FencedDatabase.Row::taken);
    assertThat(group.member(before.member()).out()).doesNotContain("lost the lead");
    group.stopAll();
  }
}
