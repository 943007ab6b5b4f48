package dev.evenkeel.functional;

import dev.evenkeel.protocol.wire.Mutants;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Random attacks that run at the same time. {@code -Devenkeel.seed} repeats them. */
final class Attacks {
  @FunctionalInterface
  interface Attack {
    void run() throws Exception;
  }

  private final long seed = Mutants.seed();
  private final List<Callable<Void>> attacks = new ArrayList<>();
  private int randoms;

  /** For one attack. */
  Random random() {
    return new Random(seed + randoms++);
  }

  void add(Attack attack) {
    attacks.add(
        () -> {
          attack.run();
          return null;
        });
  }

  /** Returns when all have ended. Fails with the seed. */
  void run() throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(attacks.size());
    try {
      for (Future<Void> each : threads.invokeAll(attacks)) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError("seed " + seed, e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }
}
