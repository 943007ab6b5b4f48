package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import java.util.List;
import java.util.random.RandomGenerator;

/** When a failed message is tried again, how it waits, and whether it ends the consumer. */
final class FailurePolicy {
  /** Pauses differ by so much, up and down, so that what failed together does not come together. */
  private static final double JITTER = 0.2;

  private final List<Long> delaysMillis;
  private final boolean stops;
  private final boolean moves;
  private final boolean ordersKeys;
  private final RandomGenerator random;

  /**
   * @param state whether the handler uses or gives state
   */
  FailurePolicy(ConsumerOptions options, boolean state, RandomGenerator random) {
    this.random = random;
    delaysMillis = options.getRetryDelaysMillis();
    stops = options.getOnFailure() == ConsumerOptions.OnFailure.STOP;
    moves = !state && !options.isHoldFailed() && options.getOrder() != ConsumerOptions.Order.SHARD;
    ordersKeys = options.getOrder() == ConsumerOptions.Order.KEY;
  }

  /** Whether a failed message leaves the window; else it waits there. */
  boolean moves() {
    return moves;
  }

  /** Whether moved messages keep the order of their key. */
  boolean ordersKeys() {
    return moves && ordersKeys;
  }

  /** Whether the consumer ends with a message that has no further attempt. */
  boolean stops() {
    return stops;
  }

  /** The pause after the {@code attempt}th failure, in milliseconds; -1: no further attempt. */
  long delayAfter(int attempt) {
    if (attempt > delaysMillis.size()) {
      return -1;
    }
    double factor = 1 - JITTER + 2 * JITTER * random.nextDouble();
    return Math.round(delaysMillis.get(attempt - 1) * factor);
  }
}
