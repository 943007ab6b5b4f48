package dev.evenkeel.protocol;

/**
 * Shards from which a group gets no messages until it is resumed.
 *
 * @param topicId {@link #ALL_TOPICS}: all topics of the group
 * @param shard {@link #ALL_SHARDS}: all shards of the topic
 */
public record Pause(String group, int topicId, int shard) {
  /** Topics have ids from 1. */
  public static final int ALL_TOPICS = 0;

  public static final int ALL_SHARDS = -1;

  /** Most pauses of a cluster. */
  public static final int PAUSES_MAX = 10_000;

  /** The whole group. */
  public static Pause of(String group) {
    return new Pause(group, ALL_TOPICS, ALL_SHARDS);
  }

  /** Whether all that the other pause covers is paused by this one, too. */
  public boolean covers(Pause other) {
    return group.equals(other.group)
        && (topicId == ALL_TOPICS || topicId == other.topicId)
        && (shard == ALL_SHARDS || shard == other.shard);
  }
}
