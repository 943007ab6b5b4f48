package dev.evenkeel.dispatcher.level;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Names;
import java.util.List;
import java.util.Locale;

/** How a dealer consumes what it deals. */
final class DealerOptions {
  /** Most messages of a group that are waiting or in the members' hands. */
  static final int MESSAGES_MAX = 50_000;

  private static final long BYTES_MAX = 64L << 20;

  /** Not more than this is handled again by nobody's fault when a dealer dies. */
  private static final long COMMIT_MILLIS = 1_000;

  /** What a hand-over to another dispatcher waits for members' handlers. */
  private static final long LOCK_TIME_MILLIS = 5_000;

  private DealerOptions() {}

  /**
   * @param order "none", "key" or "shard"
   * @param retryDelaysMillis null: as by default
   */
  static ConsumerOptions of(
      String group, String node, List<String> topics, String order, List<Long> retryDelaysMillis) {
    return new ConsumerOptions()
        .setGroup(group)
        .setMember(Names.DISPATCHER_HOLDER + node)
        .setTopics(topics)
        .setOrder(ConsumerOptions.Order.valueOf(order.toUpperCase(Locale.ROOT)))
        .setRetryDelaysMillis(retryDelaysMillis)
        .setParallel(MESSAGES_MAX)
        .setHandOutMessages(MESSAGES_MAX)
        .setPendingMessagesMax(MESSAGES_MAX)
        .setPendingBytesMax((int) BYTES_MAX)
        .setLockTimeMillis(LOCK_TIME_MILLIS)
        .setCommitMillis(COMMIT_MILLIS)
        // A later dealer finds out from the members what they hold of the shards' windows.
        .setHoldFailed(true)
        .setBreaker(false);
  }
}
