package dev.evenkeel.client.internal.broadcast;

import java.util.List;
import java.util.SortedMap;

/**
 * Where a consumer in mode broadcast stands: all that its file holds.
 *
 * @param cluster id of the cluster that the offsets are of
 * @param group its group
 * @param member its name
 * @param topics sorted by name
 */
public record Offsets(String cluster, String group, String member, List<Topic> topics) {

  /**
   * The offsets of a topic.
   *
   * @param name its name
   * @param id its number: a topic that was deleted and made again has another
   * @param next by shard: the next offset to be consumed
   */
  public record Topic(String name, int id, SortedMap<Integer, Long> next) {}
}
