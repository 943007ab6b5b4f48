package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;

/** Chooses the shard of a message. The default hashes the key (murmur2), or goes round robin. */
@FunctionalInterface
public interface Router {
  /**
   * @param shards how many shards the topic has now, at least 1
   * @return from 0 to {@code shards - 1}
   */
  int route(Message message, int shards);
}
