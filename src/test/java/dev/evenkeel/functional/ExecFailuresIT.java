package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Commands of {@code --exec} that go wrong in every way: each is the failure of its message alone.
 */
class ExecFailuresIT extends OneNode {
  @Test
  @Timeout(300)
  void eachIsTheFailureOfItsMessageAlone() throws Exception {
    Path done = directory.resolve("done-exec");
    String work =
        "read -r line; case $line in missing) no-such-command-here || exit;; hang) sleep 600;;"
            + " big) head -c 1000000000 /dev/zero; head -c 1000000000 /dev/zero >&2;;"
            + " killed) kill -9 $$;; esac; echo $line >> "
            + done;
    node.createTopic("t", 1);
    node.send("t", List.of("good1", "missing", "good2", "hang", "big", "killed", "good3"));
    Process consumer = consumer(work);
    try {
      node.awaitConsumed("g", 7);
      assertThat(new TreeSet<>(Files.readAllLines(done)))
          .containsExactlyInAnyOrder("good1", "good2", "big", "good3");
      Map<String, String> errors = new TreeMap<>();
      for (Object each : new JsonArray(node.get("/api/groups/g/dead-letters").body())) {
        JsonObject letter = (JsonObject) each;
        errors.put(letter.getString("payload"), letter.getString("error"));
      }
      assertThat(errors).containsOnlyKeys("missing", "hang", "killed");
      assertThat(errors.get("missing")).contains("exit status 127", "not found");
      assertThat(errors.get("hang")).contains("did not end within 20s");
      assertThat(errors.get("killed")).contains("exit status 137, as when signal 9 ends it");
      assertThat(consumer.isAlive()).isTrue();
      consumer.destroy();
      assertThat(consumer.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(consumer.exitValue()).isZero();
    } finally {
      consumer.destroyForcibly();
    }
  }

  /** With little memory, and with nobody who keeps what it prints. */
  private static Process consumer(String work) throws IOException {
    String jar = System.getProperty("evenkeel.jar", "target/evenkeel.jar");
    ProcessBuilder consumer =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-jar",
            jar,
            "consume",
            "t",
            "--group=g",
            "--order=none",
            "--on-failure=dead-letter",
            "--exec-timeout=20s",
            "--cluster",
            node.cluster(),
            "--exec",
            work);
    consumer.environment().putAll(TestUsers.variables());
    return consumer
        .redirectInput(Redirect.from(new File("/dev/null")))
        .redirectOutput(Redirect.DISCARD)
        .redirectError(Redirect.DISCARD)
        .start();
  }

  /**
   * A member whose output or machine fails ends with one line, and the message that met it has not
   * failed: nothing is retried, nothing becomes a dead letter, and order holds.
   */
  @Test
  @Timeout(300)
  void aMemberThatCannotGoOnFailsNoMessage() throws Exception {
    node.createTopic("full", 2);
    node.send("full", IntStream.range(0, 2_000).mapToObj(i -> "message " + i).toList());
    Process full = member(Redirect.to(new File("/dev/full")), "full", Map.of());
    assertThat(end(full)).isEqualTo(1);
    assertThat(lines(full))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("standard output cannot be written: No space left on device");

    Process head = member(Redirect.PIPE, "full", Map.of());
    try (BufferedReader out = head.inputReader()) {
      assertThat(out.readLine()).startsWith("{");
    }
    assertThat(end(head)).as("a closed pipe").isZero();
    assertThat(lines(head)).isEmpty();

    Map<String, String> noShell = Map.of("PATH", "/no-such-directory");
    Process shellless = member(Redirect.DISCARD, "full", noShell, "--exec", "cat");
    assertThat(end(shellless)).isEqualTo(1);
    assertThat(lines(shellless))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("cannot run sh");

    var rest = node.consume("rest", "full", "full", "--format=json", "--idle-exit=2s").await();
    assertThat(rest.status()).isZero();
    Map<Integer, Long> next = new TreeMap<>();
    for (String line : rest.lines()) {
      JsonObject message = new JsonObject(line);
      assertThat(message.getInteger("attempt")).as(line).isEqualTo(1);
      Long before = next.put(message.getInteger("shard"), message.getLong("offset"));
      assertThat(before == null || before + 1 == message.getLong("offset")).as(line).isTrue();
    }
    assertThat(next.values().stream().mapToLong(last -> last + 1).sum()).isEqualTo(2_000);
    assertThat(new JsonArray(node.get("/api/groups/full/dead-letters").body())).isEmpty();
  }

  private static Process member(
      Redirect out, String topic, Map<String, String> variables, String... more)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(Jar.JAVA.toString()));
    command.addAll(Jar.USUAL_OPTIONS);
    command.addAll(List.of("-jar", Jar.JAR.toString(), "consume", topic, "--group", topic));
    command.addAll(
        List.of("--format=json", "--on-failure=dead-letter", "--cluster", node.cluster()));
    command.addAll(List.of(more));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(Redirect.from(new File("/dev/null")))
            .redirectOutput(out);
    builder.environment().putAll(TestUsers.variables());
    builder.environment().putAll(variables);
    return builder.start();
  }

  private static int end(Process process) throws InterruptedException {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  private static List<String> lines(Process process) {
    return process.errorReader().lines().toList();
  }

  @Test
  @Tag("full")
  @Timeout(300)
  void aConsumerThatIsToldToStopEndsItsCommands() throws IOException {
    Path pid = directory.resolve("pid-work");
    Path next = directory.resolve("next");
    node.createTopic("stop", 1);
    node.send("stop", List.of("one"));
    String hang =
        "trap '' TERM; sleep 600 & echo $! > " + pid + ".new; mv " + pid + ".new " + pid + "; wait";
    try (Jar.Running hanging =
        node.consume("a", "stop", "stop", "--lock-time", "2s", "--exec", hang)) {
      Wait.until(() -> Files.exists(pid));
      ProcessHandle child = child(pid);
      assertThat(child).isNotNull();
      assertThat(hanging.stop().status()).isZero();
      Processes.awaitEnd(child);
    }
    String tell = "echo $EVENKEEL_ATTEMPT > " + next + ".new; mv " + next + ".new " + next;
    Jar.Result last = node.consume("b", "stop", "stop", "--max", "1", "--exec", tell).await();
    assertThat(last.status()).isZero();
    assertThat(Files.readString(next).strip()).as("no attempt was counted").isEqualTo("1");
  }

  @Tag("full")
  @Test
  @Timeout(300)
  void commandsForStatesThatHangAreEndedToldAndTriedAgain() throws IOException {
    Path pid = directory.resolve("pid-state");
    Path done = directory.resolve("done-state");
    String hang = "sleep 600 & echo $! > " + pid + ".new; mv " + pid + ".new " + pid + "; wait";
    node.createTopic("states", 1);
    node.send("states", List.of("one"));
    String work = "cat >> " + done;
    try (Jar.Running consumer =
        node.consume(
            "a",
            "states",
            "states",
            words(
                "--state-timeout=2s --exec %s --on-assign %s --on-release %s",
                work, "[ -e " + pid + " ] && exit; " + hang, "sleep 600"))) {
      node.awaitConsumed("states", 1);
      Processes.awaitEnd(child(pid));
      assertThat(consumer.err())
          .contains("onAssign failed, it is called again in 1 s", "did not end within 2s");
      assertThat(consumer.stop().status()).isZero();
      assertThat(consumer.err()).contains("onRelease failed, so it is released without state");
    }
    Files.delete(pid);
    try (Jar.Running hanging =
        node.consume(
            "b", "states", "states", "--lock-time=2s", "--exec", work, "--on-assign", hang)) {
      Wait.until(() -> Files.exists(pid));
      ProcessHandle child = child(pid);
      assertThat(hanging.stop().status()).isZero();
      Processes.awaitEnd(child);
    }
  }

  /** The process whose number is in the file; null: it has ended. */
  private static ProcessHandle child(Path pid) throws IOException {
    return ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElse(null);
  }
}
