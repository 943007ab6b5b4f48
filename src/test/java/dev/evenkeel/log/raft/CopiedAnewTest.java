package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.StartAgainException;
import dev.evenkeel.protocol.files.ByteRate;
import dev.evenkeel.protocol.files.DurableFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log or the index of one node of three rots on its disk, and the node copies both anew. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CopiedAnewTest {
  private static final List<String> IDS = List.of("a", "b", "c");
  private static final int ROUNDS = 4 * Math.max(1, Integer.getInteger("evenkeel.rounds", 1));

  @TempDir Path temp;
  private final long seed = Long.getLong("evenkeel.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<LogSettings.Peer> peers =
      IDS.stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();
  private final Map<String, TestNode> nodes = new TreeMap<>();
  private final Appends appends = new Appends(() -> d0(leader()));

  @AfterEach
  void stop() {
    nodes.values().forEach(TestNode::close);
  }

  @Test
  void bytesThatFlipAtRandomPlacesOfLogAndIndexCostNothing() throws Exception {
    System.out.println("seed " + seed);
    startAll();
    for (int round = 0; round < ROUNDS; round++) {
      appendSome();
      String rotten = IDS.get(random.nextInt(IDS.size()));
      Path log = nodes.get(rotten).groupDirectory("d0").resolve("current");
      nodes.remove(rotten).close();
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
      for (int i = 0; i < 5; i++) {
        flip(files.get(random.nextInt(files.size())));
      }
      start(rotten);
      appendSome();
      awaitWhole();
    }
  }

  @Test
  void aNodeThatStopsWhileItCopiesGoesOnAndHasNoVoteUntilThen() throws Exception {
    startAll();
    appendSome();
    String rotten = follower();
    spoilLog(rotten);
    // It cannot copy without a leader, and a leader needs its vote.
    String other = follower();
    TestNode lonely = nodes.get(leader());
    nodes.remove(other).close();
    for (int i = 0; i < 3; i++) {
      start(rotten);
      assertThat(Files.readString(mark(rotten))).contains("copying above");
      assertThat(nodes.get(rotten).d0().eligibility().reasons()).containsKey(Reason.DAMAGED);
      await().atMost(TestNode.PATIENCE).until(() -> !lonely.d0().leadership().ready());
      // Some elections.
      Thread.sleep(5_000);
      assertThat(nodes.values()).noneMatch(node -> node.d0().leadership().ready());
      nodes.remove(rotten).close();
    }
    start(rotten);
    start(other);
    appendSome();
    awaitWhole();
    assertThat(d0(rotten).copiedAnew()).isEqualTo(1);
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
    startAll();
    appends.append("before");
    appendSome();
    awaitWhole();
    String leader = leader();
    String rotten = follower();
    Path log = nodes.get(rotten).groupDirectory("d0");
    Path home = temp.resolve(rotten);
    nodes.remove(rotten).close();
    // What it will have copied.
    List<Path> parts =
        List.of(
            log, home.resolve("live/d0"), home.resolve("bodies/d0"), home.resolve("log/applied"));
    for (int i = 0; i < parts.size(); i++) {
      copy(parts.get(i), temp.resolve("part" + i));
    }
    start(rotten);
    String behind =
        IDS.stream().filter(id -> !id.equals(leader) && !id.equals(rotten)).findFirst().get();
    nodes.remove(behind).close();
    appends.append("acknowledged by the rotten one");
    nodes.remove(leader).close();
    nodes.remove(rotten).close();

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

    start(rotten);
    start(behind);
    Thread.sleep(8_000);
    assertThat(nodes.values()).noneMatch(node -> node.d0().leadership().ready());
    start(leader);
    appends.append("after");
    awaitWhole();
    assertThat(mark(rotten)).doesNotExist();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  @Test
  void withTwoDamagedCopiesNobodyServesAndTheFilesAreStillThere() throws Exception {
    startAll();
    appendSome();
    String leader = leader();
    List<String> rotten = IDS.stream().filter(id -> !id.equals(leader)).toList();
    nodes.remove(leader).close();
    for (String id : rotten) {
      spoilLog(id);
    }
    for (String id : IDS) {
      start(id);
    }
    Thread.sleep(8_000);
    assertThat(nodes.values()).noneMatch(node -> node.d0().leadership().ready());
    for (String id : rotten) {
      assertThat(mark(id).resolveSibling("d0.files").resolve("1/bodies")).isDirectory();
      assertThat(matching(mark(id).resolveSibling("d0.files").resolve("1"), "log_.*")).isNotEmpty();
    }
    // The operator puts the files of one back; that of the leader would do, too.
    nodes.values().forEach(node -> assertThat(node.node.failure()).isNotDone());
  }

  /** What the scrub finds, and nobody had read. */
  @Test
  void damageOfARunningNodeIsFoundAndGivenUpWhenAnotherLeads() throws Exception {
    startAll();
    appendSome();
    String rotten = follower();
    Path log = nodes.get(rotten).groupDirectory("d0").resolve("current");
    for (int i = 0; i < 20; i++) {
      appends.append("x".repeat(100_000));
    }
    await().atMost(TestNode.PATIENCE).until(() -> !matching(log, "log_\\d+-\\d+").isEmpty());
    d0(rotten).checkFiles(new ByteRate(1L << 40));
    assertThat(d0(rotten).eligibility().eligible()).isTrue();
    flip(matching(log, "log_\\d+-\\d+").get(0));
    d0(rotten).checkFiles(new ByteRate(1L << 40));
    assertThat(d0(rotten).eligibility().reasons()).containsOnlyKeys(Reason.DAMAGED);
    await().atMost(TestNode.PATIENCE).until(() -> d0(rotten).leadership().leader() != null);
    await()
        .atMost(TestNode.PATIENCE)
        .until(
            () -> {
              d0(rotten).copyAnew();
              return nodes.get(rotten).node.failure().isDone();
            });
    assertThat(nodes.get(rotten).node.failure().get())
        .isInstanceOf(StartAgainException.class)
        .hasMessageContaining("the next start copies it anew");
    nodes.remove(rotten).close();
    start(rotten);
    appendSome();
    awaitWhole();
    assertThat(d0(rotten).copiedAnew()).isEqualTo(1);
  }

  private void appendSome() {
    int count = 1 + random.nextInt(30);
    for (int i = 0; i < count; i++) {
      appends.append("x".repeat(random.nextInt(20_000)));
    }
    if (random.nextBoolean()) {
      nodes.values().forEach(node -> node.d0().snapshot().exceptionally(e -> null).join());
    }
  }

  private void awaitWhole() {
    for (String id : IDS) {
      await()
          .alias(id + " has all, seed " + seed)
          .atMost(TestNode.PATIENCE)
          .untilAsserted(
              () -> {
                assertThat(d0(id).eligibility().eligible()).isTrue();
                appends.assertAllIn(nodes.get(id).state("d0").entries());
              });
    }
  }

  /** Flips bytes in every file of the log of a node, which it stops. */
  private void spoilLog(String id) throws IOException {
    Path log = log(id);
    nodes.remove(id).close();
    for (Path file : matching(log, "log_.*")) {
      try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
        flip(bytes, 20);
      }
    }
  }

  private Path log(String id) {
    return nodes.get(id).groupDirectory("d0").resolve("current");
  }

  private Path live(String id) {
    return TestNode.live(temp.resolve(id)).resolve("d0");
  }

  private Path mark(String id) {
    return temp.resolve(id).resolve("damaged/d0");
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

  private void startAll() throws LogStartException {
    for (String id : IDS) {
      start(id);
    }
  }

  private void start(String id) throws LogStartException {
    Path home = temp.resolve(id);
    LogSettings settings = TestNode.settings(id, home, peers, 1, 1_000_000);
    nodes.put(id, new TestNode(settings, TestNode.live(home)));
  }

  private LogGroup d0(String id) {
    return nodes.get(id).d0();
  }

  private String follower() {
    String leader = leader();
    return nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
  }

  private String leader() {
    return await()
        .atMost(TestNode.PATIENCE)
        .until(
            () ->
                nodes.entrySet().stream()
                    .filter(each -> each.getValue().d0().leadership().ready())
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(null),
            Objects::nonNull);
  }
}
