package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Moves delayed batches that are due by the clock into their shards, a bounded number at a time.
 */
public final class DueDecider {
  private final DataTables tables;
  private final Store store;
  private final LogTime time;
  private final long nowMillis;
  private final List<Change> changes = new ArrayList<>();

  /** Whether serials are ids, so that none is given twice. */
  private final boolean keepSerials;

  private int batchesLeft;
  private long bytesLeft;
  private long messages;

  /**
   * @param level the feature level of the log group's state
   */
  public DueDecider(DataTables tables, Store store, LogTime time, int level) {
    this.tables = tables;
    keepSerials = level >= FeatureLevel.CANCELLING;
    this.store = store;
    this.time = time;
    nowMillis = time.clockMillis();
  }

  /** Call it once. */
  public Decision<Change> decide(DataCommand.DeliverDue command) {
    batchesLeft = Math.max(1, command.batchesMax());
    bytesLeft = Math.max(1, command.bytesMax());
    List<Shard> due = tables.delays().dueAt(nowMillis);
    long first = due.isEmpty() ? nowMillis : tables.delays().of(due.get(0)).dueMillis();
    for (Shard shard : due) {
      if (batchesLeft == 0 || bytesLeft <= 0) {
        break;
      }
      deliver(shard);
    }
    return new Decision<>(changes, new Reply.OfDelivered(messages, nowMillis - first));
  }

  /** Drops delayed batches of a sealed shard. */
  public Decision<Change> drop(DataCommand.DropDelayed command) {
    Shard shard = command.shard();
    ShardRecord record = tables.shard(shard);
    DelayCounts before = tables.delays().of(shard);
    if (record == null || !record.sealed() || before.batches() != command.waiting()) {
      return Decision.of(List.of());
    }
    long tookMessages = 0;
    long tookBytes = 0;
    int took = 0;
    DelayedKey left = null;
    byte[] from = new DelayedKey(shard, before.dueMillis(), before.serial()).bytes();
    try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, from, DelayedKey.last(shard))) {
      while (left == null && cursor.next()) {
        DelayedKey key = DelayedKey.of(cursor.key());
        if (took == command.batches()) {
          left = key;
          break;
        }
        BatchHeader batch = DelayedBatch.decode(cursor.value()).batch();
        changes.add(new Change.DropDelayed(key));
        tookMessages += batch.count();
        tookBytes += batch.length();
        took++;
      }
    }
    changes.add(rest(shard, before, tookMessages, took, tookBytes, left));
    return Decision.of(changes);
  }

  private Change rest(
      Shard shard,
      DelayCounts before,
      long messages,
      long batches,
      long bytes,
      @Nullable DelayedKey left) {
    if (left == null) {
      return keepSerials
          ? Change.emptyDelays(shard, before.nextSerial())
          : Change.putDelays(shard, DelayCounts.NONE);
    }
    return Change.putDelays(
        shard,
        new DelayCounts(
            before.messages() - messages,
            before.batches() - batches,
            before.bytes() - bytes,
            left.dueMillis(),
            left.serial(),
            before.nextSerial()));
  }

  private void deliver(Shard shard) {
    DelayCounts before = tables.delays().of(shard);
    ShardRecord record = Objects.requireNonNull(tables.shard(shard));
    long tookMessages = 0;
    long tookBatches = 0;
    long tookBytes = 0;
    DelayedKey left = null;
    byte[] from = new DelayedKey(shard, before.dueMillis(), before.serial()).bytes();
    try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, from, DelayedKey.last(shard))) {
      while (left == null && cursor.next()) {
        DelayedKey key = DelayedKey.of(cursor.key());
        if (key.dueMillis() > nowMillis || batchesLeft == 0 || bytesLeft <= 0) {
          left = key;
          break;
        }
        DelayedBatch delayed = DelayedBatch.decode(cursor.value());
        BatchHeader batch = delayed.batch();
        IndexEntry entry = record.next(batch, delayed.place(), time.millis());
        changes.add(new Change.PutBatch(shard, entry));
        changes.add(Change.removeDelayed(key));
        record = record.appended(entry);
        tookMessages += batch.count();
        tookBatches++;
        tookBytes += batch.length();
        batchesLeft--;
        bytesLeft -= batch.length();
      }
    }
    messages += tookMessages;
    changes.add(new Change.PutShard(shard, record));
    changes.add(rest(shard, before, tookMessages, tookBatches, tookBytes, left));
  }
}
