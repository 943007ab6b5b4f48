package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes become a cluster together, and a lost one is replaced by an empty one. */
@Tag("full")
class FormationIT {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @TempDir Path temp;
  @Closing private Trio trio;

  @BeforeEach
  void makeNodes() {
    trio = new Trio(temp);
  }

  @Test
  void threeFormTogetherAndALostOneIsReplaced() throws Exception {
    Node third = trio.begin(3);
    awaitReason(third, "waiting for node n1");
    assertThat(third.get("/health/live").statusCode()).isEqualTo(200);
    assertThat(third.process().out()).isEmpty();
    trio.begin(2);
    trio.begin(1);
    trio.nodes.forEach(Node::awaitReady);
    assertThat(trio.nodes.stream().map(FormationIT::clusterId).distinct()).hasSize(1);
    trio.node(1).createTopic("t", 6);
    produce("first", 1, 3_000);

    Node second = trio.node(2);
    second.kill();
    Jar.Result early = replace(1, "n2");
    assertThat(early.status()).isEqualTo(1);
    assertThat(early.err()).contains("no empty node is waiting under the name 'n2'");
    deleteTree(second.directory.resolve("data"));
    trio.begin(2);
    awaitReason(second, "evenkeel cluster replace n2");
    assertThat(second.process().err()).contains("node n2: this directory is empty");
    assertThat(second.get("/health/live").statusCode()).isEqualTo(200);
    assertThat(second.process().out()).isEmpty();
    assertThat(second.directory.resolve("data/raft/cluster.json")).doesNotExist();
    assertThat(second.directory.resolve("data/raft/raft")).isEmptyDirectory();
    assertThat(replace(1, "n3").err()).contains("'n3' is alive and has its data");
    assertThat(replace(1, "n4").err()).contains("there is no node 'n4'");

    assertDone(replace(3, "n2"));
    trio.awaitReady(2);
    assertThat(replace(2, "n2").err()).contains("'n2' is alive and has its data");

    // Now the replaced one counts: with it, any other may be lost.
    trio.node(1).kill();
    produce("second", 3_001, 1_000);
    assertConsumed("g", second, 4_000);
    // It comes back by itself with the changed voters, also if it was not alone.
    second.kill();
    third.kill();
    trio.begin(2);
    trio.begin(3);
    trio.awaitReady(2);
    trio.awaitReady(3);
    assertConsumed("again", third, 4_000);
  }

  @Test
  void anInterruptedReplacementIsFinishedByRunningItAgain() throws Exception {
    trio.start();
    trio.node(1).createTopic("t", 6);
    produce("first", 1, 2_000);
    Node second = trio.node(2);
    second.kill();
    deleteTree(second.directory.resolve("data"));
    trio.begin(2);
    awaitReason(second, "evenkeel cluster replace n2");
    Node first = trio.node(1);
    try (Jar.Running command =
        Jar.start(temp, "interrupted", "cluster", "replace", "n2", "--http", first.url())) {
      Awaitility.await()
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(5))
          .until(() -> Files.exists(second.directory.resolve("data/raft/cluster.json")));
      trio.nodes.stream()
          .filter(node -> node != second && node.process().err().contains("replacing node n2"))
          .findFirst()
          .orElseThrow()
          .kill();
    }
    for (int i : new int[] {1, 3}) {
      if (!trio.node(i).process().process.isAlive()) {
        trio.begin(i);
        trio.awaitReady(i);
      }
    }
    Awaitility.await()
        .atMost(PATIENCE)
        .until(
            () -> {
              Jar.Result again = replace(3, "n2");
              return again.status() == 0 || again.err().contains("is alive and has its data");
            });
    trio.awaitReady(2);
    first.kill();
    produce("second", 2_001, 500);
    assertConsumed("g", second, 2_500);
  }

  @Test
  void whoStopsHandsLeadershipOverBeforeAndLeadersSpreadWhenItComesBack() throws Exception {
    trio.start();
    trio.node(1).createTopic("t", 6);
    for (int i = 1; i <= 3; i++) {
      awaitShare(i);
    }
    Path lines = lines("all", 1, 6_000);
    try (Jar.Running producer =
        trio.node(2)
            .produce("producer", lines, "t", "--rate", "400", "--cluster", trio.cluster())) {
      Awaitility.await().atMost(PATIENCE).until(() -> leads(1).contains("meta"));
      Jar.Result stopped = trio.node(1).stop();
      assertThat(stopped.status()).isZero();
      assertThat(stopped.err())
          .contains("group meta: handing the leadership to")
          .doesNotContain("did not take over")
          .doesNotContain("no other node could take over the leadership");
      // Its own log tells that the others led before it closed.
      assertThat(lastLeader(stopped.err(), "meta")).isIn("n2", "n3");
      assertThat(producer.await().err()).contains("acked 6000 of 6000");
    }
    trio.begin(1);
    trio.awaitReady(1);
    awaitShare(1);
  }

  @Test
  void nodesThatWereToldDifferentThingsSaySo() {
    trio.begin(1, "--data-groups", "4");
    trio.begin(2, "--data-groups", "5");
    Awaitility.await()
        .atMost(PATIENCE)
        .until(
            () ->
                !trio.node(1).process().process.isAlive()
                    || !trio.node(2).process().process.isAlive());
    Node ended = trio.node(1).process().process.isAlive() ? trio.node(2) : trio.node(1);
    Jar.Result result = ended.process().await();
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err())
        .contains("data groups, node n", "give every node the same number of data groups");
  }

  private void awaitShare(int number) {
    Awaitility.await("leadership of node n" + number)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(200))
        .until(() -> !leads(number).isEmpty());
  }

  /** The groups that a node leads, by what it said last. */
  private List<String> leads(int number) {
    String err = trio.node(number).process().err();
    return Stream.of("meta", "d0", "d1", "d2")
        .filter(group -> ("n" + number).equals(lastLeader(err, group)))
        .toList();
  }

  private static String lastLeader(String err, String group) {
    Matcher matcher =
        Pattern.compile("group " + group + ": Leadership\\[leader=(n\\d)").matcher(err);
    String last = null;
    while (matcher.find()) {
      last = matcher.group(1);
    }
    return last;
  }

  private static void awaitReason(Node node, String part) {
    Awaitility.await("not ready: " + part)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptions()
        .until(
            () -> {
              HttpResponse<String> answer = node.get("/health/ready");
              return answer.statusCode() == 503
                  && new JsonObject(answer.body()).getString("reason", "").contains(part);
            });
  }

  private static String clusterId(Node node) {
    try {
      String text = Files.readString(node.directory.resolve("data/raft/cluster.json"));
      return new JsonObject(text).getString("clusterId");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Jar.Result replace(int by, String lost) {
    return Jar.run(temp, "cluster", "replace", lost, "--http", trio.node(by).url());
  }

  private static void assertDone(Jar.Result result) {
    assertThat(result.status()).as(result.toString()).isZero();
    assertThat(result.out()).contains("has been replaced");
  }

  private Path lines(String name, int from, int count) throws IOException {
    String text =
        IntStream.range(from, from + count)
            .mapToObj(i -> "m" + i + "\n")
            .collect(Collectors.joining());
    return Files.writeString(temp.resolve(name + ".txt"), text);
  }

  private void produce(String name, int from, int count) throws IOException {
    Path lines = lines(name, from, count);
    var result = Jar.run(temp, "produce", "t", "--cluster", trio.cluster(), lines.toString());
    assertThat(result.err()).contains("acked " + count + " of " + count);
  }

  /** Each message once, read with the help of one node. */
  private void assertConsumed(String group, Node node, int count) {
    Jar.Result result =
        Jar.run(
            temp,
            words("consume t --group %s --max %s --cluster %s", group, count, node.cluster()));
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(result.lines()).hasSize(count).doesNotHaveDuplicates();
  }

  private static void deleteTree(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      each(paths.sorted(Comparator.reverseOrder()).toList(), path -> Files.delete(path));
    }
  }
}
