package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.PositionSet;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import dev.evenkeel.protocol.wire.Murmur2;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Divides the delayed batches of a sealed shard among the shards that are open now: a message goes
 * where a producer would send its key. What is made of a batch depends on the batch and its place
 * alone, so that the log notices a repeat; see ADR 15 for the sequences. Its parts are compressed
 * as it was, so none is larger than a batch may be.
 *
 * @param topic with the layout that is open
 * @param producerId under which the messages go on
 * @param epoch of that producer
 * @param last by shard, the last sequence that it took of the producer: there was another layout in
 *     between
 * @param keepsIds whether the parts say where their messages waited
 */
record DelayedSplit(
    TopicInfo topic, long producerId, int epoch, Map<Shard, Long> last, boolean keepsIds) {
  /** Sequences leave this many bits for the messages of one batch; they count from 1. */
  private static final int INDEX_BITS = 24;

  private static final int BUILDER_BYTES = 512;

  /**
   * A delayed batch.
   *
   * @param ordinal grows from batch to batch
   * @param from where it waits
   * @param row what is known of it there
   */
  record Delayed(
      long ordinal, long dueMillis, DelayedOrigin.Place from, DelayedBatch row, Batch batch) {}

  /** The messages of one batch that go to one shard. */
  private static final class Part {
    private final BatchBuilder messages;
    private final IntStream.Builder positions = IntStream.builder();
    private int end;

    private Part(BatchPacker packer) {
      messages = new BatchBuilder(BUILDER_BYTES, packer);
    }

    private void add(Message message, int position) {
      messages.add(message);
      positions.add(position);
      end = position + 1;
    }

    private byte[] absent() {
      return PositionSet.allBut(positions.build().toArray(), end).bytes();
    }
  }

  static long sequence(long ordinal) {
    return ordinal << INDEX_BITS | 1;
  }

  /** Batches for open shards, those of each shard in the order of their sequences. */
  List<AppendBody.Item> of(List<Delayed> batches) {
    List<AppendBody.Item> items = new ArrayList<>();
    for (Delayed each : batches) {
      Map<Integer, Part> parts = new TreeMap<>();
      BatchPacker packer = BatchPacker.of(each.batch().compression());
      BatchReader messages = each.batch().reader(0);
      int position = -1;
      while (messages.hasNext()) {
        Message message = messages.next();
        position = each.row().absent().nextAbsent(position + 1);
        if (!isTaken(message, each.ordinal())) {
          int shard = shard(message, each.ordinal(), topic.open());
          parts.computeIfAbsent(shard, none -> new Part(packer)).add(message, position);
        }
      }
      parts.forEach((shard, part) -> items.add(item(each, shard, part)));
    }
    return items;
  }

  private AppendBody.Item item(Delayed each, int shard, Part part) {
    return new AppendBody.Item(
        new Shard(topic.id(), shard),
        part.messages.build(producerId, epoch, sequence(each.ordinal())),
        each.dueMillis(),
        keepsIds
            ? new DelayedOrigin(
                DelayedOrigin.later(each.row().formerPlaces(), each.from()), part.absent())
            : null);
  }

  private boolean isTaken(Message message, long ordinal) {
    return topic.layouts().stream()
        .map(layout -> new Shard(topic.id(), shard(message, ordinal, layout)))
        .anyMatch(shard -> last.getOrDefault(shard, -1L) >= sequence(ordinal));
  }

  private static int shard(Message message, long ordinal, TopicInfo.Layout layout) {
    int place =
        message.key() == null
            ? Math.floorMod(ordinal, layout.shards())
            : Murmur2.shard(message.key(), layout.shards());
    return layout.first() + place;
  }
}
