package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecRunnerTest {
  private final ExecRunner runner = new ExecRunner(2);

  @AfterEach
  void close() {
    runner.close();
  }

  private String print(String command, Map<String, String> environment, byte[] key, String input) {
    byte[] output =
        runner
            .capture(
                new ExecRunner.Call(
                    command, environment, key, input.getBytes(StandardCharsets.UTF_8)))
            .join();
    return new String(output, StandardCharsets.UTF_8);
  }

  private void run(String command, String input) {
    runner
        .run(new ExecRunner.Call(command, Map.of(), null, input.getBytes(StandardCharsets.UTF_8)))
        .join();
  }

  @Test
  void theExitStatusDecides() {
    run("exit 0", "");
    assertThatThrownBy(() -> run("exit 3", ""))
        .isInstanceOf(CompletionException.class)
        .hasRootCauseMessage("'exit 3' ended with exit status 3");
  }

  @Test
  void aMissingCommandIsAFailure() {
    assertThatThrownBy(() -> run("no-such-command-here 2>/dev/null", ""))
        .hasRootCauseMessage(
            "'no-such-command-here 2>/dev/null' ended with exit status 127, which means that a"
                + " command was not found");
  }

  @Test
  void inputAndEnvironmentArrive() {
    Map<String, String> environment = new HashMap<>();
    environment.put("EVENKEEL_SHARD", "4");
    environment.put("HOME", null);
    assertThat(print("echo $EVENKEEL_SHARD-${HOME-none}-$(cat)", environment, null, "in ü"))
        .isEqualTo("4-none-in ü\n");
  }

  @Test
  void keysKeepTheirBytes() {
    String show = "printf %s \"$EVENKEEL_KEY\"";
    for (String key : new String[] {"plain", "a 'b' \"$c\" \\ `d`", "ü€\n", "%d\\n\nü\n\n"}) {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      assertThat(print(show, Map.of(), bytes, "")).isEqualTo(key);
    }
    assertThat(print("echo ${EVENKEEL_KEY-none}", Map.of(), null, "")).isEqualTo("none\n");
  }

  @Test
  void bigInputThatNobodyReadsIsNoProblem() {
    run("exit 0", "x".repeat(1 << 20));
    run("exec <&-; exit 0", "x".repeat(1 << 20));
  }

  @Test
  void cancellingEndsTheCommandAndWhatItHasStarted(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("pid");
    String command =
        "sleep 600 & echo $! > " + file + ".new; mv " + file + ".new " + file + "; wait";
    CompletableFuture<byte[]> running =
        runner.capture(new ExecRunner.Call(command, Map.of(), null, new byte[0]));
    Awaitility.await().until(() -> Files.exists(file));
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
    running.cancel(true);
    Awaitility.await().until(() -> !child.isAlive());
  }

  @Test
  void bigOutputIsTakenUpToTheLimitOfAState() {
    assertThat(print("head -c 1048576 /dev/zero", Map.of(), null, "")).hasSize(1 << 20);
    assertThatThrownBy(() -> print("head -c 1048577 /dev/zero", Map.of(), null, ""))
        .hasRootCauseInstanceOf(ExecFailed.class)
        .hasMessageContaining("more than 1048576 bytes");
  }

  private void runFor(long timeoutMillis, String command, String input) {
    byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
    runner.run(new ExecRunner.Call(command, Map.of(), null, bytes, timeoutMillis)).join();
  }

  @Test
  void theEndByASignalIsTold() {
    assertThatThrownBy(() -> run("kill -9 $$", ""))
        .hasRootCauseMessage("'kill -9 $$' ended with exit status 137, as when signal 9 ends it");
  }

  @Test
  void oneThatHangsIsEnded() {
    assertThatThrownBy(() -> runFor(200, "sleep 600", ""))
        .hasRootCauseMessage("'sleep 600' did not end within 200ms");
    assertThatThrownBy(() -> runFor(200, "sleep 600; exit 0", "x".repeat(1 << 20)))
        .as("nobody reads what it is given")
        .hasRootCauseMessage("'sleep 600; exit 0' did not end within 200ms");
    runFor(60_000, "exit 0", "");
    Awaitility.await().until(() -> runner.running() == 0);
  }

  @Test
  void oneThatDoesNotWantToEndIsKilled() {
    assertThatThrownBy(() -> runFor(200, "trap '' TERM; sleep 600; sleep 600", ""))
        .hasRootCauseMessage("'trap '' TERM; sleep 600; sleep 600' did not end within 200ms");
  }

  @Test
  void whatIsBegunAfterItWasAskedToEndIsKilledToo(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("pid");
    String begin = "sleep 600 & echo $! > " + file + ".new; mv " + file + ".new " + file + "; ";
    String command = "trap '" + begin + "' TERM; sleep 600 & echo > " + file + ".set; wait; wait";
    CompletableFuture<Void> running =
        runner.run(new ExecRunner.Call(command, Map.of(), null, new byte[0]));
    Awaitility.await().until(() -> Files.exists(directory.resolve("pid.set")));
    running.cancel(true);
    Awaitility.await().until(() -> Files.exists(file));
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
    Awaitility.await().until(() -> !child.isAlive());
  }

  @Test
  void closingEndsWhatRunsAndBeginsNoMore() {
    CompletableFuture<Void> first =
        runner.run(new ExecRunner.Call("sleep 600", Map.of(), null, new byte[0]));
    Awaitility.await().until(() -> runner.running() == 1);
    runner.closed().join();
    assertThatThrownBy(first::join).hasRootCauseInstanceOf(ExecFailed.class);
    assertThat(runner.running()).isZero();
  }

  @Test
  void closingWaitsForWhatCommandsHaveStarted(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("pid");
    String child =
        "sh -c \"trap '' TERM; echo \\$\\$ > " + file + ".new; mv " + file + ".new " + file;
    String command = child + "; sleep 600; sleep 600\" & wait";
    runner.run(new ExecRunner.Call(command, Map.of(), null, new byte[0]));
    Awaitility.await().until(() -> Files.exists(file));
    ProcessHandle deaf =
        ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
    runner.closed().join();
    assertThat(deaf.isAlive()).isFalse();
  }
}
