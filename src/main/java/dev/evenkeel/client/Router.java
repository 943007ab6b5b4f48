package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;

/**
 * Chooses the shard of a message. Without a router, a message with a key goes to the murmur2 hash
 * of the key modulo the number of shards, and messages without a key go round robin by batch.
 *
 * <p>It is called by one thread at a time, usually the one that sends the message. It must be fast,
 * and must not block or call the producer.
 *
 * <pre>{@code
 * Router byRegion = (message, shards) -> region(message) % shards;
 * }</pre>
 */
@FunctionalInterface
public interface Router {
  /**
   * Chooses the shard of a message. If it throws or returns a number that is no shard, the message
   * fails with INVALID.
   *
   * @param shards how many shards the topic has now, at least 1; it may grow
   * @return the index of the shard, from 0 to {@code shards - 1}
   */
  int route(Message message, int shards);
}
