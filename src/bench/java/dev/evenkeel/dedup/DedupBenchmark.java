package dev.evenkeel.dedup;

import dev.evenkeel.demo.Zipf;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/**
 * Pairs of enQueue and deQueue a second, against the algorithm of the articles. Keys are the same
 * objects for both. Blocked requests are waited for: theirs by sleeping, ours by its future.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(jvmArgsAppend = {"-Xms8g", "-Xmx8g"})
public class DedupBenchmark {
  /** A coordinator of each kind, new in each round: the article's map would grow for ever. */
  @State(Scope.Benchmark)
  public static class Queues {
    @Param({"local", "article"})
    public String kind;

    LocalCoordinator<DedupKey> local;
    ArticleQueue<DedupKey> article;
    final AtomicLong threads = new AtomicLong();

    @Setup(Level.Iteration)
    public void setUp() {
      local = kind.equals("local") ? new LocalCoordinator<>(1_000_000, 60_000) : null;
      article = new ArticleQueue<>();
      System.gc();
    }

    /** Whether it was worked on. */
    boolean pair(DedupKey key, Worker worker) {
      if (local != null) {
        Ticket<DedupKey> ticket = local.enQueue(key, worker, 1);
        switch (ticket.answer()) {
          case DECLINE:
            return false;
          case BLOCK:
            ((CompletableFuture<Answer>) ticket.turn()).join();
            break;
          default:
            break;
        }
        local.deQueue(ticket, 1);
        return true;
      }
      boolean runs = article.enQueue(key);
      if (runs) {
        article.deQueue(key);
      }
      return runs;
    }
  }

  /** Keys of one thread. */
  @State(Scope.Thread)
  public static class Keys {
    private static final int HOT_KEYS = 500;
    private static final int DRAWS = 1 << 16;

    private final DedupKey[] zipf = new DedupKey[DRAWS];
    private Worker worker;
    private long unique;
    private int at;

    @Setup
    public void setUp(Queues queues) {
      long thread = queues.threads.incrementAndGet();
      worker = new Worker("m", thread, 0);
      unique = thread << 40;
      SplittableRandom random = new SplittableRandom(thread);
      Zipf draw = new Zipf(HOT_KEYS, 1);
      DedupKey[] keys = new DedupKey[HOT_KEYS];
      for (int i = 0; i < HOT_KEYS; i++) {
        keys[i] = new DedupKey(i * 0x9e3779b97f4a7c15L, i);
      }
      for (int i = 0; i < DRAWS; i++) {
        zipf[i] = keys[draw.next(random) - 1];
      }
    }

    DedupKey unique() {
      long next = unique++;
      return new DedupKey(next * 0x9e3779b97f4a7c15L, next);
    }

    DedupKey zipf() {
      return zipf[at++ & DRAWS - 1];
    }
  }

  @Benchmark
  @Threads(1)
  public boolean unique1(Queues queues, Keys keys) {
    return queues.pair(keys.unique(), keys.worker);
  }

  @Benchmark
  @Threads(2)
  public boolean unique2(Queues queues, Keys keys) {
    return queues.pair(keys.unique(), keys.worker);
  }

  @Benchmark
  @Threads(8)
  public boolean unique8(Queues queues, Keys keys) {
    return queues.pair(keys.unique(), keys.worker);
  }

  @Benchmark
  @Threads(1)
  public boolean zipf1(Queues queues, Keys keys) {
    return queues.pair(keys.zipf(), keys.worker);
  }

  @Benchmark
  @Threads(2)
  public boolean zipf2(Queues queues, Keys keys) {
    return queues.pair(keys.zipf(), keys.worker);
  }

  @Benchmark
  @Threads(8)
  public boolean zipf8(Queues queues, Keys keys) {
    return queues.pair(keys.zipf(), keys.worker);
  }
}
