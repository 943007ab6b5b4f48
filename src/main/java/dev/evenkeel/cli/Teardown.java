package dev.evenkeel.cli;

import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The steps that stop what has been started. They run in reverse order, for a limited time. */
public final class Teardown {
  private static final Logger LOG = LoggerFactory.getLogger(Teardown.class);

  /** A step that takes longer is logged. */
  private static final long SLOW_MILLIS = 500;

  private record Step(String name, Supplier<CompletionStage<?>> end) {}

  private final Deque<Step> steps = new ArrayDeque<>();

  /** Adds a step that does not block. */
  void add(String name, Supplier<Future<?>> end) {
    steps.push(new Step(name, () -> end.get().toCompletionStage()));
  }

  /** Adds a step that blocks. */
  public void addBlocking(String name, Runnable end) {
    steps.push(new Step(name, () -> onThread(name, end)));
  }

  /** Adds two steps that run at the same time; the first one blocks. */
  void addTogether(String name, Runnable end, String other, Supplier<Future<?>> otherEnd) {
    steps.push(
        new Step(
            name + " and " + other,
            () ->
                CompletableFuture.allOf(
                    onThread(name, end),
                    otherEnd.get().toCompletionStage().toCompletableFuture())));
  }

  private static CompletableFuture<Void> onThread(String name, Runnable end) {
    return Daemon.call("evenkeel-end-" + name, Executors.callable(end, null));
  }

  /** Runs all steps. Blocks. A step that fails or takes too long does not prevent the next ones. */
  void run(long millisMax) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millisMax);
    while (!steps.isEmpty()) {
      Step step = steps.pop();
      long begun = System.nanoTime();
      try {
        long left = Math.max(TimeUnit.MILLISECONDS.toNanos(100), deadline - System.nanoTime());
        step.end().get().toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (Exception e) {
        LOG.warn("{} did not stop cleanly: {}", step.name(), e.toString());
      }
      long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
      if (took >= SLOW_MILLIS) {
        LOG.info("{} took {} ms to end", step.name(), took);
      }
    }
  }
}
