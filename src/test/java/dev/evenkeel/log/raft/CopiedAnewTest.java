package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Wait;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.StartAgainException;
import dev.evenkeel.util.files.ByteRate;
import dev.evenkeel.util.files.DurableFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log or the index of one node of three rots on its disk, and the node copies both anew. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CopiedAnewTest {
  private static final int ROUNDS = 4 * Math.max(1, Integer.getInteger("evenkeel.rounds", 1));

  private static final int ELECTIONS = 8;

  @TempDir Path temp;
  private final long seed = Long.getLong("evenkeel.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final ThreeTestNodes nodes = new ThreeTestNodes(() -> temp);
  private final Appends appends = new Appends(() -> nodes.d0(nodes.leader()));

  @AfterEach
  void stop() {
    nodes.close();
  }

  @Tag("full")
  @Test
  void bytesThatFlipAtRandomPlacesOfLogAndIndexCostNothing() throws Exception {
    System.out.println("seed " + seed);
    nodes.startAll();
    for (int round = 0; round < ROUNDS; round++) {
      appendSome();
      String rotten = ThreeTestNodes.IDS.get(random.nextInt(ThreeTestNodes.IDS.size()));
      Path log = nodes.running.get(rotten).groupDirectory("d0").resolve("current");
      nodes.stop(rotten);
      appendSome();
      List<Path> files = new ArrayList<>();
      switch (random.nextInt(3)) {
        case 0 -> files.addAll(matching(log, "log_.*"));
        case 1 -> files.addAll(matching(live(rotten), ".*[.]sst|MANIFEST.*|CURRENT"));
        default -> {
          files.addAll(matching(log, "log_.*"));
          files.addAll(matching(live(rotten), ".*[.]sst"));
        }
      }
      times(5, i -> flip(files.get(random.nextInt(files.size()))));
      nodes.start(rotten);
      appendSome();
      awaitWhole();
    }
  }

  @Test
  @Tag("full")
  void aNodeThatStopsWhileItCopiesGoesOnAndHasNoVoteUntilThen() throws Exception {
    nodes.startAll();
    appendSome();
    String rotten = nodes.follower();
    spoilLog(rotten);
    // It cannot copy without a leader, and a leader needs its vote.
    String other = nodes.follower();
    TestNode lonely = nodes.running.get(nodes.leader());
    nodes.stop(other);
    Wait.until(() -> !lonely.d0().leadership().ready());
    for (int i = 0; i < 3; i++) {
      nodes.start(rotten);
      assertThat(Files.readString(mark(rotten))).contains("copying above");
      assertThat(nodes.running.get(rotten).d0().elections().eligibility().reasons())
          .containsKey(Reason.DAMAGED);
      awaitElections(rotten);
      assertThat(nodes.running.values()).noneMatch(node -> node.d0().leadership().ready());
      nodes.stop(rotten);
    }
    nodes.start(rotten);
    nodes.start(other);
    appendSome();
    awaitWhole();
    assertThat(nodes.d0(rotten).copy().copiedAnew()).isEqualTo(1);
    assertThat(mark(rotten)).doesNotExist();
    assertThat(mark(rotten).resolveSibling("d0.files")).doesNotExist();
  }

  /**
   * A node that has copied a part of the log, and the leader, had acknowledged an entry that the
   * third node lacks. The leader goes, and the two others ask each other for votes: with one of
   * them the entry would be lost.
   */
  @Test
  void anEntryThatTheDamagedNodeHadAcknowledgedSurvives() throws Exception {
    System.out.println("seed " + seed);
    nodes.startAll();
    appends.append("before");
    appendSome();
    awaitWhole();
    String leader = nodes.leader();
    String rotten = nodes.follower();
    Path log = nodes.running.get(rotten).groupDirectory("d0");
    Path home = nodes.home(rotten);
    nodes.stop(rotten);
    // What it will have copied.
    List<Path> parts =
        List.of(
            log, home.resolve("live/d0"), home.resolve("bodies/d0"), home.resolve("log/applied"));
    times(parts.size(), i -> copy(parts.get(i), temp.resolve("part" + i)));
    nodes.start(rotten);
    String behind =
        ThreeTestNodes.IDS.stream()
            .filter(id -> !id.equals(leader) && !id.equals(rotten))
            .findFirst()
            .get();
    nodes.stop(behind);
    appends.append("acknowledged by the rotten one");
    nodes.stop(leader);
    nodes.stop(rotten);

    Path metadata = log.resolve("current/raft-meta");
    byte[] termAndVote = Files.readAllBytes(metadata);
    for (int i = 0; i < parts.size(); i++) {
      DurableFiles.deleteTree(parts.get(i));
      copy(temp.resolve("part" + i), parts.get(i));
    }
    Files.write(metadata, termAndVote);
    Properties properties = new Properties();
    properties.load(new ByteArrayInputStream(termAndVote));
    Files.createDirectories(mark(rotten).getParent());
    Files.writeString(mark(rotten), "rot\ncopying above " + properties.get("term") + "\n");

    nodes.start(rotten);
    nodes.start(behind);
    awaitElections(rotten);
    assertThat(nodes.running.values()).noneMatch(node -> node.d0().leadership().ready());
    nodes.start(leader);
    appends.append("after");
    awaitWhole();
    assertThat(mark(rotten)).doesNotExist();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      each(files.toList(), file -> Files.copy(file, to.resolve(from.relativize(file).toString())));
    }
  }

  @Tag("full")
  @Test
  void withTwoDamagedCopiesNobodyServesAndTheFilesAreStillThere() throws Exception {
    nodes.startAll();
    appendSome();
    String leader = nodes.leader();
    List<String> rotten = ThreeTestNodes.IDS.stream().filter(id -> !id.equals(leader)).toList();
    nodes.stop(leader);
    each(rotten, id -> spoilLog(id));
    nodes.startAll();
    rotten.forEach(id -> awaitElections(id));
    assertThat(nodes.running.values()).noneMatch(node -> node.d0().leadership().ready());
    for (String id : rotten) {
      assertThat(mark(id).resolveSibling("d0.files").resolve("1/bodies")).isDirectory();
      assertThat(matching(mark(id).resolveSibling("d0.files").resolve("1"), "log_.*")).isNotEmpty();
    }
    // The operator puts the files of one back; that of the leader would do, too.
    nodes.running.values().forEach(node -> assertThat(node.node.failure()).isNotDone());
  }

  /** What the scrub finds, and nobody had read. */
  @Test
  void damageOfARunningNodeIsFoundAndGivenUpWhenAnotherLeads() throws Exception {
    nodes.startAll();
    appendSome();
    String rotten = nodes.follower();
    Path log = nodes.running.get(rotten).groupDirectory("d0").resolve("current");
    times(20, i -> appends.append("x".repeat(100_000)));
    Wait.until(() -> !matching(log, "log_\\d+-\\d+").isEmpty());
    nodes.d0(rotten).copy().checkFiles(new ByteRate(1L << 40));
    assertThat(nodes.d0(rotten).elections().eligibility().eligible()).isTrue();
    flip(matching(log, "log_\\d+-\\d+").get(0));
    nodes.d0(rotten).copy().checkFiles(new ByteRate(1L << 40));
    assertThat(nodes.d0(rotten).elections().eligibility().reasons())
        .containsOnlyKeys(Reason.DAMAGED);
    Wait.until(() -> nodes.d0(rotten).leadership().leader() != null);
    Wait.until(
        () -> {
          nodes.d0(rotten).copy().copyAnew();
          return nodes.running.get(rotten).node.failure().isDone();
        });
    assertThat(nodes.running.get(rotten).node.failure().get())
        .isInstanceOf(StartAgainException.class)
        .hasMessageContaining("the next start copies it anew");
    nodes.stop(rotten);
    nodes.start(rotten);
    appendSome();
    awaitWhole();
    assertThat(nodes.d0(rotten).copy().copiedAnew()).isEqualTo(1);
  }

  private void appendSome() {
    int count = 1 + random.nextInt(30);
    times(count, i -> appends.append("x".repeat(random.nextInt(20_000))));
    if (random.nextBoolean()) {
      nodes
          .running
          .values()
          .forEach(node -> node.d0().copy().snapshot().exceptionally(e -> null).join());
    }
  }

  /** Waits until a node has kept out of some elections of d0. */
  private void awaitElections(String id) {
    DamagedCopy copy = nodes.running.get(id).log("d0").copy().damage();
    long before = copy.keptOut();
    Wait.until(() -> copy.keptOut() > before + ELECTIONS);
  }

  private void awaitWhole() {
    for (String id : ThreeTestNodes.IDS) {
      await()
          .alias(id + " has all, seed " + seed)
          .atMost(TestNode.PATIENCE)
          .untilAsserted(
              () -> {
                assertThat(nodes.d0(id).elections().eligibility().eligible()).isTrue();
                appends.assertAllIn(nodes.running.get(id).state("d0").entries());
              });
    }
  }

  /** Flips bytes in every file of the log of a node, which it stops. */
  private void spoilLog(String id) throws IOException {
    Path log = log(id);
    nodes.stop(id);
    for (Path file : matching(log, "log_.*")) {
      try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
        flip(bytes, 20);
      }
    }
  }

  private Path log(String id) {
    return nodes.running.get(id).groupDirectory("d0").resolve("current");
  }

  private Path live(String id) {
    return TestNode.live(nodes.home(id)).resolve("d0");
  }

  private Path mark(String id) {
    return nodes.home(id).resolve("damaged/d0");
  }

  private static List<Path> matching(Path directory, String name) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.getFileName().toString().matches(name)).sorted().toList();
    }
  }

  private void flip(Path file) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      if (bytes.length() > 0) {
        flip(bytes, (long) (random.nextDouble() * bytes.length()));
      }
    }
  }

  private static void flip(RandomAccessFile bytes, long at) throws IOException {
    bytes.seek(at);
    int before = bytes.read();
    bytes.seek(at);
    bytes.write(before ^ 1);
  }
}
