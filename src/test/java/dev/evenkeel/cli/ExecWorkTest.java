package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands for the states of shards, by a real shell. */
class ExecWorkTest {
  private static final ShardContext SHARD = new ShardContext("t", 3, 7, "m", 42);

  @TempDir private Path directory;
  private final Vertx vertx = Vertx.vertx();
  private final ExecRunner runner = new ExecRunner(1);
  private final ExecRunner stateRunner = new ExecRunner(1);
  private Path pid;

  @BeforeEach
  void names() {
    pid = directory.resolve("pid");
  }

  @AfterEach
  void close() {
    runner.close();
    stateRunner.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private ExecWork work(String onAssign, String onRelease, long timeoutMillis) {
    return new ExecWork(
        runner,
        stateRunner,
        vertx.getOrCreateContext(),
        new ConsumeRun.Settings(false, null, 0, onAssign, onRelease, timeoutMillis, 0, 0),
        1,
        line -> {});
  }

  /** Writes the pid of a child, and waits for that. */
  private String hang() {
    return "sleep 600 & echo $! > " + pid + ".new; mv " + pid + ".new " + pid + "; wait";
  }

  private ProcessHandle child() throws IOException {
    Awaitility.await().until(() -> Files.exists(pid));
    return ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElse(null);
  }

  private static Throwable failure(Supplier<Future<?>> call) {
    CompletableFuture<?> ended = call.get().toCompletionStage().toCompletableFuture();
    return ended.handle((result, failure) -> failure).join();
  }

  private void assertEnded() throws IOException {
    ProcessHandle child = child();
    Awaitility.await().until(() -> child == null || !child.isAlive());
  }

  /** One that was ended before it could say who its child is says nothing: it is begun again. */
  private void assertHangs(Supplier<Future<?>> call) {
    do {
      assertThat(failure(call)).hasMessageContaining("did not end within 500ms");
    } while (!Files.exists(pid));
  }

  @Test
  void oneOnAssignThatHangsIsEndedWithItsChildrenAndTheNextOneBegins() throws IOException {
    ExecWork work = work(hang(), null, 500);
    assertHangs(() -> work.assign(SHARD, null));
    assertEnded();
    ExecWork next = work("exit 0", null, 60_000);
    assertThat(failure(() -> next.assign(SHARD, null))).isNull();
  }

  @Test
  void oneOnReleaseThatHangsGivesNoState() throws IOException {
    ExecWork work = work(null, "echo state; " + hang(), 500);
    assertHangs(() -> work.release(SHARD));
    assertEnded();
  }

  @Test
  void whoEndsInTimeGetsAndGivesState() {
    Path file = directory.resolve("state");
    ExecWork work = work("cat > " + file, "cat " + file, 60_000);
    assertThat(failure(() -> work.assign(SHARD, Buffer.buffer("some")))).isNull();
    Buffer given = work.release(SHARD).toCompletionStage().toCompletableFuture().join();
    assertThat(given.toString(StandardCharsets.UTF_8)).isEqualTo("some");
  }

  @Test
  void theConsumersEndEndsThem() throws IOException {
    ExecWork work = work(hang(), null, 0);
    CompletableFuture<Void> assign =
        work.assign(SHARD, null).toCompletionStage().toCompletableFuture();
    ProcessHandle child = child();
    work.cut();
    assertThat(assign.handle((result, failure) -> failure).join())
        .hasMessageContaining("the consumer leaves");
    Awaitility.await().until(() -> !child.isAlive());
  }
}
