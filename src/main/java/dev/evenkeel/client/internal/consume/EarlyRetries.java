package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.wire.RetryAnswer;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import java.util.stream.Stream;

/**
 * Retries that the log gave out before they may start. Only their offsets are kept, so that they
 * take no room from those for which the window waits; requests leave them out. A key comes whole
 * from its first one on that may not start.
 */
final class EarlyRetries {
  /** By key, the offsets. */
  private final Map<Long, TreeSet<Long>> keys = new HashMap<>();

  boolean isEmpty() {
    return keys.isEmpty();
  }

  /** Whether a retry comes behind one of its key that is here. */
  boolean isBehind(RetryAnswer.Retry retry) {
    TreeSet<Long> offsets = keys.get(retry.keyHash());
    return offsets != null && offsets.first() < retry.offset();
  }

  void add(RetryAnswer.Retry retry) {
    keys.computeIfAbsent(retry.keyHash(), any -> new TreeSet<>()).add(retry.offset());
  }

  /** Takes out the keys whose first retry may start. Returns whether there are any. */
  boolean take(LongPredicate mayStart) {
    return keys.values().removeIf(offsets -> mayStart.test(offsets.first()));
  }

  Stream<Long> offsets() {
    return keys.values().stream().flatMap(TreeSet::stream);
  }
}
