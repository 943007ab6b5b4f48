package dev.evenkeel.dedup;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * 16 threads with failures, deaths and timeouts. At every moment and for each key at most one works
 * and at most one waits, but for claims that were evicted; those are counted.
 */
class LocalStressTest {
  private static final int THREADS = 16;
  private static final int KEYS = 20;
  private static final int REQUESTS = 20_000;
  private static final long HEAD_MILLIS_MAX = 1_000;
  private static final long WAIT_SECONDS_MAX = 60;

  private final LocalCoordinator<Integer> coordinator =
      new LocalCoordinator<>(1_000_000, HEAD_MILLIS_MAX);

  /** By key, who is at work; true once it has turned out to be evicted. */
  private final List<Set<AtomicBoolean>> working = new ArrayList<>();

  /** Two that were at work on one key at once. */
  private record Overlap(AtomicBoolean one, AtomicBoolean other) {}

  private final Queue<Overlap> overlaps = new ConcurrentLinkedQueue<>();

  private final AtomicLong now = new AtomicLong();
  private final AtomicInteger abandoned = new AtomicInteger();
  private final AtomicInteger lives = new AtomicInteger();
  private final Set<String> alive = ConcurrentHashMap.newKeySet();

  @Test
  void oneWorksAndOneWaitsWhateverHappens() throws Exception {
    run(false);
    assertThat(overlaps).isEmpty();
    assertThat(coordinator.figures().evicted()).isZero();
    assertThat(coordinator.figures().lost()).isZero();
    assertThat(coordinator.figures().keys()).isZero();
  }

  @Test
  void deathsAndTimeoutsCostNoMoreThanTheyEvict() throws Exception {
    run(true);
    now.addAndGet(10 * HEAD_MILLIS_MAX);
    coordinator.tick(now.get());
    coordinator.tick(now.addAndGet(HEAD_MILLIS_MAX));
    DedupFigures figures = coordinator.figures();
    assertThat(abandoned.get()).isPositive();
    assertThat(figures.evicted()).isGreaterThanOrEqualTo(abandoned.get());
    // Where two were at work, one of them had lost its place.
    assertThat(overlaps).allMatch(overlap -> overlap.one.get() || overlap.other.get());
    assertThat(figures.lost()).isPositive();
    assertThat(figures.keys()).isZero();
    assertThat(figures.waiting()).isZero();
  }

  private void run(boolean deaths) throws Exception {
    long seed = System.nanoTime();
    System.out.println("LocalStressTest seed " + seed);
    times(KEYS, i -> working.add(ConcurrentHashMap.newKeySet()));
    SplittableRandom seeds = new SplittableRandom(seed);
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom random = seeds.split();
      Thread thread = new Thread(() -> work(random, deaths));
      thread.setUncaughtExceptionHandler((which, failure) -> failures.add(failure));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        thread.join(1);
        DedupFigures figures = coordinator.figures();
        assertThat(figures.processing()).isBetween(0L, (long) KEYS);
        assertThat(figures.waiting()).isBetween(0L, figures.processing());
        long time = now.addAndGet(deaths ? HEAD_MILLIS_MAX / 10 : 1);
        if (deaths) {
          coordinator.tick(time);
          coordinator.sweep(time, new HashSet<>(alive));
        }
      }
    }
    assertThat(failures).isEmpty();
  }

  private void work(SplittableRandom random, boolean deaths) {
    String member = live(null);
    for (int i = 0; i < REQUESTS; i++) {
      int key = random.nextInt(KEYS);
      Ticket<Integer> ticket = coordinator.enQueue(key, new Worker(member, i, 0), now.get());
      if (ticket.answer() == Answer.DECLINE) {
        continue;
      }
      if (deaths && random.nextInt(500) == 0) {
        // It dies with its claim, at work or waiting.
        abandoned.incrementAndGet();
        member = live(member);
        continue;
      }
      if (ticket.answer() == Answer.BLOCK && !await(ticket, random)) {
        continue;
      }
      AtomicBoolean evicted = new AtomicBoolean();
      working.get(key).forEach(other -> overlaps.add(new Overlap(other, evicted)));
      working.get(key).add(evicted);
      handle(random, deaths);
      working.get(key).remove(evicted);
      evicted.set(leave(ticket) == Departure.NOT_HEAD);
    }
    alive.remove(member);
  }

  private Departure leave(Ticket<Integer> ticket) {
    return coordinator.deQueue(ticket, now.get()).toCompletableFuture().join();
  }

  private String live(String former) {
    String member = "life-" + lives.incrementAndGet();
    alive.add(member);
    if (former != null) {
      alive.remove(former);
    }
    return member;
  }

  /** False if it gave up its place. */
  private boolean await(Ticket<Integer> ticket, SplittableRandom random) {
    if (random.nextInt(10) == 0) {
      coordinator.deQueue(ticket, now.get());
      return false;
    }
    ticket.turn().toCompletableFuture().orTimeout(WAIT_SECONDS_MAX, TimeUnit.SECONDS).join();
    return true;
  }

  private void handle(SplittableRandom random, boolean deaths) {
    try {
      if (deaths && random.nextInt(300) == 0) {
        long until = now.get() + 2 * HEAD_MILLIS_MAX;
        while (now.get() < until) {
          Thread.onSpinWait();
          Thread.yield();
        }
      } else if (random.nextInt(4) == 0) {
        Thread.yield();
      }
      if (random.nextInt(10) == 0) {
        throw new IllegalStateException("the handler fails");
      }
    } catch (IllegalStateException e) {
      // Failed or not, the key is free again.
      assertThat(e).hasMessageContaining("fails");
    }
  }
}
