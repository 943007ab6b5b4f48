package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.RefusedException;
import java.util.List;

/**
 * The result of a batch.
 *
 * @param batch whose messages it is about
 * @param shard index of the shard
 * @param baseOffset of the first message if it is in the log; {@code OFFSET_FORGOTTEN} if it is
 *     there at an offset that nobody remembers
 * @param refused null if it is in the log
 * @param missing null, unless it is in the log and was to be on every replica: the nodes that are
 *     not known to have it, as far as somebody could be asked
 */
public record BatchResult<T>(
    OutBatch<T> batch, int shard, long baseOffset, RefusedException refused, List<String> missing) {

  /** It is in the log, but not known to be on every replica. */
  public BatchResult<T> lacking(List<String> nodes) {
    return new BatchResult<>(batch, shard, baseOffset, refused, nodes);
  }

  public List<T> tokens() {
    return batch.tokens;
  }
}
