package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.BodyRefs.Ref;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what was lost with a body of which no node has a whole copy. Batches in it that are whole
 * themselves can still be read.
 *
 * @param refs the batches in the body that the state needs
 * @param failures whether it has messages of retries or dead letters
 */
record LostBody(DataState state, long index, List<Ref> refs, boolean failures) {
  private static final Logger LOG = LoggerFactory.getLogger(LostBody.class);

  /**
   * Logs each batch that cannot be read.
   *
   * @return how many messages they had
   */
  long log(String group) {
    LOG.error(
        "log group {}: the body of entry {} is damaged, and no other node has a whole copy of it",
        group,
        index);
    if (failures) {
      LOG.error(
          "messages in it are retries or dead letters: those that are lost become unreadable");
    }
    long messages = 0;
    for (Ref ref : refs) {
      if (ref.entry() == null) {
        messages += ref.count();
        LOG.error(
            "{} delayed messages of {} may be lost",
            ref.count(),
            state.tables().nameOf(ref.shard()));
      } else if (!isWhole(ref)) {
        messages += ref.count();
        LOG.error(
            "lost: {}, offsets {} to {}. Consumers go on behind them",
            state.tables().nameOf(ref.shard()),
            ref.entry().base(),
            ref.entry().last());
      }
    }
    return messages;
  }

  private boolean isWhole(Ref ref) {
    try {
      byte[] bytes = state.bytes(ref.entry());
      return bytes != null && Batch.whole(ByteBuffer.wrap(bytes)) != null;
    } catch (RefusedException | UncheckedIOException damaged) {
      return false;
    }
  }
}
