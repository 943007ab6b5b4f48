package dev.evenkeel.producer.core;

import dev.evenkeel.model.RefusedException;
import java.util.List;

/**
 * What became of a batch.
 *
 * @param batch whose messages it is about
 * @param shard index of the shard
 * @param baseOffset of the first message if it is in the log; {@code OFFSET_FORGOTTEN} if it is
 *     there and nobody remembers where
 * @param refused null if it is in the log
 */
public record Outcome<T>(OutBatch<T> batch, int shard, long baseOffset, RefusedException refused) {
  public List<T> tokens() {
    return batch.tokens;
  }
}
