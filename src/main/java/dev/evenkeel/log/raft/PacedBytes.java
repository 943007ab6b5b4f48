package dev.evenkeel.log.raft;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Lets several threads together move a limited number of bytes per second. */
final class PacedBytes {
  private final AtomicReference<TransferRate> rate;

  PacedBytes(long bytesPerSecondMax) {
    rate = new AtomicReference<>(TransferRate.of(bytesPerSecondMax, System.nanoTime()));
  }

  /** Takes bytes, and waits until they may have been moved. */
  void take(long bytes) throws InterruptedException {
    long now = System.nanoTime();
    TransferRate after = rate.updateAndGet(before -> before.taken(bytes, now));
    TimeUnit.NANOSECONDS.sleep(after.waitNanos(now));
  }
}
