package dev.evenkeel.cli;

import io.micrometer.core.instrument.Timer;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Samples how late the event loops come to what is due: what a blocked or busy loop shows first.
 */
final class LoopLag implements AutoCloseable {
  private static final long SAMPLE_MILLIS = 500;

  private final List<ScheduledFuture<?>> samples = new ArrayList<>();

  LoopLag(Vertx vertx, Timer lag) {
    for (EventExecutor loop : ((VertxInternal) vertx).nettyEventLoopGroup()) {
      Sample sample = new Sample(lag);
      samples.add(
          loop.scheduleWithFixedDelay(sample, SAMPLE_MILLIS, SAMPLE_MILLIS, TimeUnit.MILLISECONDS));
    }
  }

  /** Of one loop, and run there. */
  private static final class Sample implements Runnable {
    private final Timer lag;
    private long dueNanos = System.nanoTime() + SAMPLE_MILLIS * 1_000_000;

    Sample(Timer lag) {
      this.lag = lag;
    }

    @Override
    public void run() {
      long now = System.nanoTime();
      lag.record(Math.max(0, now - dueNanos), TimeUnit.NANOSECONDS);
      dueNanos = now + SAMPLE_MILLIS * 1_000_000;
    }
  }

  @Override
  public void close() {
    samples.forEach(each -> each.cancel(false));
  }
}
