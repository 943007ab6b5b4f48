package dev.evenkeel.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Small cases of tracks in every order of their accesses to what they share, with up to three
 * preemptions. (Once with five, and three tracks with two: 80 seconds.)
 */
class TrackInterleavingsTest {
  private static final long IDLE_MILLIS = 1;

  private final long[] nowNanos = {0};

  /** Moves, and where it is refused waits; at the end nobody may wait who could move. */
  private static final class Walker {
    final Track track;
    Future<Void> ready;

    Walker(Track track) {
      this.track = track;
    }

    void walk(int moves) {
      for (int i = 0; i < moves; i++) {
        if (!track.move()) {
          ready = track.ready();
          return;
        }
      }
    }

    void checkNotForgotten() {
      if (ready != null && !ready.isComplete()) {
        assertThat(track.move()).as("%s waits and could move", track).isFalse();
      }
    }
  }

  private CheckedCoordinator checked(int range) {
    return new CheckedCoordinator(range, IDLE_MILLIS, nowNanos);
  }

  private static Runnable atEnd(List<Walker> walkers) {
    return () -> walkers.forEach(Walker::checkNotForgotten);
  }

  private Interleavings.Run walkers(CheckedCoordinator coordinator, int... moves) {
    List<Walker> walkers = new ArrayList<>();
    List<Runnable> threads = new ArrayList<>();
    for (int each : moves) {
      Walker walker = new Walker(coordinator.track("w"));
      walkers.add(walker);
      threads.add(() -> walker.walk(each));
    }
    return new Interleavings.Run(threads, atEnd(walkers));
  }

  private Interleavings.Run joins(CheckedCoordinator coordinator) {
    Walker first = new Walker(coordinator.track("first"));
    List<Walker> walkers = new ArrayList<>(List.of(first));
    return new Interleavings.Run(
        List.of(
            () -> first.walk(3),
            () -> {
              Walker late = new Walker(coordinator.track("late"));
              walkers.add(late);
              late.walk(2);
            }),
        atEnd(walkers));
  }

  private Interleavings.Run leaves(CheckedCoordinator coordinator) {
    Walker walker = new Walker(coordinator.track("walker"));
    Track leaver = coordinator.track("leaver");
    return new Interleavings.Run(
        List.of(() -> walker.walk(2), leaver::destroy), atEnd(List.of(walker)));
  }

  /** One is about to be set aside, and moves. */
  private Interleavings.Run setsAside(CheckedCoordinator coordinator) {
    Walker walker = new Walker(coordinator.track("walker"));
    Walker idle = new Walker(coordinator.track("idle"));
    walker.walk(1);
    walker.track.move();
    walker.track.move();
    nowNanos[0] += 2_000_000;
    return new Interleavings.Run(
        List.of(() -> walker.walk(3), () -> idle.walk(2)), atEnd(List.of(walker, idle)));
  }

  private Interleavings.Run joinsAndLeaves(CheckedCoordinator coordinator) {
    Walker walker = new Walker(coordinator.track("walker"));
    Track leaver = coordinator.track("leaver");
    List<Walker> walkers = new ArrayList<>(List.of(walker));
    return new Interleavings.Run(
        List.of(
            () -> walker.walk(3),
            () -> {
              Walker late = new Walker(coordinator.track("late"));
              walkers.add(late);
              late.walk(2);
            },
            () -> {
              leaver.move();
              leaver.destroy();
            }),
        atEnd(walkers));
  }

  @Test
  void twoThatWalk() {
    int orders = Interleavings.explore(3, () -> walkers(checked(1), 2, 2));
    assertThat(orders).isGreaterThan(1_000);
  }

  @Test
  void threeThatWalk() {
    Interleavings.explore(1, () -> walkers(checked(1), 2, 2, 2));
  }

  @Test
  void oneThatJoinsWhileAnotherWalks() {
    int orders = Interleavings.explore(3, () -> joins(checked(1)));
    assertThat(orders).isGreaterThan(1_000);
    Interleavings.explore(2, () -> joins(checked(2)));
  }

  @Test
  void oneThatLeavesWhileAnotherWaitsForIt() {
    Interleavings.explore(4, () -> leaves(checked(1)));
  }

  @Test
  void oneThatIsSetAsideAndMoves() {
    Interleavings.explore(2, () -> setsAside(checked(1)));
  }

  @Test
  void oneThatJoinsAndOneThatLeaves() {
    Interleavings.explore(1, () -> joinsAndLeaves(checked(1)));
  }

  /** Planted: a table that is seen one look too late. */
  @Test
  void aTableSeenLateIsFoundOut() {
    assertBroken(
        () ->
            joins(
                new CheckedCoordinator(1, IDLE_MILLIS, nowNanos) {
                  private Seat[] before = {};
                  private Seat[] last = {};

                  @Override
                  Seat[] table() {
                    Seat[] now = super.table();
                    if (now != last) {
                      before = last;
                      last = now;
                      return before.length == 0 ? now : before;
                    }
                    return now;
                  }
                }),
        "steps ahead");
  }

  /** Planted: the end of a stay that a step of the same moment does not notice. */
  @Test
  void aStepThatDoesNotCompareIsFoundOut() {
    assertBroken(
        () ->
            setsAside(
                new CheckedCoordinator(1, IDLE_MILLIS, nowNanos) {
                  @Override
                  Seat newSeat() {
                    return new CheckedSeat(this) {
                      @Override
                      boolean replaceWord(long expected, long next) {
                        return super.replaceWord(Seat.isTaken(next) ? word() : expected, next);
                      }
                    };
                  }
                }),
        "");
  }

  /** Planted: a waiter that does not look again when it is in the list. */
  @Test
  void aLostWakeUpIsFoundOut() {
    assertBroken(
        () ->
            walkers(
                new CheckedCoordinator(1, IDLE_MILLIS, nowNanos) {
                  @Override
                  Seat newSeat() {
                    return new CheckedSeat(this) {
                      @Override
                      void park(Waiter waiter, long needed) {
                        WaiterLink first = waiters();
                        while (!replaceWaiters(first, new WaiterLink(waiter, needed, first))) {
                          first = waiters();
                        }
                      }
                    };
                  }
                },
                2,
                2),
        "waits and could move");
  }

  private static void assertBroken(Supplier<Interleavings.Run> runs, String how) {
    assertThatThrownBy(() -> Interleavings.explore(3, runs))
        .isInstanceOf(AssertionError.class)
        .hasRootCauseInstanceOf(AssertionError.class)
        .rootCause()
        .hasMessageContaining(how);
  }
}
