package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;

/**
 * Chooses the shard of a message, on the producer's context. The default hashes the key (murmur2);
 * messages without a key go round robin by batch.
 *
 * <pre>{@code
 * Router byRegion = (message, shards) -> region(message) % shards;
 * }</pre>
 */
@FunctionalInterface
public interface Router {
  /**
   * @param shards how many shards the topic has now, at least 1
   * @return from 0 to {@code shards - 1}
   */
  int route(Message message, int shards);
}
