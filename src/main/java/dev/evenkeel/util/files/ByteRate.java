package dev.evenkeel.util.files;

import dev.evenkeel.util.TokenBucket;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/**
 * Limits how many bytes per second work in the background moves. Whoever takes bytes waits for as
 * long as they last at that rate, after those who took before. What was not taken for a while may
 * be taken at once, but only for a tenth of a second.
 *
 * <p>Any thread may call any method; threads that share one share the rate.
 */
public final class ByteRate {
  static final long SAVED_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(100);

  /** A shorter sleep takes longer than it says. */
  static final long SLEEP_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(10);

  /** Its tokens are nanoseconds. */
  private static final TokenBucket BUCKET = new TokenBucket(1, SAVED_NANOS_MAX);

  private final long bytesPerSecondMax;
  private long full;

  /**
   * @param bytesPerSecondMax 1 or more
   */
  public ByteRate(long bytesPerSecondMax) {
    this(bytesPerSecondMax, System.nanoTime());
  }

  ByteRate(long bytesPerSecondMax, long nowNanos) {
    this.bytesPerSecondMax = bytesPerSecondMax;
    full = nowNanos + SAVED_NANOS_MAX;
  }

  /**
   * Takes bytes, and waits until they may have been moved.
   *
   * @throws InterruptedIOException if the thread is interrupted, which it still is then
   */
  public void take(long bytes) throws InterruptedIOException {
    try {
      TimeUnit.NANOSECONDS.sleep(waitNanos(bytes, System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the node stops");
    }
  }

  /** Takes bytes, and returns how long to wait. Whoever is next also waits for what is short. */
  synchronized long waitNanos(long bytes, long nowNanos) {
    double nanos = (double) bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecondMax;
    full = BUCKET.taken(full, nowNanos, (long) Math.ceil(nanos));
    long wait = BUCKET.due(full) - nowNanos;
    return wait < SLEEP_NANOS_MIN ? 0 : wait;
  }
}
