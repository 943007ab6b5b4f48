package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecRunnerTest {
  /** Kills nobody before the test says so. */
  private static final class Timers extends ScheduledThreadPoolExecutor {
    private final BlockingQueue<Runnable> kills = new LinkedBlockingQueue<>();

    Timers() {
      super(1);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      boolean kill = unit.toMillis(delay) == ExecRunner.KILL_AFTER_MILLIS;
      return kill
          ? super.schedule(() -> kills.add(task), 0, unit)
          : super.schedule(task, delay, unit);
    }

    /** The time is over for the one that was asked to end first. */
    void kill() {
      try {
        kills.take().run();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private final Timers timers = new Timers();
  private final ExecRunner runner = new ExecRunner(2, timers, 60_000);

  @AfterEach
  void close() {
    runner.close();
    timers.shutdownNow();
  }

  private String print(
      String command, Map<String, String> environment, Map<String, byte[]> bytes, String input) {
    byte[] output =
        runner
            .capture(
                new ExecRunner.Call(
                    command, environment, bytes, input.getBytes(StandardCharsets.UTF_8), 0))
            .join();
    return new String(output, StandardCharsets.UTF_8);
  }

  private void run(String command, String input) {
    runner
        .run(
            new ExecRunner.Call(
                command, Map.of(), Map.of(), input.getBytes(StandardCharsets.UTF_8), 0))
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
    assertThat(print("echo $EVENKEEL_SHARD-${HOME-none}-$(cat)", environment, Map.of(), "in ü"))
        .isEqualTo("4-none-in ü\n");
  }

  @Test
  void keysKeepTheirBytes() {
    String show = "printf %s \"$EVENKEEL_KEY\"";
    for (String key : new String[] {"plain", "a 'b' \"$c\" \\ `d`", "ü€\n", "%d\\n\nü\n\n"}) {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      assertThat(print(show, Map.of(), Map.of("EVENKEEL_KEY", bytes), "")).isEqualTo(key);
    }
    assertThat(print("echo ${EVENKEEL_KEY-none}", Map.of(), Map.of(), "")).isEqualTo("none\n");
  }

  @Test
  void eachHeaderHasAVariable() {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    headers.put("Trace-Id", utf8("%d \\n $x\n"));
    headers.put("trace_id", utf8("a second one of this name"));
    headers.put("größe", utf8("zwölf\n\n"));
    headers.put("no text", new byte[] {(byte) 0xFF});
    headers.put("zero", new byte[] {'a', 0});
    headers.put("ascii", utf8("x".repeat(Limits.HEADERS_BYTES_MAX)));
    headers.put("long", utf8("ü".repeat(Limits.HEADERS_BYTES_MAX / 2)));
    var variables = MessageVariables.of(new Message(utf8("k"), headers, 0, new byte[0]));
    assertThat(variables.keySet())
        .containsExactly(
            "EVENKEEL_KEY",
            "EVENKEEL_HEADER_TRACE_ID",
            "EVENKEEL_HEADER_GR__E",
            "EVENKEEL_HEADER_ASCII",
            "EVENKEEL_HEADER_LONG");
    String show =
        "printf '%s|%s|%s|' \"$EVENKEEL_HEADER_TRACE_ID\" \"$EVENKEEL_HEADER_GR__E\""
            + " ${#EVENKEEL_HEADER_ASCII}; env | grep -c ^EVENKEEL_HEADER; printenv"
            + " EVENKEEL_HEADER_LONG | wc -c";
    assertThat(print(show, Map.of(), variables, ""))
        .isEqualTo("%d \\n $x\n|zwölf\n\n|32768|4\n" + (Limits.HEADERS_BYTES_MAX + 1) + "\n");
  }

  /** The longest key fits, whatever is in it. */
  @Test
  void theLongestKeyFits() {
    String key = "%ü".repeat(Limits.KEY_BYTES_MAX / 3) + "\n\n";
    byte[] bytes = utf8(key.substring(0, key.length() - 2) + "\n\n");
    String show = "printf %s \"$EVENKEEL_KEY\"; env | grep -ci evenkeel_piece; true";
    assertThat(print(show, Map.of(), Map.of("EVENKEEL_KEY", bytes), "")).isEqualTo(key + "0\n");
  }

  @Test
  void commandsNeedNotBeAscii() {
    assertThat(
            print(
                "echo 'größe' \"$#\"; env | grep -c EVENKEEL_COMMAND; true",
                Map.of(),
                Map.of(),
                ""))
        .isEqualTo("größe 0\n0\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void bigInputThatNobodyReadsIsNoProblem() {
    run("exit 0", "x".repeat(1 << 20));
    run("exec <&-; exit 0", "x".repeat(1 << 20));
  }

  @Test
  void cancellingEndsTheCommandAndWhatItHasStarted(@TempDir Path directory) throws IOException {
    String command = "sleep 600 & " + tell("$!", directory) + "wait";
    var running = runner.capture(new ExecRunner.Call(command, Map.of(), Map.of(), new byte[0], 0));
    ProcessHandle child = told(directory);
    running.cancel(true);
    Awaitility.await().until(() -> !child.isAlive());
  }

  @Test
  void bigOutputIsTakenUpToTheLimitOfAState() {
    assertThat(print("head -c 1048576 /dev/zero", Map.of(), Map.of(), "")).hasSize(1 << 20);
    assertThatThrownBy(() -> print("head -c 1048577 /dev/zero", Map.of(), Map.of(), ""))
        .hasRootCauseInstanceOf(ExecRunner.ExecFailed.class)
        .hasMessageContaining("more than 1048576 bytes");
  }

  private void runFor(long timeoutMillis, String command, String input) {
    byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
    runner.run(new ExecRunner.Call(command, Map.of(), Map.of(), bytes, timeoutMillis)).join();
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
    // A child that it begins while it is ended would be missed, and would keep its input open.
    assertThatThrownBy(() -> runFor(200, "exec sleep 600", "x".repeat(1 << 20)))
        .as("nobody reads what it is given")
        .hasRootCauseMessage("'exec sleep 600' did not end within 200ms");
    runFor(60_000, "exit 0", "");
    Awaitility.await().until(() -> runner.running() == 0);
  }

  @Test
  void oneThatDoesNotWantToEndIsKilled() {
    String command = "trap '' TERM; sleep 600; sleep 600";
    var running = runner.run(new ExecRunner.Call(command, Map.of(), Map.of(), new byte[0], 200));
    timers.kill();
    assertThatThrownBy(running::join)
        .hasRootCauseMessage("'" + command + "' did not end within 200ms");
  }

  @Test
  void whatIsBegunAfterItWasAskedToEndIsKilledToo(@TempDir Path directory) throws IOException {
    String begin = "sleep 600 & " + tell("$!", directory);
    Path set = directory.resolve("set");
    String command = "trap '" + begin + "' TERM; sleep 600 & echo > " + set + "; wait; wait";
    var running = runner.run(new ExecRunner.Call(command, Map.of(), Map.of(), new byte[0], 0));
    Awaitility.await().until(() -> Files.exists(set));
    running.cancel(true);
    ProcessHandle child = told(directory);
    timers.kill();
    Awaitility.await().until(() -> !child.isAlive());
  }

  @Test
  void closingEndsWhatRunsAndBeginsNoMore() {
    var first = runner.run(new ExecRunner.Call("sleep 600", Map.of(), Map.of(), new byte[0], 0));
    Awaitility.await().until(() -> runner.running() == 1);
    runner.closed().join();
    assertThatThrownBy(first::join).hasRootCauseInstanceOf(ExecRunner.ExecFailed.class);
    assertThat(runner.running()).isZero();
  }

  @Test
  void closingWaitsForWhatCommandsHaveStarted(@TempDir Path directory) throws IOException {
    String child = "trap '' TERM; " + tell("\\$\\$", directory) + "sleep 600; sleep 600";
    String command = "sh -c \"" + child + "\" & wait";
    runner.run(new ExecRunner.Call(command, Map.of(), Map.of(), new byte[0], 0));
    ProcessHandle deaf = told(directory);
    CompletableFuture<Void> closed = runner.closed();
    assertThat(closed.isDone()).isFalse();
    timers.kill();
    closed.join();
    assertThat(deaf.isAlive()).isFalse();
  }

  /** The beginning of a command that tells a process. */
  private static String tell(String pid, Path directory) {
    Path file = directory.resolve("pid");
    return "echo " + pid + " > " + file + ".new; mv " + file + ".new " + file + "; ";
  }

  /** The process that was told. */
  private static ProcessHandle told(Path directory) throws IOException {
    Path file = directory.resolve("pid");
    Awaitility.await().until(() -> Files.exists(file));
    return ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
  }
}
