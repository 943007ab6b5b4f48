package dev.evenkeel.protocol;

/**
 * The producer under which a spool sends again what shards did not take that are sealed or gone by
 * now. Like the producer of a handler, it has a record in every data log group, under the name of a
 * group and an input shard (see {@link DataCommand.OpenPublisher}), and no such group and shard
 * exist.
 */
public final class SpoolPublisher {
  private static final String GROUP = "evenkeel.spool-";

  /** Ids that the meta log gives out are lower. */
  private static final long FIRST_PRODUCER = 1L << 61;

  private SpoolPublisher() {}

  /** Its id, for the id of the spool's producer. */
  public static long id(long producerId) {
    return FIRST_PRODUCER | producerId;
  }

  /** What it has in place of a group, for the id of the spool's producer. */
  public static String group(long producerId) {
    return GROUP + producerId;
  }

  /**
   * What it has in place of an input: the last number that a shard of the topic can have. A shard
   * of that number is never dropped while the topic exists, so the record stays.
   */
  public static Shard input(int topicId) {
    return new Shard(topicId, Limits.SHARD_NUMBERS_MAX - 1);
  }

  /** What former versions have in place of an input. */
  public static Shard formerInput(int topicId) {
    return new Shard(topicId, 0);
  }

  /** Whether that stands in place of a group. */
  public static boolean isGroup(String group) {
    return group.startsWith(GROUP);
  }

  /** The id of the spool's producer, for the id of this one. */
  public static long producerId(long id) {
    return id & ~FIRST_PRODUCER;
  }
}
