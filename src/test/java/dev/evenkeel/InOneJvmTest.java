package dev.evenkeel;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.level.Coordinator;
import dev.evenkeel.level.Coordinators;
import dev.evenkeel.level.Range;
import dev.evenkeel.level.Track;
import examples.DedupExample;
import examples.LevelExample;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** The examples of the page about the algorithms in one JVM. */
class InOneJvmTest {
  private static final int RANGE = 10;
  private static final int THREADS = 3;
  private static final int LINES = 1_000;

  @Test
  void theThreadsOfTheLevelExampleStayLevel() throws Exception {
    // No track is set aside, however long its thread has to wait for a processor.
    Coordinator coordinator = Coordinators.coordinator(Range.of(RANGE), 600_000);
    List<String> lines = Collections.nCopies(LINES, "line");
    AtomicIntegerArray read = new AtomicIntegerArray(THREADS);
    AtomicInteger tooFar = new AtomicInteger();
    List<Track> tracks = new ArrayList<>();
    times(THREADS, i -> tracks.add(coordinator.track("track-" + i)));
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int mine = i;
      Runnable work =
          () ->
              LevelExample.read(
                  tracks.get(mine),
                  lines,
                  line -> {
                    int count = read.incrementAndGet(mine);
                    for (int other = 0; other < THREADS; other++) {
                      // The step was granted, and another's last one may not be counted yet.
                      if (count - read.get(other) > RANGE + 1) {
                        tooFar.incrementAndGet();
                      }
                    }
                  });
      threads.add(new Thread(work));
    }
    threads.forEach(Thread::start);
    each(threads, each -> each.join(TimeUnit.MINUTES.toMillis(2)));
    times(THREADS, i -> assertThat(read.get(i)).isEqualTo(LINES));
    assertThat(tooFar).hasValue(0);
  }

  @Test
  void theDedupExampleLoadsOnceAndOnceMore() throws Exception {
    AtomicInteger loads = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    try (DedupExample example =
        new DedupExample(
            entry -> {
              loads.incrementAndGet();
              begun.countDown();
              try {
                mayEnd.await(1, TimeUnit.MINUTES);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            })) {
      List<CompletableFuture<Boolean>> all = new ArrayList<>();
      all.add(example.load("prices").toCompletableFuture());
      assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
      times(9, i -> all.add(example.load("prices").toCompletableFuture()));
      mayEnd.countDown();
      int loaded = 0;
      for (CompletableFuture<Boolean> each : all) {
        loaded += each.get(1, TimeUnit.MINUTES) ? 1 : 0;
      }
      assertThat(loaded).isEqualTo(2);
      assertThat(loads).hasValue(2);
    }
  }
}
