package dev.evenkeel.sim;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/** Runs many seeds, and tells of one that fails what it takes to look into it. */
final class Seeds {
  /** The seed to run alone. */
  static final String SEED = "evenkeel.sim.seed";

  /** The focus of all seeds, by its name. */
  static final String FOCUS = "evenkeel.sim.focus";

  /** How many events are printed of a seed that fails. */
  static final String TRACE = "evenkeel.sim.trace";

  static final int TRACE_LINES = 60;

  private Seeds() {}

  /** Runs one seed; if it fails, again with a trace. */
  static long run(long seed, Setup setup) {
    try {
      return new Simulation(seed, setup, false).run();
    } catch (AssertionError | RuntimeException found) {
      throw new AssertionError(describe(seed, setup, found), found);
    }
  }

  /** What is wrong in a seed, or null. */
  static String failure(long seed, Setup setup) {
    try {
      new Simulation(seed, setup, false).run();
      return null;
    } catch (AssertionError | RuntimeException found) {
      return found.toString();
    }
  }

  private static String describe(long seed, Setup setup, Throwable found) {
    Simulation again = new Simulation(seed, setup, true);
    String second;
    try {
      again.run();
      second = "it does not fail again: something in it does not follow from the seed";
    } catch (AssertionError | RuntimeException same) {
      second = same.toString();
    }
    List<String> trace = again.trace();
    List<String> last = trace.subList(Math.max(0, trace.size() - lines()), trace.size());
    return "seed "
        + seed
        + ": "
        + found
        + "\n  "
        + String.join("\n  ", last)
        + "\nseed "
        + seed
        + ", run again: "
        + second
        + "\nmvn -o -q test -Dtest=HandoverSimulationTest -D"
        + SEED
        + "="
        + seed
        + (setup.focus() == null ? "" : " -D" + FOCUS + "=" + setup.focus());
  }

  private static int lines() {
    return Integer.getInteger(TRACE, TRACE_LINES);
  }

  /**
   * Runs seeds from {@code first} on, on as many threads as there are processors.
   *
   * @return how many events there were in all
   */
  static long run(long first, long count, Setup setup) throws InterruptedException {
    int threads = Math.min(2, Runtime.getRuntime().availableProcessors());
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    AtomicLong next = new AtomicLong(first);
    Callable<Long> work =
        () -> {
          long events = 0;
          long seed;
          while ((seed = next.getAndIncrement()) < first + count) {
            events += run(seed, setup);
          }
          return events;
        };
    try {
      long events = 0;
      for (Future<Long> each :
          executor.invokeAll(LongStream.range(0, threads).mapToObj(i -> work).toList())) {
        events += each.get();
      }
      return events;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof AssertionError failed) {
        throw failed;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      executor.shutdownNow();
    }
  }
}
