package dev.evenkeel.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.cluster.SharedMaps;
import dev.evenkeel.cluster.SharedTable;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When the live view reads the shared maps, and what it makes of them. */
class LiveSourcesTest {
  private static final JsonObject OWNER = JsonObject.of("state", "OWNED", "owner", "c1");

  @Closing private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final LiveState state = new LiveState("n1", "1");
  private final Table ownership = new Table();
  private final Table registry = new Table();
  private LiveSources sources;
  private long now = MonotonicClock.millis();

  private volatile String dispatcher = "n7";
  private volatile boolean refuses;

  private static final class Table implements SharedTable {
    final AtomicInteger reads = new AtomicInteger();
    volatile Promise<Map<String, JsonObject>> pending;
    volatile boolean fails;

    @Override
    public Future<Map<String, JsonObject>> all() {
      reads.incrementAndGet();
      if (fails) {
        return Future.failedFuture(Refusal.UNAVAILABLE.error("no owner"));
      }
      return pending == null
          ? Future.succeededFuture(Map.of("g/t/0", OWNER.copy().put("epoch", reads.get())))
          : pending.future();
    }

    @Override
    public Future<Void> put(String key, JsonObject value) {
      throw new AssertionError("the live view writes nothing");
    }

    @Override
    public Future<Void> remove(String key) {
      throw new AssertionError("the live view writes nothing");
    }

    @Override
    public Future<Void> clear() {
      throw new AssertionError("the live view writes nothing");
    }
  }

  private final SharedMaps maps =
      new SharedMaps() {
        @Override
        public SharedTable registry() {
          return registry;
        }

        @Override
        public SharedTable ownership() {
          return ownership;
        }

        @Override
        public SharedTable dedupKeys() {
          throw new AssertionError("the live view does not show them");
        }
      };

  @BeforeEach
  void answer() {
    vertx
        .eventBus()
        .<Buffer>consumer(
            Addresses.groups("n7"),
            question ->
                question.reply(
                    refuses
                        ? Frames.refusal(Refusal.NOT_LEADER, "")
                        : Frames.answer(
                            new JsonObject()
                                .put(
                                    "facts",
                                    JsonObject.of(
                                        "groups", new JsonArray(), "topics", new JsonArray()))
                                .encode()
                                .getBytes(StandardCharsets.UTF_8))));
    open(maps);
  }

  private void open(SharedMaps shared) {
    onContext(
        () -> {
          sources = new LiveSources(vertx, this::status, shared, now);
          sources.want(GroupScope.ALL);
        });
  }

  private Future<ClusterStatusView> status() {
    return Future.succeededFuture(
        new ClusterStatusView("id", "n1", dispatcher, 10, List.of(), List.of()));
  }

  private <T> T onContext(Callable<T> task) {
    Promise<T> done = Promise.promise();
    context.runOnContext(
        run -> {
          try {
            done.complete(task.call());
          } catch (Exception e) {
            done.fail(e);
          }
        });
    return done.future().await();
  }

  private void onContext(Runnable task) {
    onContext(
        () -> {
          task.run();
          return null;
        });
  }

  /** Lets time pass, and shows what is known then. */
  private JsonObject pass(long millis) {
    return onContext(
        () -> {
          now += millis;
          sources.tick(now);
          sources.takeFacts().forEach(fact -> fact.accept(state));
          return new JsonObject(state.advance());
        });
  }

  private static String sourceOf(JsonObject state) {
    JsonObject owners = state.getJsonObject("cluster").getJsonObject("owners");
    return owners == null ? null : owners.getString("source");
  }

  private JsonObject awaitSource(String source) {
    JsonObject[] last = new JsonObject[1];
    await()
        .until(
            () -> {
              last[0] = pass(100);
              return source == null
                  ? sourceOf(last[0]) == null
                      && last[0].getJsonObject("cluster").getString("dispatcher") != null
                  : source.equals(sourceOf(last[0]));
            });
    return last[0];
  }

  @Test
  void theMapsAreReadOnlyWhileNoDispatcherAnswers() {
    awaitSource(null);
    assertThat(ownership.reads).hasValue(0);
    refuses = true;
    JsonObject shown = awaitSource("map");
    assertThat(shown.getJsonObject("groups").getJsonObject("g").getJsonObject("shards")).hasSize(1);
    refuses = false;
    shown = awaitSource(null);
    assertThat(shown.getJsonObject("groups")).as("the answer counts").isEmpty();
  }

  @Test
  void theyAreReadOnceASecond() {
    dispatcher = null;
    awaitSource("map");
    int before = ownership.reads.get();
    for (int i = 0; i < 100; i++) {
      pass(100);
    }
    assertThat(ownership.reads.get() - before).isBetween(9, 11);
  }

  @Test
  void whatIsReadTooLateDoesNotCount() {
    refuses = true;
    ownership.pending = Promise.promise();
    await()
        .until(
            () -> {
              pass(100);
              return ownership.reads.get() == 1;
            });
    refuses = false;
    awaitSource(null);
    ownership.pending.complete(Map.of("g/t/0", OWNER.copy().put("epoch", 1)));
    assertThat(sourceOf(pass(100))).isNull();
    assertThat(pass(100).getJsonObject("groups")).isEmpty();
  }

  @Test
  void whatIsKnownStaysIfTheMapsCannotBeRead() {
    refuses = true;
    JsonObject shown = awaitSource("map");
    String asOf = shown.getJsonObject("cluster").getJsonObject("owners").getString("asOf");
    ownership.fails = true;
    int before = ownership.reads.get();
    await()
        .until(
            () -> {
              pass(1_000);
              return ownership.reads.get() > before + 2;
            });
    shown = pass(100);
    assertThat(shown.getJsonObject("groups").fieldNames()).containsExactly("g");
    assertThat(asOf).isNotNull();
  }

  @Test
  void withoutMapsItShowsWhatWasKnown() {
    open(null);
    dispatcher = null;
    for (int i = 0; i < 30; i++) {
      assertThat(sourceOf(pass(100))).isNull();
    }
  }
}
