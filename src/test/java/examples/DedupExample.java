package examples;

import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.LocalCoordinator;
import dev.evenkeel.dedup.QueueCoordinator;
import dev.evenkeel.dedup.Ticket;
import dev.evenkeel.dedup.Worker;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Loads entries of a cache. However many callers ask for the same entry at once, one load runs and
 * one more waits.
 */
public final class DedupExample implements AutoCloseable {
  private static final int KEYS_MAX = 10_000;
  private static final long LOAD_MILLIS_MAX = 60_000;

  private final QueueCoordinator<String> coordinator =
      new LocalCoordinator<>(KEYS_MAX, LOAD_MILLIS_MAX);
  private final Worker worker = new Worker("cache-1", 0, 0);
  private final ExecutorService executor = Executors.newFixedThreadPool(4);
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Consumer<String> loader;

  public DedupExample(Consumer<String> loader) {
    this.loader = loader;
    timer.scheduleAtFixedRate(() -> coordinator.tick(nowMillis()), 1, 1, TimeUnit.SECONDS);
  }

  private static long nowMillis() {
    return System.nanoTime() / 1_000_000;
  }

  /** Completes with true after a load, and with false if another load of the entry still waits. */
  public CompletionStage<Boolean> load(String entry) {
    Ticket<String> ticket = coordinator.enQueue(entry, worker, nowMillis());
    return ticket
        .turn()
        .thenApplyAsync(
            turn -> {
              if (turn == Answer.DECLINE) {
                return false;
              }
              try {
                loader.accept(entry);
                return true;
              } finally {
                coordinator.deQueue(ticket, nowMillis());
              }
            },
            executor);
  }

  @Override
  public void close() {
    executor.shutdown();
    timer.shutdown();
  }

  public static void main(String[] args) throws Exception {
    try (DedupExample example = new DedupExample(entry -> System.out.println("load " + entry))) {
      for (int i = 0; i < 10; i++) {
        example.load("prices").thenAccept(loaded -> System.out.println("loaded: " + loaded));
      }
      Thread.sleep(500);
    }
  }
}
