package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.CORRUPT;

import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.LookBounds;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads delayed batches of a shard from the disk.
 *
 * @param store of the log group, at one moment
 */
record DelayedReader(LogGroupServer group, Store store, Shard shard) {
  /** Rows of one look whose batches are not read. */
  private static final int ROWS_MAX = 10_000;

  /**
   * Messages by due time. It goes as far as {@link LookBounds} allows, and says where to go on.
   *
   * @param from where to begin
   * @param key only messages with this key; null: with any key or none
   * @param max most messages
   */
  DelayedAnswer list(DelayedId from, byte[] key, int max) {
    List<DelayedAnswer.DelayedCopy> found = new ArrayList<>();
    DelayCounts counts = group.state().tables().delays().of(shard);
    // Not from the first key: deleted rows may lie in front of the first batch.
    DelayedKey begin =
        from.dueMillis() < counts.dueMillis()
            ? new DelayedKey(shard, counts.dueMillis(), 0)
            : new DelayedKey(shard, from.dueMillis(), from.serial());
    LookBounds look = new LookBounds();
    long answered = 0;
    try (Store.Cursor cursor =
        store.scan(Store.Table.DELAYED, begin.bytes(), DelayedKey.last(shard))) {
      while (cursor.next()) {
        DelayedKey at = DelayedKey.of(cursor.key());
        DelayedBatch batch = DelayedBatch.decode(cursor.value());
        Batch bytes = bytes(batch);
        if (!look.take(batch.batch().count(), bytes == null ? 0 : bytes.unpackedLength())) {
          return new DelayedAnswer(found, id(at, 0));
        }
        BatchReader reader = bytes == null ? null : bytes.reader(0);
        int position = -1;
        for (int i = 0; i < batch.batch().count(); i++) {
          position = batch.absent().nextAbsent(position + 1);
          Message message = reader == null ? null : reader.next();
          DelayedId id = id(at, position);
          if (id.compareTo(from) < 0 || key != null && !hasKey(message, key)) {
            continue;
          }
          if (found.size() == max || answered >= Limits.FETCH_BYTES_MAX) {
            return new DelayedAnswer(found, id);
          }
          byte[] copy = message == null ? null : MessageCodec.encode(message);
          answered += copy == null ? 0 : copy.length;
          found.add(new DelayedAnswer.DelayedCopy(id, copy));
        }
      }
    }
    return new DelayedAnswer(found, null);
  }

  private static boolean hasKey(Message message, byte[] key) {
    return message != null && Arrays.equals(key, message.key());
  }

  private static DelayedId id(DelayedKey key, int position) {
    return new DelayedId(key.shard().shard(), key.dueMillis(), key.serial(), position);
  }

  /** The batch, or null if none waits there. */
  DelayedBatch find(DelayedId id) {
    byte[] row =
        store.get(Store.Table.DELAYED, new DelayedKey(shard, id.dueMillis(), id.serial()).bytes());
    return row == null ? null : DelayedBatch.decode(row);
  }

  /**
   * What a look for a message that was moved has found.
   *
   * @param found null: it is not among the batches that were looked at
   * @param nextSerial where to look on; -1: there are no more
   */
  record Sought(DelayedId found, long nextSerial) {}

  /**
   * Looks for the batch that a reshard moved here from another shard, with this message.
   *
   * @param id that the message had in a sealed shard
   * @param fromSerial where to begin: any number of batches may be due at the same time
   */
  Sought moved(DelayedId id, long fromSerial) {
    DelayedOrigin.Place former = new DelayedOrigin.Place(id.shard(), id.serial());
    byte[] from = new DelayedKey(shard, id.dueMillis(), fromSerial).bytes();
    byte[] to = new DelayedKey(shard, id.dueMillis(), Long.MAX_VALUE).bytes();
    int looked = 0;
    try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, from, to)) {
      while (cursor.next()) {
        DelayedKey key = DelayedKey.of(cursor.key());
        if (looked++ == ROWS_MAX) {
          return new Sought(null, key.serial());
        }
        DelayedBatch batch = DelayedBatch.decode(cursor.value());
        if (batch.formerPlaces().contains(former) && batch.has(id.position())) {
          return new Sought(id(key, id.position()), -1);
        }
      }
    }
    return new Sought(null, -1);
  }

  /**
   * A batch with the other messages of one.
   *
   * @param position of the message that is left out, which waits
   * @throws RefusedException CORRUPT if the batch is lost
   */
  Batch without(DelayedBatch batch, int position) {
    Batch bytes = bytes(batch);
    if (bytes == null) {
      throw CORRUPT.error(
          "the other messages of the batch in %s cannot be read",
          group.state().tables().nameOf(shard));
    }
    return batch.without(position, bytes);
  }

  /**
   * The bytes of a batch; null if they are lost.
   *
   * @throws DamagedBodyException if they cannot be read now
   */
  Batch bytes(DelayedBatch batch) {
    long index = batch.place().index();
    try {
      byte[] bytes = group.state().bytes(batch.place(), batch.batch().length());
      if (bytes != null) {
        return Batch.whole(ByteBuffer.wrap(bytes));
      }
      return missing(index, "its bytes are missing");
    } catch (RefusedException damaged) {
      return missing(index, damaged.getMessage());
    }
  }

  private Batch missing(long index, String why) {
    if (group.mender().isLost(index)) {
      return null;
    }
    throw new DamagedBodyException(
        index,
        "a delayed batch of "
            + group.state().tables().nameOf(shard)
            + " on "
            + group.nodeId()
            + ", "
            + why);
  }
}
