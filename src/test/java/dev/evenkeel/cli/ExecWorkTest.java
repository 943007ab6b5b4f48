package dev.evenkeel.cli;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
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
  private final List<String> said = new CopyOnWriteArrayList<>();
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
    return work(onAssign, null, onRelease, timeoutMillis);
  }

  private ExecWork work(String onAssign, String onReshard, String onRelease, long timeoutMillis) {
    return work(onAssign, onReshard, onRelease, 0, timeoutMillis);
  }

  private ExecWork work(
      String onAssign, String onReshard, String onRelease, long everyMillis, long timeoutMillis) {
    return new ExecWork(
        runner,
        stateRunner,
        vertx.getOrCreateContext(),
        new ConsumeRun.Settings(
            false, null, 0, onAssign, onReshard, onRelease, everyMillis, timeoutMillis, 0, 0),
        1,
        said::add);
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

  private static final List<ParentState> PARENTS =
      List.of(
          new ParentState(0, Buffer.buffer("50\n"), true),
          new ParentState(1, Buffer.buffer("57\n"), true),
          new ParentState(2, Buffer.buffer("9\n"), false));

  /** The script of the page about the command, word for word. */
  private String countScript() throws IOException {
    String page = Files.readString(Path.of("src/site/markdown/command-line/consume.md"));
    String script = page.substring(page.indexOf("#!/bin/sh\n# count.sh"));
    Path file = directory.resolve("count.sh");
    Files.writeString(file, script.substring(0, script.indexOf("```")));
    return "cd " + directory + " && sh " + file;
  }

  /** Each state of a former shard is counted by one of the new shards, and by itself. */
  @Test
  void theCountingScriptOfThePageAddsUpTheStatesOfFormerShards() throws IOException {
    String count = countScript();
    ExecWork work = work(count + " assign", count + " reshard", count + " release", 60_000);
    // Once more, as after a failure: nothing is counted twice.
    times(2, i -> assertThat(failure(() -> work.assignFromParents(SHARD, PARENTS))).isNull());
    Buffer given = work.release(SHARD).toCompletionStage().toCompletableFuture().join();
    assertThat(given.toString(StandardCharsets.UTF_8)).isEqualTo("107\n");
    List<ParentState> none = PARENTS.subList(2, 3);
    assertThat(failure(() -> work.assignFromParents(SHARD, none))).isNull();
    given = work.release(SHARD).toCompletionStage().toCompletableFuture().join();
    assertThat(given.toString(StandardCharsets.UTF_8)).as("it is no heir").isEqualTo("0\n");
  }

  @Test
  void aCommandHearsWhichFormerShardAStateIsOf() throws IOException {
    Path file = directory.resolve("heard");
    String write = "echo $EVENKEEL_SHARD/${EVENKEEL_PARENT_SHARD-none}=$(cat) >> " + file;
    ExecWork work = work(write, write, null, 60_000);
    assertThat(failure(() -> work.assignFromParents(SHARD, PARENTS))).isNull();
    assertThat(Files.readAllLines(file)).containsExactly("3/none=", "3/0=50", "3/1=57");
  }

  /** A script that does not know of former shards gets none of their states: the member ends. */
  @Test
  void withoutACommandForFormerShardsTheMemberEnds() throws IOException {
    Path file = directory.resolve("ran");
    ExecWork work = work("touch " + file, null, "cat " + file, 60_000);
    assertThat(failure(() -> work.assignFromParents(SHARD, PARENTS)))
        .isInstanceOf(MemberFaultException.class)
        .hasMessageContaining("shard 3 continues former shards with state: 0, 1, 2")
        .hasMessageContaining("--on-reshard CMD");
    assertThat(file).doesNotExist();
  }

  /** What a message commits. */
  private static final class Committed implements MessageContext {
    private final List<String> states = new ArrayList<>();

    @Override
    public void publish(String topic, String key, Buffer payload) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void publish(String topic, Message message) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void commit(Buffer state) {
      states.add(state.toString(StandardCharsets.UTF_8));
    }
  }

  /** After a crash, only what came since the last of these states comes again. */
  @Test
  void theStateIsStoredFromTimeToTimeWhileTheShardGoesOn() {
    String state = "[ $EVENKEEL_OFFSET -lt 9 ] && echo $EVENKEEL_SHARD/$EVENKEEL_OFFSET";
    ExecWork work = work("cat", null, state, 5_000, 60_000);
    Committed committed = new Committed();
    long[] seconds = {0, 3, 5, 6, 11, 17};
    for (int i = 0; i < seconds.length; i++) {
      Message message = new Message(null, Map.of(), 0, new byte[0]);
      Delivery delivery = new Delivery("t", 3, 4 + i, message, "m", 7, 1);
      long now = seconds[i] * 1_000_000_000;
      assertThat(failure(() -> work.store(delivery, committed, now))).isNull();
    }
    assertThat(committed.states).containsExactly("3/7\n");
    assertThat(said).as("the command failed at 9 and 10").hasSize(2);
    assertThat(said.get(0)).contains("t/3 offset 9: its state is not stored");
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
