package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_MESSAGE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_SHARD;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes one message out of a delayed batch.
 *
 * @param index of the entry, whose body is the rest of the batch
 */
public record CancelDecider(DataTables tables, Store store, long index) {

  public Decision<Change> decide(DataCommand.CancelDelayed command) {
    Shard shard = command.shard();
    ShardRecord record = tables.shard(shard);
    if (record == null) {
      return Decision.refused(UNKNOWN_SHARD, "there is no shard " + shard);
    }
    if (record.sealed()) {
      return Decision.refused(
          UNKNOWN_MESSAGE,
          "the topic has other shards now, and the delayed messages of shard %d get new ids there:"
              + " list them again",
          shard.shard());
    }
    DelayedKey key = new DelayedKey(shard, command.dueMillis(), command.serial());
    byte[] row = store.get(Store.Table.DELAYED, key.bytes());
    DelayedBatch batch = row == null ? null : DelayedBatch.decode(row);
    if (batch == null || !batch.has(command.position())) {
      return Decision.refused(
          UNKNOWN_MESSAGE,
          "no delayed message %s waits: it was delivered or cancelled, or never was",
          new DelayedId(shard.shard(), command.dueMillis(), command.serial(), command.position()));
    }
    BatchPlace place = batch.place();
    if (place.index() != command.bodyIndex() || place.at() != command.bodyAt()) {
      return Decision.refused(
          UNAVAILABLE, "the batch of the message was changed meanwhile: try again");
    }
    BatchHeader rest = rest(command);
    int left = rest == null ? 0 : rest.count();
    if (left != batch.batch().count() - 1) {
      return Decision.refused(
          INVALID, "%d messages are left of %d, without one", left, batch.batch().count());
    }
    return new Decision<>(changes(key, batch, rest, command.position()), Reply.DONE);
  }

  private static @Nullable BatchHeader rest(DataCommand.CancelDelayed command) {
    byte[] rest = command.rest();
    return rest == null || rest.length != BatchHeader.BYTES
        ? null
        : BatchHeader.of(ByteBuffer.wrap(rest));
  }

  private List<Change> changes(
      DelayedKey key, DelayedBatch batch, @Nullable BatchHeader rest, int position) {
    DelayCounts before = tables.delays().of(key.shard());
    if (rest == null) {
      return List.of(new Change.DropDelayed(key), without(key, batch.batch(), before));
    }
    DelayedBatch left = batch.cancelled(position, rest, new BatchPlace(index, 0, rest.crc()));
    long bytes = before.bytes() - batch.batch().length() + rest.length();
    return List.of(
        new Change.KeepRest(key, left),
        Change.putDelays(
            key.shard(),
            new DelayCounts(
                before.messages() - 1,
                before.batches(),
                bytes,
                before.dueMillis(),
                before.serial(),
                before.nextSerial())));
  }

  /** The counts without a batch that has one message. */
  private Change without(DelayedKey key, BatchHeader batch, DelayCounts before) {
    if (before.batches() <= 1) {
      return Change.emptyDelays(key.shard(), before.nextSerial());
    }
    boolean first = key.dueMillis() == before.dueMillis() && key.serial() == before.serial();
    DelayedKey next = first ? after(key) : null;
    return Change.putDelays(
        key.shard(),
        new DelayCounts(
            before.messages() - 1,
            before.batches() - 1,
            before.bytes() - batch.length(),
            next == null ? before.dueMillis() : next.dueMillis(),
            next == null ? before.serial() : next.serial(),
            before.nextSerial()));
  }

  private @Nullable DelayedKey after(DelayedKey key) {
    byte[] from = new DelayedKey(key.shard(), key.dueMillis(), key.serial() + 1).bytes();
    try (Store.Cursor cursor =
        store.scan(Store.Table.DELAYED, from, DelayedKey.last(key.shard()))) {
      return cursor.next() ? DelayedKey.of(cursor.key()) : null;
    }
  }
}
