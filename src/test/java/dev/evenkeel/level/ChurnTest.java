package dev.evenkeel.level;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Threads at once, with tracks made and destroyed at random. */
class ChurnTest {
  private static final int RANGE = 10;
  private static final int THREADS = 4;
  private static final long STEPS = 100_000;

  /**
   * A track as those see it who must not trust it: what it is sure to have, and what it may have.
   */
  private static final class Seen {
    final Track track;

    /** Raised before a move is asked for, and lowered if it is refused. */
    volatile long most;

    /** Raised after a move was granted. */
    volatile long least;

    volatile boolean gone;

    /** What others were sure to have before it joined, and may have had when it had. */
    final Map<Seen, long[]> atJoining = new ConcurrentHashMap<>();

    Seen(Track track) {
      this.track = track;
    }
  }

  private final List<Seen> live = new java.util.concurrent.CopyOnWriteArrayList<>();

  /** Nobody is set aside because its thread waits for a processor; and a lost wake-up shows. */
  private final Coordinator coordinator =
      Coordinators.coordinator(Range.of(RANGE), TimeUnit.HOURS.toMillis(1));

  private final AtomicReference<String> broken = new AtomicReference<>();

  private Seen join(String name) {
    List<Seen> others = new ArrayList<>(live);
    long[] before = others.stream().mapToLong(each -> each.least).toArray();
    Seen seen = new Seen(coordinator.track(name));
    for (int i = 0; i < before.length; i++) {
      seen.atJoining.put(others.get(i), new long[] {before[i], others.get(i).most});
    }
    live.add(seen);
    return seen;
  }

  private boolean move(Seen mine) {
    mine.most++;
    boolean moved = mine.track.move();
    if (!moved) {
      mine.most--;
      return false;
    }
    mine.least++;
    live.forEach(other -> check(mine, other));
    return true;
  }

  /** Complains only if no order of what happened could have been within the range. */
  private void check(Seen mine, Seen other) {
    if (mine == other) {
      return;
    }
    long sure;
    long[] its = mine.atJoining.get(other);
    long[] mines = other.atJoining.get(mine);
    long others = other.most;
    if (its != null) {
      sure = mine.least - (others - its[0]);
    } else if (mines != null) {
      sure = mine.least - mines[1] - others;
    } else {
      return;
    }
    if (sure > RANGE && !other.gone) {
      broken.compareAndSet(null, mine.track + " is " + sure + " ahead of " + other.track);
    }
  }

  private void destroy(Seen mine) {
    mine.gone = true;
    mine.track.destroy();
    live.remove(mine);
    live.forEach(each -> each.atJoining.remove(mine));
  }

  @Test
  void theBoundHoldsAndNobodyStallsWhileTracksComeAndGo() throws Exception {
    long seed = System.nanoTime();
    AtomicLong steps = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new java.util.concurrent.CopyOnWriteArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Random random = new Random(seed + i);
      Thread thread =
          new Thread(
              () -> {
                try {
                  walk(random, steps);
                } catch (Exception e) {
                  failures.add(e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    each(threads, each -> each.join());
    assertThat(failures).as("seed %d", seed).isEmpty();
    assertThat(broken.get()).as("seed %d", seed).isNull();
    assertThat(coordinator.size()).isZero();
  }

  private void walk(Random random, AtomicLong steps)
      throws ExecutionException, InterruptedException, TimeoutException {
    Seen mine = join("walker");
    while (steps.get() < STEPS) {
      if (random.nextInt(50) == 0) {
        destroy(mine);
        mine = join("walker");
      }
      if (move(mine)) {
        steps.incrementAndGet();
      } else if (random.nextBoolean()) {
        Thread.yield();
      } else {
        mine.track.ready().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
      }
    }
    destroy(mine);
  }

  /** The article's: two walkers, range 10, 100 ms. */
  @Test
  void twoWalkersForAHundredMillis() throws Exception {
    Seen[] walkers = {join("first"), join("second")};
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch ended = new CountDownLatch(2);
    for (Seen each : walkers) {
      new Thread(
              () -> {
                while (!stop.get()) {
                  if (!move(each)) {
                    Thread.yield();
                  }
                }
                ended.countDown();
              })
          .start();
    }
    TimeUnit.MILLISECONDS.sleep(100);
    // A thread may take longer than that to begin.
    Wait.until(() -> walkers[0].track.steps() > 0 && walkers[1].track.steps() > 0);
    stop.set(true);
    assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(broken.get()).isNull();
    assertThat(Math.abs(walkers[0].track.steps() - walkers[1].track.steps()))
        .isLessThanOrEqualTo(RANGE);
  }
}
