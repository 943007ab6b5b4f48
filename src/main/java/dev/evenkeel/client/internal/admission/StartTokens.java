package dev.evenkeel.client.internal.admission;

import dev.evenkeel.util.TokenBucket;

/**
 * The rates that count for every message: that of the consumer, and that of its group. {@code
 * nanos} is a monotonic clock in nanoseconds.
 */
final class StartTokens {
  /** Null: the consumer has no rate of its own. */
  private final TokenBucket own;

  private long ownFull = TokenBucket.ALWAYS_FULL;

  /** Null: the group has no rate. */
  private final SharedTokens shared;

  StartTokens(TokenBucket own, SharedTokens shared) {
    this.own = own;
    this.shared = shared;
  }

  /** Whether a message may begin. If only the group's rate is in the way, it asks for tokens. */
  boolean available(long nanos) {
    return (own == null || own.due(ownFull) <= nanos)
        && (shared == null || shared.available(nanos));
  }

  /** A message begins. */
  void take(long nanos) {
    if (own != null) {
      ownFull = own.taken(ownFull, nanos);
    }
    if (shared != null) {
      shared.take();
    }
  }

  /** When a message may begin; {@link Long#MAX_VALUE}: never, or that is unknown. */
  long dueNanos() {
    if (own == null && shared == null) {
      return Long.MAX_VALUE;
    }
    long due = own == null ? Long.MIN_VALUE : own.due(ownFull);
    return shared == null ? due : Math.max(due, shared.dueNanos());
  }

  /** Whether no message may begin before that time, as far as is known. */
  boolean isAfter(long nanos) {
    return own != null && own.due(ownFull) > nanos || shared != null && shared.isAfter(nanos);
  }
}
