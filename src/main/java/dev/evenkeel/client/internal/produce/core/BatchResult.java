package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a batch.
 *
 * @param batch whose messages it is about
 * @param shard index of the shard
 * @param baseOffset as {@code AppendResults.Result#value} says, if it is in the log
 * @param refused null if it is in the log
 * @param missing null, unless it is in the log and was to be on every replica: the nodes that are
 *     not known to have it, as far as somebody could be asked
 */
public record BatchResult<T>(
    OutBatch<T> batch,
    int shard,
    long baseOffset,
    @Nullable RefusedException refused,
    @Nullable List<String> missing) {

  /** It is in the log, but not known to be on every replica. */
  public BatchResult<T> lacking(List<String> nodes) {
    return new BatchResult<>(batch, shard, baseOffset, refused, nodes);
  }

  /**
   * Where one of its messages is.
   *
   * @param place in the batch, from 0
   */
  public Position position(int place) {
    return position(shard, batch.dueMillis, baseOffset, place);
  }

  /**
   * Where a message is that the log has taken.
   *
   * @param dueMillis of its batch, 0 if it is not delayed
   * @param base as {@code AppendResults.Result#value}, of its batch
   * @param place in the batch, from 0
   */
  public static Position position(int shard, long dueMillis, long base, int place) {
    long serial = Result.serial(base);
    if (serial >= 0) {
      String id = new DelayedId(shard, dueMillis, serial, place).text();
      return new Position(shard, Result.OFFSET_FORGOTTEN, id);
    }
    return new Position(shard, base == Result.OFFSET_FORGOTTEN ? base : base + place);
  }

  public List<T> tokens() {
    return batch.tokens;
  }
}
