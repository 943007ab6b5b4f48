package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An election among processes that die, are stopped, end in good order and resign. Terms grow, no
 * term has two leaders, and no work of a term overlaps with other work of it. {@code
 * -Devenkeel.electionRuns=N} does each of it N times.
 */
@Timeout(900)
class ElectionIT {
  private static final int RUNS = Integer.getInteger("evenkeel.electionRuns", 1);
  private static final String ELECTION = "nightly";

  @TempDir Path directory;
  @Closing private Node node;
  @Closing private FencedDatabase database;
  private final Map<String, Jar.Running> programs = new LinkedHashMap<>();
  private int starts;

  @BeforeEach
  void start() throws Exception {
    node = new Node(directory.resolve("node")).start();
    database = new FencedDatabase();
  }

  /** At once, held ones too. */
  @AfterEach
  void end() {
    programs.values().forEach(running -> running.process.destroyForcibly());
  }

  private void start(String member, String... more) {
    String[] args =
        Stream.concat(
                Stream.of(node.cluster(), ELECTION, member, String.valueOf(database.port())),
                Stream.of(more))
            .toArray(String[]::new);
    programs.put(
        member,
        Program.start(
            directory,
            member + "-" + ++starts,
            Program.clientClassPath(),
            "examples.ElectionExample",
            args));
  }

  private void startThree(String... more) {
    Stream.of("a", "b", "c").forEach(member -> start(member, more));
    awaitCandidates();
  }

  private void awaitCandidates() {
    LeaderGroup.await(
        "three candidates, and a leader",
        () -> {
          HttpResponse<String> answer = node.get("/api/groups/" + ELECTION);
          if (answer.statusCode() != 200) {
            return false;
          }
          JsonObject group = new JsonObject(answer.body());
          return group.getJsonArray("members").size() == 3
              && group.getJsonObject("singleton").getString("leader") != null;
        });
  }

  /** A leader that has worked, not to be caught while it begins. */
  private FencedDatabase.Row working(long afterTerm) {
    LeaderGroup.await(
        "work after term " + afterTerm,
        () ->
            database.rows().stream()
                .anyMatch(
                    row -> row.taken() && row.term() > afterTerm && row.text().equals("ends")));
    return database.last();
  }

  /** The rows of a term are of one member, in their order, one after another. */
  private void check() {
    Map<Long, List<FencedDatabase.Row>> terms = new HashMap<>();
    long highest = 0;
    for (FencedDatabase.Row row : database.rows()) {
      if (row.taken()) {
        assertThat(row.term()).as("terms grow: %s", row).isGreaterThanOrEqualTo(highest);
        highest = row.term();
      }
      terms.computeIfAbsent(row.term(), term -> new ArrayList<>()).add(row);
    }
    terms.forEach(
        (term, rows) -> {
          assertThat(rows.stream().map(FencedDatabase.Row::member).distinct())
              .as("leaders of term %s", term)
              .hasSize(1);
          String text = String.join(" ", rows.stream().map(FencedDatabase.Row::text).toList());
          assertThat(text)
              .as("the work of term %s", term)
              .matches("inaugurate( begins ends)*( begins)?( handOver)?");
        });
  }

  /** The last row of a term that was handed over comes before the first of the next. */
  private void checkHandedOver(long term) {
    List<FencedDatabase.Row> rows = database.rows();
    FencedDatabase.Row next = database.firstAfter(term);
    assertThat(rows.subList(0, next.number()))
        .filteredOn(row -> row.term() == term)
        .last()
        .extracting(FencedDatabase.Row::text)
        .isEqualTo("handOver");
    assertThat(rows.subList(next.number(), rows.size())).noneMatch(row -> row.term() == term);
  }

  @Test
  void oneLeadsThroughKillsAndHangsAndEndsInGoodOrder() throws Exception {
    startThree();
    for (int run = 0; run < RUNS; run++) {
      FencedDatabase.Row killed = working(database.last() == null ? 0 : database.last().term() - 1);
      programs.get(killed.member()).kill();
      FencedDatabase.Row second = working(killed.term());
      assertThat(second.member()).isNotEqualTo(killed.member());
      start(killed.member());
      awaitCandidates();

      Jar.Running hung = programs.get(second.member()).mayPause();
      LevelGroup.signal(hung, "STOP");
      FencedDatabase.Row third = working(second.term());
      assertThat(third.member()).isNotEqualTo(second.member());
      LevelGroup.signal(hung, "CONT");
      LeaderGroup.await("it knows", () -> hung.out().contains("lost the lead of term"));
      assertThat(database.rows())
          .filteredOn(row -> row.taken() && row.term() == second.term())
          .allMatch(row -> row.number() < database.firstAfter(second.term()).number());
      awaitCandidates();

      Jar.Result ended = programs.get(third.member()).stop();
      assertThat(ended.status()).as(ended.toString()).isEqualTo(143);
      working(third.term());
      checkHandedOver(third.term());
      start(third.member());
      awaitCandidates();
    }
    check();
  }

  @Test
  void whoResignsHandsOverToTheNext() {
    startThree("5");
    long term = working(0).term();
    for (int run = 0; run < 6 * RUNS; run++) {
      long before = term;
      term = working(before).term();
      checkHandedOver(before);
    }
    check();
    assertThat(database.rows()).allMatch(FencedDatabase.Row::taken);
    assertThat(database.rows().stream().map(FencedDatabase.Row::member).distinct()).hasSize(3);
  }
}
