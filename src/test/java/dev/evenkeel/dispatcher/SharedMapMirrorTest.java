package dev.evenkeel.dispatcher;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class SharedMapMirrorTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final SlowTable slow = new SlowTable();
  private final SharedMapMirror hints = new SharedMapMirror(slow, context);

  private void onContext(Runnable task) {
    Promise<Void> done = Promise.promise();
    context.runOnContext(
        now -> {
          task.run();
          done.complete();
        });
    done.future().await();
  }

  @Test
  void writesAreLimitedAndOnlyTheLastValueOfAKeyFollows() {
    onContext(
        () -> {
          times(100, i -> hints.put("k" + i, new JsonObject()));
          hints.put("k0", new JsonObject().put("v", 1));
          hints.put("k0", new JsonObject().put("v", 2));
        });
    assertThat(slow.puts).hasSize(SharedMapMirror.WRITES_MAX);
    slow.answerAll();
    await().until(() -> slow.puts.size() == 101);
    slow.answerAll();
    assertThat(slow.entries.get("k0").getInteger("v")).isEqualTo(2);
    assertThat(slow.puts.stream().filter("k0"::equals)).hasSize(2);
  }

  @Test
  void reconcilePutsWhatIsMissingAndRemovesWhatIsTooMuch() {
    slow.entries.put("stranger", new JsonObject());
    onContext(
        () -> {
          hints.adopt("mine", new JsonObject().put("v", 1));
          hints.reconcile();
        });
    await().until(() -> slow.entries.keySet().equals(java.util.Set.of("mine")));
  }

  @Test
  void reconcileOverwritesWhatAStrangerWrote() {
    JsonObject mine = new JsonObject().put("v", 1).put("epoch", 7L);
    onContext(() -> hints.put("mine", mine));
    slow.answerAll();
    slow.puts.clear();
    slow.entries.put("mine", new JsonObject());
    onContext(hints::reconcile);
    await().until(() -> mine.equals(slow.entries.get("mine")));
    assertThat(slow.puts).containsExactly("mine");
    slow.answerAll();
    // As it is read from the map: numbers are as short as they can be.
    slow.entries.put("mine", new JsonObject(mine.encode()));
    slow.puts.clear();
    onContext(hints::reconcile);
    onContext(() -> {});
    onContext(() -> assertThat(slow.puts).isEmpty());
  }

  @Test
  void reconcileLeavesAloneWhatIsBeingWritten() {
    onContext(
        () -> {
          hints.put("mine", new JsonObject().put("v", 1));
          slow.entries.put("mine", new JsonObject());
          hints.reconcile();
        });
    onContext(() -> {});
    assertThat(slow.puts).containsExactly("mine");
    slow.answerAll();
    onContext(() -> {});
    assertThat(slow.puts).as("it was not read after that").containsExactly("mine");
  }

  /** Takes writes at once, and confirms them when told. */
  private static final class SlowTable extends FakeCluster.Table {
    final List<String> puts = new CopyOnWriteArrayList<>();
    final List<Promise<Void>> open = new CopyOnWriteArrayList<>();

    void answerAll() {
      open.forEach(promise -> promise.tryComplete());
    }

    @Override
    public Future<Void> put(String key, JsonObject value) {
      super.put(key, value);
      puts.add(key);
      Promise<Void> promise = Promise.promise();
      open.add(promise);
      return promise.future();
    }
  }
}
