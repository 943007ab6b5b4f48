package dev.evenkeel.sim;

import dev.evenkeel.client.internal.consume.Effects;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * What handlers publish, by what they are given: the same message publishes the same each time.
 * Knows what of it the log has, and checks it as it comes.
 */
final class Outputs {
  /** Messages that one input publishes, at most. */
  private static final int OF_AN_INPUT_MAX = 3;

  private static final int BITS = 2;
  private static final int PAYLOAD_BYTES = 32;

  /** What was published of an input shard since a reset. */
  private record Since(Shard input, int generation) {}

  private static final class Published {
    /** Places of outputs: the input's offset, and which of its outputs it is. */
    final BitSet there = new BitSet();

    /** The last place in each output shard. */
    final Map<Shard, Integer> last = new HashMap<>();
  }

  private final Ledger ledger;
  private final int topicId;
  private final int shards;
  private final Map<Since, Published> published = new HashMap<>();

  /** The highest epoch of each input shard under which something was begun. */
  private final Map<Shard, Long> begun = new HashMap<>();

  private final Map<Shard, Long> publishers = new HashMap<>();

  /**
   * @param topicId where outputs go
   */
  Outputs(Ledger ledger, int topicId, int shards) {
    this.ledger = ledger;
    this.topicId = topicId;
    this.shards = shards;
  }

  private static int count(Shard input, long offset) {
    return (int) Math.floorMod(weight(input, offset), OF_AN_INPUT_MAX + 1L);
  }

  private Shard to(Shard input, long offset, int index) {
    long mixed = weight(input, offset) >>> 8 + 8 * index;
    return new Shard(topicId, (int) Math.floorMod(mixed, (long) shards));
  }

  private static long weight(Shard input, long offset) {
    return Tally.weight(input.topicId(), input.shard(), offset);
  }

  // ---- Handlers

  /** Something of a shard is begun under that epoch: nobody before it may publish any more. */
  void begun(Shard input, long epoch) {
    begun.merge(input, epoch, Math::max);
  }

  /** Has a handler publish what it must. */
  void publish(Shard input, long offset, long epoch, long nowMillis, Effects effects) {
    for (int index = 0; index < count(input, offset); index++) {
      ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_BYTES);
      payload.putInt(input.topicId()).putInt(input.shard()).putLong(offset);
      payload.putInt(index).putInt(ledger.generation(input, epoch)).putLong(epoch);
      effects.publish(
          to(input, offset, index), new Message(null, Map.of(), nowMillis, payload.array()));
    }
  }

  // ---- The log

  /** The producer that a lease names. */
  void publisher(Shard input, long producerId) {
    if (producerId > 0) {
      publishers.put(input, producerId);
    }
  }

  /** The last producer that a lease on the shard named, also before a reset; 0: none. */
  long publisher(Shard input) {
    return publishers.getOrDefault(input, 0L);
  }

  /** The log has taken a batch. */
  void taken(Shard to, Batch batch) {
    BatchReader reader = batch.reader(0);
    while (reader.hasNext()) {
      ByteBuffer payload = ByteBuffer.wrap(reader.next().payload());
      Shard input = new Shard(payload.getInt(), payload.getInt());
      long offset = payload.getLong();
      int index = payload.getInt();
      int generation = payload.getInt();
      long epoch = payload.getLong();
      String what = "output " + index + " of offset " + offset + " of " + input + "@" + epoch;
      if (epoch < begun.getOrDefault(input, 0L)) {
        throw new SimulationFailure("a former owner publishes: " + what);
      }
      var since = published.computeIfAbsent(new Since(input, generation), any -> new Published());
      int place = (int) offset << BITS | index;
      if (since.there.get(place)) {
        throw new SimulationFailure("published twice since a reset: " + what);
      }
      if (since.last.getOrDefault(to, -1) > place) {
        throw new SimulationFailure("published out of the inputs' order: " + what);
      }
      since.there.set(place);
      since.last.put(to, place);
    }
  }

  /** Whether the log has everything that a message publishes, since a reset. */
  boolean whole(Shard input, int generation, long offset) {
    Published since = published.get(new Since(input, generation));
    for (int index = 0; index < count(input, offset); index++) {
      if (since == null || !since.there.get((int) offset << BITS | index)) {
        return false;
      }
    }
    return true;
  }
}
