package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

/**
 * Settings of a topic.
 *
 * @param retentionMillis how long a message is kept after every group has consumed it
 * @param ageMillisMax drop messages older than this even if a group has not consumed them; -1: off
 * @param shardBytesMax drop the oldest messages of a shard above this size even if a group has not
 *     consumed them; -1: off
 */
public record TopicConfig(long retentionMillis, long ageMillisMax, long shardBytesMax) {
  public static final TopicConfig DEFAULT = new TopicConfig(24L * 3600 * 1000, -1, -1);

  /**
   * @throws RefusedException INVALID unless it makes sense
   */
  public void check() {
    if (retentionMillis < 0) {
      throw INVALID.error("retention of " + retentionMillis + " ms: use 0 or more");
    }
    if (ageMillisMax < -1 || shardBytesMax < -1) {
      throw INVALID.error("limits of age and size are 0 or more, or -1 for none");
    }
  }
}
