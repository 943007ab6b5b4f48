package dev.evenkeel.level;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Control;

/**
 * Granted steps a second of all threads together, when they do nothing else. {@code
 * dev.evenkeel.bench.Stepping} runs it with 1 to 8 threads and prints the table.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class SteppingBenchmark {

  /** What all threads share. */
  @State(Scope.Benchmark)
  public static class Shared {
    @Param({"10", "100", "1000"})
    public int range;

    @Param({"spin", "yield"})
    public String waiters;

    private Coordinator coordinator;
    private ArticleBarrier barrier;
    private boolean yields;

    @Setup(Level.Iteration)
    public void setUp() {
      coordinator = Coordinators.coordinator(range);
      barrier = new ArticleBarrier(range);
      yields = waiters.equals("yield");
    }

    void refused() {
      if (yields) {
        Thread.yield();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  /** A thread's own track of each kind. */
  @State(Scope.Thread)
  public static class Own {
    private Track track;
    private ArticleBarrier.Walker walker;

    @Setup(Level.Iteration)
    public void setUp(Shared shared) {
      track = shared.coordinator.track("walker");
      walker = shared.barrier.track();
    }
  }

  @Benchmark
  public void evenkeel(Own own, Shared shared, Control control) throws InterruptedException {
    while (!own.track.move()) {
      if (control.stopMeasurement) {
        endedWithoutAStep();
        return;
      }
      shared.refused();
    }
  }

  @Benchmark
  public void article(Own own, Shared shared, Control control) throws InterruptedException {
    while (!own.walker.move()) {
      if (control.stopMeasurement) {
        endedWithoutAStep();
        return;
      }
      shared.refused();
    }
  }

  /**
   * Others may have ended already, so there may be no more step. The harness counts the invocation
   * all the same; it must not count millions of them before it notices the end itself.
   */
  private static void endedWithoutAStep() throws InterruptedException {
    Thread.sleep(1);
  }
}
