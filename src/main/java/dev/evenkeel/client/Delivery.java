package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;

/**
 * A message as a handler gets it.
 *
 * @param topic name of its topic
 * @param shard its shard
 * @param offset its place in the shard
 * @param message key, headers, timestamp, payload
 * @param member name of the consumer that handles it
 * @param epoch of the lease under which it is handled: a fencing token that grows with each owner
 * @param attempt 1 for the first try
 */
public record Delivery(
    String topic,
    int shard,
    long offset,
    Message message,
    String member,
    long epoch,
    int attempt) {}
