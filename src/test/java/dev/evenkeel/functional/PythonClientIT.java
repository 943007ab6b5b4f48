package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client in another language, written from the pages about the protocol, produces and shares a
 * group with the Java client. All members append to one file, which so has the order in which they
 * finished the messages.
 */
class PythonClientIT {
  private static final Path CLIENT = Path.of("src/test/python/evenkeel_client.py").toAbsolutePath();

  private static final int SHARDS = 6;
  private static final int KEYS = 40;
  private static final int FED_AT_ONCE = 20;
  private static final int MORE = 2_000;

  /** Python prints shard and offset before the payload, which is the key and its number. */
  private static final Pattern FINISHED = Pattern.compile("(?:\\d+ \\d+ )?(k\\d+) (\\d+)");

  @TempDir Path directory;
  private Path finished;
  private Node node;
  private OutputStream feed;
  private int fed;

  @BeforeAll
  static void needsPython() throws InterruptedException {
    TestUsers.assumeNone("the programs in Python show no token");
    try {
      Process python =
          new ProcessBuilder("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 8))")
              .redirectErrorStream(true)
              .start();
      assumeTrue(python.waitFor() == 0, "python3 is older than 3.8: not tested");
    } catch (IOException missing) {
      assumeTrue(false, "there is no python3 on this machine: not tested: " + missing);
    }
  }

  private Jar.Running python(String name, String redirection, String... args) {
    List<String> command = new ArrayList<>(List.of("python3", "-B", CLIENT.toString()));
    command.addAll(List.of(args));
    return shell(name, redirection, command);
  }

  /** The shell becomes the command, so that signals reach that. */
  private Jar.Running shell(String name, String redirection, List<String> command) {
    List<String> all = new ArrayList<>(List.of("sh", "-c", "exec \"$@\"" + redirection, "sh"));
    all.addAll(command);
    return Jar.launch(all, Surroundings.NONE, directory, name);
  }

  private Jar.Running pythonMember(String name) {
    return Jar.unfed(
        python(name, " >> " + finished, "consume", node.cluster(), "g", name, "orders"));
  }

  private Jar.Running javaMember(String name) {
    List<String> command = new ArrayList<>(List.of(Jar.JAVA.toString()));
    command.addAll(Jar.USUAL_OPTIONS);
    command.addAll(List.of("-jar", Jar.JAR.toString(), "consume", "orders", "--group", "g"));
    command.addAll(List.of("--member", name, "--cluster", node.cluster()));
    return Jar.unfed(shell(name, " >> " + finished, command));
  }

  private void feed(int messages) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < messages; i++, fed++) {
      String key = "k" + fed % KEYS;
      lines.append(key).append('\t').append(key).append(' ').append(fed / KEYS).append('\n');
    }
    feed.write(lines.toString().getBytes(StandardCharsets.UTF_8));
    feed.flush();
  }

  /** Messages keep coming until it is so, and some more come then. */
  private void feedUntil(String what, Callable<Boolean> condition) throws IOException {
    Wait.until(
        what,
        90,
        () -> {
          feed(FED_AT_ONCE);
          return condition.call();
        });
    feed(MORE);
  }

  private void feedUntilShared(Map<String, Integer> counts) throws IOException {
    Members members = new Members(node, "g");
    feedUntil(counts.toString(), () -> Members.counts(members.owners()).equals(counts));
  }

  private List<String> finished() throws IOException {
    List<String> payloads = new ArrayList<>();
    for (String line : Files.readAllLines(finished)) {
      Matcher matcher = FINISHED.matcher(line);
      assertThat(matcher.matches()).as(line).isTrue();
      payloads.add(matcher.group(1) + " " + matcher.group(2));
    }
    return payloads;
  }

  /** Each key's messages, without the repeated ones, are there from 0 on in order. */
  private void assertAllInOrder(List<String> payloads) {
    Set<String> seen = new HashSet<>();
    Map<String, Integer> next = new HashMap<>();
    for (String payload : payloads) {
      if (seen.add(payload)) {
        String key = payload.substring(0, payload.indexOf(' '));
        int expected = next.merge(key, 1, Integer::sum) - 1;
        assertThat(payload).as("next of its key").isEqualTo(key + " " + expected);
      }
    }
    assertThat(seen).hasSize(fed);
  }

  @Test
  void sharesItsGroupWithTheJavaClient() throws Exception {
    finished = directory.resolve("finished.log");
    try (Node one = new Node(directory.resolve("node")).start()) {
      node = one;
      node.createTopic("orders", SHARDS);
      try (Jar.Running producer = python("producer", "", "produce", node.cluster(), "orders");
          Jar.Running a = pythonMember("a")) {
        feed = producer.process.getOutputStream();
        feedUntilShared(Map.of("a", 6));
        try (Jar.Running b = pythonMember("b")) {
          feedUntilShared(Map.of("a", 3, "b", 3));
          try (Jar.Running c = javaMember("c")) {
            feedUntilShared(Map.of("a", 2, "b", 2, "c", 2));
            a.stopWell();
            feedUntilShared(Map.of("b", 3, "c", 3));
            feed.flush();
            int before = fed;
            awaitFinished(before);
            assertThat(finished()).as("after handovers in good order").doesNotHaveDuplicates();
            assertAllInOrder(finished());

            feed(MORE);
            awaitFinished(before + 1);
            b.kill();
            int untilKilled = finished().size();
            feedUntilShared(Map.of("c", 6));
            feed.close();
            Jar.Result produced = producer.await();
            assertThat(produced.status()).as(produced.err()).isZero();
            assertThat(produced.err()).contains("acked " + fed);
            node.awaitConsumed("g", fed);
            c.stopWell();
            List<String> all = finished();
            assertAllInOrder(all);
            assertThat(all.subList(untilKilled, all.size()))
                .as("what is repeated is so once")
                .doesNotHaveDuplicates();
          }
        }
      }
      assertThat(node.stop().status()).isZero();
    }
  }

  private void awaitFinished(int messages) {
    Awaitility.await(messages + " messages are finished")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> Files.readAllLines(finished).size() >= messages);
  }
}
