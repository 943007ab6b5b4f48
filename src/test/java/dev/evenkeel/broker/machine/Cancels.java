package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;

/** Cancels delayed messages of a {@link Rig}, as a leader does. */
final class Cancels {
  private Cancels() {}

  /** The batch that waits there, or null. */
  static DelayedBatch find(Rig rig, DelayedKey key) {
    byte[] row = rig.data.read(store -> store.get(Store.Table.DELAYED, key.bytes()));
    return row == null ? null : DelayedBatch.decode(row);
  }

  /** The bytes of a batch. */
  static Batch bytes(Rig rig, DelayedBatch batch) {
    return Batch.whole(ByteBuffer.wrap(rig.data.bytes(batch.place(), batch.batch().length())));
  }

  static Reply cancel(Rig rig, DelayedKey key, int position) {
    return cancel(rig, key, position, find(rig, key));
  }

  /**
   * @param batch as the leader has read it, perhaps a while ago; null: there was none
   */
  static Reply cancel(Rig rig, DelayedKey key, int position, DelayedBatch batch) {
    boolean waits = batch != null && batch.has(position);
    Batch rest =
        waits && batch.batch().count() > 1 ? batch.without(position, bytes(rig, batch)) : null;
    byte[] header = null;
    if (rest != null) {
      header = new byte[BatchHeader.BYTES];
      rest.bytes().get(0, header);
    }
    return rig.run(
        new DataCommand.CancelDelayed(
            key.shard(),
            key.dueMillis(),
            key.serial(),
            position,
            batch == null ? -1 : batch.place().index(),
            batch == null ? 0 : batch.place().at(),
            header),
        rest == null ? null : rest.bytes());
  }
}
