package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.storage.Store;
import org.jspecify.annotations.Nullable;

/** Finds the messages of a shard that the outcomes of one command are about. */
final class MessageFinder {
  private final Store store;
  private final Shard shard;
  private final ShardRecord record;

  /** The batch that was found last: the next message is most often in the same. */
  private @Nullable IndexEntry last;

  MessageFinder(Store store, Shard shard, ShardRecord record) {
    this.store = store;
    this.shard = shard;
    this.record = record;
  }

  /** Where the message is in the log; else the copy that came with the outcome. */
  @Nullable KeptMessage find(Outcome outcome) {
    long offset = outcome.offset();
    if (!has(last, offset)) {
      last = offset < record.start() ? null : BatchIndex.at(store, shard, offset);
    }
    if (last != null && has(last, offset)) {
      return KeptMessage.in(last);
    }
    return outcome.copy() == null ? null : KeptMessage.copied(outcome.copy());
  }

  private static boolean has(@Nullable IndexEntry batch, long offset) {
    return batch != null && batch.base() <= offset && offset < batch.end();
  }
}
