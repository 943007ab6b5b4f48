package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One data group's log as far as producers see it: takes, recognises repeats, fences. Safe for use
 * from any thread: each call is one step.
 */
public final class SimLog {
  private static final int REMEMBERED = 8;

  private static final class Ring {
    int epoch;
    long next;
    long formerLast = -1;
    final Map<Long, Long> offsets = new LinkedHashMap<>();
  }

  private final Map<Shard, Ring> rings = new HashMap<>();
  private final Map<Shard, List<Integer>> messages = new HashMap<>();
  private final Set<Shard> sealed = new HashSet<>();
  private final Set<Shard> dropped = new HashSet<>();
  private int epoch = -1;
  private int formerEpoch = -1;

  /** The payloads, as numbers, that a shard holds. */
  public synchronized List<Integer> messages(Shard shard) {
    return List.copyOf(log(shard));
  }

  private List<Integer> log(Shard shard) {
    return messages.computeIfAbsent(shard, s -> new ArrayList<>());
  }

  public synchronized Result append(Shard shard, byte[] bytes) {
    Batch batch = Batch.next(ByteBuffer.wrap(bytes)).verified();
    boolean gone = dropped.contains(shard);
    if (gone && !rings.containsKey(shard) && (epoch >= 0 || batch.firstSequence() == 0)) {
      return new Result(Refusal.UNKNOWN_SHARD, 0);
    }
    if (epoch < 0 && batch.firstSequence() > 0) {
      return new Result(Refusal.UNKNOWN_PRODUCER, 0);
    }
    if (batch.producerEpoch() < epoch) {
      return new Result(Refusal.PRODUCER_FENCED, epoch);
    }
    if (batch.producerEpoch() > epoch) {
      if (batch.firstSequence() > 0) {
        return new Result(Refusal.SEQUENCE_GAP, 0);
      }
      formerEpoch = epoch;
      epoch = batch.producerEpoch();
    }
    Ring ring = rings.computeIfAbsent(shard, s -> new Ring());
    begin(ring);
    if (batch.firstSequence() > ring.next) {
      return new Result(Refusal.SEQUENCE_GAP, ring.next);
    }
    if (batch.firstSequence() < ring.next) {
      return new Result(
          null, ring.offsets.getOrDefault(batch.firstSequence(), Result.OFFSET_FORGOTTEN));
    }
    if (sealed.contains(shard)) {
      return new Result(gone ? Refusal.UNKNOWN_SHARD : Refusal.SEALED, 0);
    }
    List<Integer> log = log(shard);
    long base = log.size();
    for (BatchReader reader = batch.reader(base); reader.hasNext(); ) {
      Message message = reader.next();
      log.add(ByteBuffer.wrap(message.payload()).getInt());
    }
    ring.next += batch.count();
    ring.offsets.put(batch.firstSequence(), base);
    if (ring.offsets.size() > REMEMBERED) {
      ring.offsets.remove(ring.offsets.keySet().iterator().next());
    }
    return new Result(null, base);
  }

  /** The shard takes no more messages. */
  public synchronized void seal(Shard shard) {
    sealed.add(shard);
  }

  /**
   * A sealed shard goes. The test still sees its messages.
   *
   * @param remembers whether it can still be told what the shard had taken
   */
  public synchronized void drop(Shard shard, boolean remembers) {
    dropped.add(shard);
    if (!remembers) {
      rings.remove(shard);
    }
  }

  private void begin(Ring ring) {
    if (ring.epoch != epoch) {
      ring.formerLast = ring.epoch == formerEpoch ? ring.next - 1 : -1;
      ring.epoch = epoch;
      ring.next = 0;
      ring.offsets.clear();
    }
  }

  /** Null if a later epoch is known. */
  public synchronized Map<Shard, Long> open(int newEpoch) {
    if (newEpoch < epoch) {
      return null;
    }
    if (newEpoch > epoch) {
      formerEpoch = epoch;
      epoch = newEpoch;
    }
    Map<Shard, Long> last = new HashMap<>();
    rings.forEach(
        (shard, ring) -> {
          if (ring.epoch == epoch) {
            last.put(shard, ring.formerLast);
          } else if (ring.epoch == formerEpoch) {
            last.put(shard, ring.next - 1);
          }
        });
    return last;
  }

  /** As after a long idle time. What is in the log stays. */
  public synchronized void forgetProducer() {
    rings.clear();
    epoch = -1;
    formerEpoch = -1;
  }
}
