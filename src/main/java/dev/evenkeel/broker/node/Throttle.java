package dev.evenkeel.broker.node;

import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.io.InterruptedIOException;

/**
 * Makes work on segments in the background wait, so that it takes a limited part of the disk. For
 * one thread.
 */
final class Throttle implements Segments.Pace {
  /** A shorter sleep takes longer than it says. */
  private static final double SECONDS_MIN = 0.01;

  private final long bytesPerSecond;
  private double secondsOwed;

  /**
   * @param bytesPerSecond at most; 1 or more
   */
  Throttle(long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  @Override
  public void read(long bytes) throws IOException {
    secondsOwed += bytes / (double) bytesPerSecond;
    if (secondsOwed < SECONDS_MIN) {
      return;
    }
    try {
      Thread.sleep((long) (secondsOwed * 1_000));
      secondsOwed = 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the node stops");
    }
  }
}
