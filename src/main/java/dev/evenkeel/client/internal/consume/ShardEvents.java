package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.List;

/**
 * The events of one owned shard: how the requests and callbacks of its {@link ConsumerAction}s
 * ended. Whoever carries out an action reports the outcome here, however late. {@code now} is a
 * monotonic clock in milliseconds.
 */
public interface ShardEvents {
  Ownership ownership();

  default Shard shard() {
    return ownership().shard();
  }

  void leaseRead(Lease lease, long now);

  void leaseFailed(RefusedException refused, long now);

  /**
   * The lease's epoch may publish.
   *
   * @param groups number of data groups
   */
  void publisherOpened(long producerId, int groups, long now);

  void publisherFailed(RefusedException refused, long now);

  /**
   * @param failure why onAssign failed, or null
   */
  void assignDone(Throwable failure, long now);

  void fetched(FetchRequest request, FetchAnswer answer, long now);

  void fetchFailed(FetchRequest request, RefusedException refused, long now);

  void committed(long offset);

  void commitFailed(RefusedException refused, long now);

  /**
   * The log has taken outcomes.
   *
   * @param noRoom offsets of those that it has no room for
   */
  void recorded(DataCommand.RecordOutcomes command, List<Long> noRoom, long now);

  void recordFailed(DataCommand.RecordOutcomes command, RefusedException refused, long now);

  void retriesFetched(RetryRequest request, RetryAnswer answer, long now);

  void retriesFailed(RetryRequest request, RefusedException refused, long now);

  /**
   * The log has answered what handlers published.
   *
   * @param results one for each batch, in order
   */
  void published(PublishRequest request, List<Result> results, long now);

  void publishFailed(PublishRequest request, RefusedException refused, long now);

  /**
   * @param state what onRelease gave; null or empty: none
   * @param failure why onRelease failed, or null
   */
  void stateGiven(byte[] state, Throwable failure, long now);

  void released(long now);

  void releaseFailed(RefusedException refused, long now);
}
