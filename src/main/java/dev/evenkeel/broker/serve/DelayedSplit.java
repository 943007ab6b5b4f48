package dev.evenkeel.broker.serve;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Murmur2;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Divides the delayed batches of a sealed shard among the shards that are open now: a message goes
 * where a producer would send its key. What is made of a batch depends on the batch and its place
 * alone, so that the log notices a repeat; see ADR 15 for the sequences.
 *
 * @param topic with the layout that is open
 * @param producerId under which the messages go on
 * @param epoch of that producer
 * @param lastInSealed by sealed shard, the last sequence that it took of the producer: there was
 *     another layout in between
 */
record DelayedSplit(TopicInfo topic, long producerId, int epoch, Map<Shard, Long> lastInSealed) {
  /** Sequences leave this many bits for the messages of one batch; they count from 1. */
  private static final int INDEX_BITS = 24;

  private static final int BUILDER_BYTES = 512;

  /**
   * A delayed batch.
   *
   * @param ordinal grows from batch to batch
   */
  record Delayed(long ordinal, long dueMillis, Batch batch) {}

  static long sequence(long ordinal) {
    return ordinal << INDEX_BITS | 1;
  }

  /** Batches for open shards, those of each shard in the order of their sequences. */
  List<AppendBody.Item> of(List<Delayed> batches) {
    List<AppendBody.Item> items = new ArrayList<>();
    for (Delayed each : batches) {
      long sequence = sequence(each.ordinal());
      Map<Integer, BatchBuilder> builders = new TreeMap<>();
      BatchReader messages = each.batch().reader(0);
      while (messages.hasNext()) {
        Message message = messages.next();
        if (!isTaken(message, each.ordinal())) {
          int shard = shard(message, each.ordinal(), topic.open());
          builders.computeIfAbsent(shard, none -> new BatchBuilder(BUILDER_BYTES)).add(message);
        }
      }
      builders.forEach(
          (shard, builder) ->
              items.add(
                  new AppendBody.Item(
                      new Shard(topic.id(), shard),
                      builder.build(producerId, epoch, sequence),
                      each.dueMillis())));
    }
    return items;
  }

  private boolean isTaken(Message message, long ordinal) {
    return topic.layouts().stream()
        .map(layout -> new Shard(topic.id(), shard(message, ordinal, layout)))
        .anyMatch(shard -> lastInSealed.getOrDefault(shard, -1L) >= sequence(ordinal));
  }

  private static int shard(Message message, long ordinal, TopicInfo.Layout layout) {
    int place =
        message.key() == null
            ? Math.floorMod(ordinal, layout.shards())
            : Murmur2.shard(message.key(), layout.shards());
    return layout.first() + place;
  }
}
