package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.Replicas;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReplicaWatchTest {
  private static final long LONG_MILLIS = 600_000;

  private final FakeEngine engine = new FakeEngine();
  private final Deque<Runnable> later = new ArrayDeque<>();
  private final ReplicaWatch watch = new ReplicaWatch(engine, later::add);

  private static final class FakeEngine implements ReplicaWatch.Engine {
    Map<String, Long> marks = new HashMap<>(Map.of("n1", 10L, "n2", 10L, "n3", 4L));
    final List<Long> watched = new ArrayList<>();
    CompletableFuture<Void> open;

    @Override
    public CompletableFuture<?> watch(long index) {
      watched.add(index);
      open = new CompletableFuture<>();
      return open;
    }

    @Override
    public Map<String, Long> marks() {
      return marks;
    }

    @Override
    public String leader() {
      return "n2";
    }
  }

  @Test
  void whatAllHaveIsAnsweredAtOnce() {
    assertThat(watch.await(4, LONG_MILLIS).join()).isEqualTo(new Replicas(4, List.of()));
    assertThat(watch.await(5, 0).join()).isEqualTo(new Replicas(4, List.of("n3")));
    assertThat(engine.watched).isEmpty();
  }

  @Test
  void theEngineIsAskedForOneAtATimeTheLowest() {
    CompletableFuture<Replicas> nine = watch.await(9, LONG_MILLIS);
    CompletableFuture<Replicas> six = watch.await(6, LONG_MILLIS);
    CompletableFuture<Replicas> seven = watch.await(7, LONG_MILLIS);
    assertThat(engine.watched).containsExactly(9L);
    engine.marks.put("n3", 7L);
    // It gave up on 9; what has come meanwhile is answered all the same.
    engine.open.completeExceptionally(new IllegalStateException("after its own time"));
    assertThat(six).isCompletedWithValue(new Replicas(7, List.of()));
    assertThat(seven).isCompletedWithValue(new Replicas(7, List.of()));
    assertThat(nine).isNotDone();
    later.remove().run();
    assertThat(engine.watched).containsExactly(9L, 9L);
    engine.marks.put("n3", 9L);
    engine.open.complete(null);
    assertThat(nine).isCompletedWithValue(new Replicas(9, List.of()));
    assertThat(watch.waiting()).isZero();
  }

  @Test
  void afterItsTimeItSaysWhoIsMissing() throws Exception {
    CompletableFuture<Replicas> late = watch.await(8, 20);
    assertThat(late.get(30, TimeUnit.SECONDS)).isEqualTo(new Replicas(4, List.of("n3")));
    assertThat(watch.waiting()).isZero();
  }

  @Test
  void whoLeadsNoMoreSaysSo() {
    CompletableFuture<Replicas> waiting = watch.await(8, LONG_MILLIS);
    engine.marks = null;
    engine.open.completeExceptionally(new IllegalStateException("not the leader"));
    for (CompletableFuture<Replicas> each : List.of(waiting, watch.await(1, LONG_MILLIS))) {
      RefusedException refused = (RefusedException) unwrapped(each);
      assertThat(refused.refusal()).isEqualTo(Refusal.NOT_LEADER);
      assertThat(refused).hasMessage("n2");
    }
  }

  @Test
  void theirNumberIsBounded() {
    times(ReplicaWatch.WAITERS_MAX, i -> watch.await(8, LONG_MILLIS));
    RefusedException refused = (RefusedException) unwrapped(watch.await(8, LONG_MILLIS));
    assertThat(refused.refusal()).isEqualTo(Refusal.OVERLOADED);
    engine.marks.put("n3", 8L);
    engine.open.complete(null);
    assertThat(watch.waiting()).isZero();
  }

  private static Throwable unwrapped(CompletableFuture<?> failed) {
    return Refusals.unwrap(failed.handle((value, failure) -> failure).join());
  }
}
