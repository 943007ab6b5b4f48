package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * Requests of a consumer to the log of a shard, or to what takes its place. Every failure is a
 * {@code RefusedException}.
 */
interface LogCalls {
  /**
   * @param quiet whether little comes to the shard: then it may be fetched together with others
   * @param asked gets each node that the request goes to
   */
  Future<FetchAnswer> fetch(FetchRequest request, boolean quiet, Consumer<String> asked);

  /**
   * Fetches from a shard that this consumer gets when its owner releases it: see {@link
   * FetchRequest#AS_GRANTED}. Fails where shards have no owners.
   *
   * @param asked gets the node that the request goes to
   */
  default Future<FetchAnswer> fetchAhead(FetchRequest request, Consumer<String> asked) {
    return Future.failedFuture(
        new RefusedException(Refusal.INVALID, "shards have no owners in this mode"));
  }

  Future<Lease> readLease(Shard shard);

  /** Reads the lease on a sealed shard, with its stage. Fails where shards have no leases. */
  default Future<Lease> readParentLease(Shard shard) {
    return Future.failedFuture(
        new RefusedException(Refusal.INVALID, "shards have no leases in this mode"));
  }

  Future<RetryAnswer> fetchRetries(RetryRequest request);

  Future<Reply> submit(Shard shard, DataCommand command);

  Future<Reply> submit(int dataGroup, DataCommand command);

  /** The node that leads the shard, or null if it is not known. */
  String leaderOf(Shard shard);
}
