package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How delayed messages of sealed shards move, for simulations elsewhere. */
public final class MovesBench {
  private MovesBench() {}

  /**
   * Batches that move together.
   *
   * @param drop what is dropped once the others have them
   * @param items what is made of them
   */
  public record Chunk(DataCommand drop, List<AppendBody.Item> items) {}

  /** Opens the epoch in which the messages of a shard move. */
  public static DataCommand open(Shard shard, int epoch) {
    long producerId = DelayedMoves.producerId(shard);
    return new DataCommand.OpenPublisher(producerId, epoch, DelayedMoves.PUBLISHER, shard, true);
  }

  /**
   * The batches that are due first.
   *
   * @param lastInSealed what sealed shards had when the epoch was opened
   */
  public static Chunk first(
      DataState state,
      TopicInfo topic,
      Shard shard,
      int epoch,
      Map<Shard, Long> lastInSealed,
      int batchesMax) {
    DelayCounts counts = state.tables().delays().of(shard);
    var batches = state.read(store -> read(state, store, shard, counts, batchesMax));
    var split = new DelayedSplit(topic, DelayedMoves.producerId(shard), epoch, lastInSealed, true);
    return new Chunk(
        new DataCommand.DropDelayed(shard, counts.batches(), batches.size()), split.of(batches));
  }

  private static List<DelayedSplit.Delayed> read(
      DataState state, Store store, Shard shard, DelayCounts counts, int batchesMax) {
    List<DelayedSplit.Delayed> batches = new ArrayList<>();
    byte[] from = new DelayedKey(shard, counts.dueMillis(), counts.serial()).bytes();
    try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, from, DelayedKey.last(shard))) {
      while (batches.size() < batchesMax && cursor.next()) {
        DelayedKey key = DelayedKey.of(cursor.key());
        DelayedBatch row = DelayedBatch.decode(cursor.value());
        byte[] bytes = state.bytes(row.place(), row.batch().length());
        batches.add(
            new DelayedSplit.Delayed(
                Limits.DELAYED_MESSAGES_MAX - (counts.batches() - batches.size()),
                key.dueMillis(),
                new DelayedOrigin.Place(shard.shard(), key.serial()),
                row,
                Batch.whole(ByteBuffer.wrap(bytes))));
      }
    }
    return batches;
  }
}
