package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.internal.spool.log.SpoolIntake.Token;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import io.vertx.core.Promise;
import java.util.List;

/**
 * Stands for a batch of a frame that is being sent.
 *
 * @param endSequence after its last message, within its run
 * @param tokens of the messages of which somebody wants to hear
 */
record SpooledBatch(
    long frame, int shard, long endSequence, List<Token<Promise<Producer.Position>>> tokens) {

  void acked(long baseOffset) {
    for (Token<Promise<Producer.Position>> token : tokens) {
      long offset = baseOffset == Result.OFFSET_FORGOTTEN ? baseOffset : baseOffset + token.place();
      token.value().tryComplete(new Producer.Position(shard, offset));
    }
  }

  void failed(RefusedException why) {
    tokens.forEach(token -> token.value().tryFail(why));
  }
}
