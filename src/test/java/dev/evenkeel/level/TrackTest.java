package dev.evenkeel.level;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The contract of a track, one thread at a time. */
class TrackTest {
  private static final long IDLE_MILLIS = 1_000;

  private final ArrayDeque<Runnable> alarms = new ArrayDeque<>();
  private long nowNanos;

  private Coordinator coordinator(int range) {
    return Coordinators.coordinator(
        Range.of(range), IDLE_MILLIS, () -> nowNanos, (delay, what) -> alarms.add(what));
  }

  private void pass(long millis) {
    nowNanos += millis * 1_000_000;
  }

  private static int moves(Track track, int most) {
    int moved = 0;
    while (moved < most && track.move()) {
      moved++;
    }
    return moved;
  }

  @Test
  void aTrackGetsAsFarAheadAsTheRangeAndNoFurther() {
    Coordinator coordinator = coordinator(10);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    assertThat(moves(a, 100)).isEqualTo(10);
    assertThat(a.state()).isEqualTo(Track.State.WAITING);
    assertThat(b.state()).isEqualTo(Track.State.RUNNING);
    assertThat(b.move()).isTrue();
    assertThat(moves(a, 100)).isEqualTo(1);
    assertThat(moves(b, 100)).isEqualTo(20);
    assertThat(moves(a, 100)).isEqualTo(20);
    assertThat(a.state()).isEqualTo(Track.State.WAITING);
    assertThat(b.move()).isTrue();
    assertThat(b.state()).isEqualTo(Track.State.RUNNING);
  }

  @Test
  void aloneItMovesFreely() {
    Track a = coordinator(1).track("a");
    assertThat(moves(a, 100_000)).isEqualTo(100_000);
    assertThat(a.steps()).isEqualTo(100_000);
  }

  @Test
  void aNewcomerCountsFromItsJoiningWithEachOther() {
    Coordinator coordinator = coordinator(10);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    assertThat(moves(a, 100)).isEqualTo(10);
    Track late = coordinator.track("late");
    // a is 10 ahead of b, yet late may be no more than 10 ahead of what a does from now on.
    assertThat(moves(late, 100)).isEqualTo(10);
    // b: 10 ahead of a, which has 10; and 10 ahead of late, which has 10.
    assertThat(moves(b, 100)).isEqualTo(20);
    assertThat(moves(late, 100)).isZero();
    assertThat(a.move()).isTrue();
    assertThat(moves(late, 100)).isEqualTo(1);
  }

  @Test
  void whoLeavesHoldsNobodyBack() {
    Coordinator coordinator = coordinator(3);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    assertThat(moves(a, 100)).isEqualTo(3);
    Future<Void> ready = a.ready();
    assertThat(ready.isComplete()).isFalse();
    b.destroy();
    b.destroy();
    assertThat(ready.succeeded()).isTrue();
    assertThat(moves(a, 100)).isEqualTo(100);
    assertThat(coordinator.size()).isEqualTo(1);
    assertThatThrownBy(b::move).isInstanceOf(IllegalStateException.class).hasMessageContaining("b");
    assertThat(b.ready().failed()).isTrue();
    assertThat(b.isDestroyed()).isTrue();
  }

  @Test
  void readyCompletesWhenAMoveMaySucceedAndNotBefore() {
    Coordinator coordinator = coordinator(2);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    Track c = coordinator.track("c");
    assertThat(a.ready().succeeded()).isTrue();
    assertThat(moves(a, 100)).isEqualTo(2);
    Future<Void> ready = a.ready();
    assertThat(a.ready()).isSameAs(ready);
    assertThat(b.move()).isTrue();
    assertThat(ready.isComplete()).isFalse();
    assertThat(b.move()).isTrue();
    assertThat(ready.isComplete()).isFalse();
    assertThat(c.move()).isTrue();
    assertThat(ready.succeeded()).isTrue();
    assertThat(a.move()).isTrue();
    assertThat(a.move()).isFalse();
  }

  @Test
  void readyOfADestroyedTrackFailsAndLeavesNothingBehind() {
    Coordinator coordinator = coordinator(1);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    Track c = coordinator.track("c");
    assertThat(a.move()).isTrue();
    assertThat(b.move()).isTrue();
    Future<Void> first = a.ready();
    Future<Void> second = b.ready();
    a.destroy();
    assertThat(first.failed()).isTrue();
    assertThat(first.cause()).isInstanceOf(IllegalStateException.class);
    assertThat(second.isComplete()).isFalse();
    c.move();
    assertThat(second.succeeded()).isTrue();
  }

  @Test
  void handlersThatStepDoNotFillTheStack() {
    Coordinator coordinator = coordinator(1);
    Track[] tracks = {coordinator.track("a"), coordinator.track("b")};
    int[] steps = new int[2];
    times(2, i -> walk(tracks[i], steps, i));
    // A handler runs inside the other one's move, which counts when it has returned.
    assertThat(steps[0] + steps[1]).isBetween(200_000, 200_001);
    assertThat(tracks[0].steps() - tracks[1].steps()).isBetween(-1L, 1L);
  }

  private static void walk(Track track, int[] steps, int mine) {
    while (steps[0] + steps[1] < 200_000) {
      if (track.move()) {
        steps[mine]++;
      } else {
        track.ready().onSuccess(done -> walk(track, steps, mine));
        return;
      }
    }
  }

  @Test
  void whoIsIdleWhileItHoldsOthersBackIsSetAsideAndJoinsAnew() {
    Coordinator coordinator = coordinator(5);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    pass(10 * IDLE_MILLIS);
    assertThat(moves(a, 100)).isEqualTo(5);
    assertThat(a.move()).isFalse();
    pass(IDLE_MILLIS - 1);
    assertThat(a.move()).isFalse();
    pass(1);
    assertThat(moves(a, 100)).isEqualTo(100);
    assertThat(coordinator.size()).isEqualTo(1);
    assertThat(moves(b, 100)).isEqualTo(5);
    assertThat(b.steps()).isEqualTo(5);
    assertThat(moves(a, 100)).isEqualTo(10);
  }

  @Test
  void readyCompletesOnTheContextThatAskedForIt() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      Coordinator coordinator = coordinator(1);
      Track a = coordinator.track("a");
      Track b = coordinator.track("b");
      Context context = vertx.getOrCreateContext();
      CompletableFuture<Context> completedOn = new CompletableFuture<>();
      context.runOnContext(
          now -> {
            a.move();
            a.ready().onSuccess(room -> completedOn.complete(Vertx.currentContext()));
            b.move();
            // Not inside the move that made room.
            assertThat(completedOn.isDone()).isFalse();
          });
      assertThat(completedOn.get(30, TimeUnit.SECONDS)).isSameAs(context);
    } finally {
      vertx.close().await(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void whoPollsInVainIsNotIdle() {
    Coordinator coordinator = coordinator(1);
    Track a = coordinator.track("a");
    Track b = coordinator.track("b");
    Track dead = coordinator.track("dead");
    assertThat(a.move()).isTrue();
    assertThat(b.move()).isTrue();
    for (int i = 0; i < 20; i++) {
      boolean moved = a.move() | b.move();
      if (moved) {
        break;
      }
      pass(IDLE_MILLIS / 4);
    }
    assertThat(coordinator.size()).isEqualTo(2);
    assertThat(dead.isDestroyed()).isFalse();
    assertThat(a.steps()).isGreaterThanOrEqualTo(1);
    assertThat(a.steps() + b.steps()).isGreaterThan(2);
  }

  @Test
  void theAlarmSetsAsideWhoIsIdleWhileOthersWaitForReady() {
    Coordinator coordinator = coordinator(1);
    Track a = coordinator.track("a");
    coordinator.track("dead");
    assertThat(a.move()).isTrue();
    assertThat(alarms).isEmpty();
    Future<Void> ready = a.ready();
    int rings = 0;
    while (!alarms.isEmpty()) {
      pass(IDLE_MILLIS / 2);
      alarms.poll().run();
      rings++;
    }
    assertThat(ready.succeeded()).isTrue();
    assertThat(rings).isBetween(2, 4);
    assertThat(coordinator.size()).isEqualTo(1);
  }

  @Test
  void aRangeIsChecked() {
    assertThat(Range.of(7)).isEqualTo(new Range(7)).hasToString("7");
    assertThatThrownBy(() -> Range.of(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Coordinators.coordinator(Range.STEPS_MAX + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 1000000");
    Fails.with(IllegalArgumentException.class, () -> Coordinators.coordinator(Range.of(1), 0));
  }
}
