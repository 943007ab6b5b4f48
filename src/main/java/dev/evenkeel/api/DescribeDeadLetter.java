package dev.evenkeel.api;

/**
 * One dead letter, named by its origin.
 *
 * @param group name of the group
 * @param deadLetter topic/shard/offset
 */
public record DescribeDeadLetter(String group, String deadLetter) {
  /**
   * Where a message came from.
   *
   * @param topic name of the topic
   * @param shard number of the shard
   * @param offset its offset there
   */
  public record Origin(String topic, int shard, long offset) {}
}
