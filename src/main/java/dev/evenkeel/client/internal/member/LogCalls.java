package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
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
