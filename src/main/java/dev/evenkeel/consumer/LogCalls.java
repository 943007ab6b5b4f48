package dev.evenkeel.consumer;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.wire.RetryAnswer;
import dev.evenkeel.wire.RetryRequest;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * What a consumer asks of a shard's log, or of what stands for it. Every failure is a {@code
 * RefusedException}.
 */
interface LogCalls {
  /**
   * @param asked is told each node that is asked
   */
  Future<FetchAnswer> fetch(FetchRequest request, Consumer<String> asked);

  Future<Lease> readLease(Shard shard);

  Future<RetryAnswer> fetchRetries(RetryRequest request);

  Future<Reply> submit(Shard shard, DataCommand command);

  /** Who leads the shard now, as far as is known; else null. */
  String leaderOf(Shard shard);
}
