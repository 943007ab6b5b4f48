package dev.evenkeel.client;

import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;

/**
 * A message as a handler gets it. Topic, shard and offset together identify it.
 *
 * @param topic name of its topic
 * @param shard index of its shard, from 0
 * @param offset its place in the shard
 * @param message key, headers, timestamp and payload
 * @param member name of the consumer that handles it
 * @param epoch of the shard's lease: a fencing token that grows with each owner of the shard;
 *     always 1 in mode broadcast
 * @param attempt number of this attempt, 1 for the first
 * @param logPosition its place in the log of the cluster; null if that is not known: of a message
 *     that another member has tried before, in mode level, and from nodes of version 0.1
 */
public record Delivery(
    String topic,
    int shard,
    long offset,
    Message message,
    String member,
    long epoch,
    int attempt,
    LogPosition logPosition) {

  /** A message of which the place in the log is not known. */
  public Delivery(
      String topic,
      int shard,
      long offset,
      Message message,
      String member,
      long epoch,
      int attempt) {
    this(topic, shard, offset, message, member, epoch, attempt, null);
  }
}
