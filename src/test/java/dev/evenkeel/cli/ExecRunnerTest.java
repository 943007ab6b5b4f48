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
}
