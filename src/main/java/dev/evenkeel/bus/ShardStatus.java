package dev.evenkeel.bus;

import static dev.evenkeel.protocol.wire.Codec.I64;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * A shard as its leader sees it.
 *
 * @param startOffset first offset that is kept
 * @param endOffset next offset to be assigned
 * @param bytes bytes kept
 * @param messagesDropped messages that a retention limit dropped before all groups had consumed
 *     them
 * @param leases the leases of the shard, without the bytes of their state
 * @param failures failed messages by group; groups without any are missing
 * @param delayed messages that wait until they are due
 */
public record ShardStatus(
    Shard shard,
    long startOffset,
    long endOffset,
    long bytes,
    long messagesDropped,
    List<Lease> leases,
    List<FailureFigures> failures,
    Delayed delayed) {

  /**
   * Delayed messages of a shard, which have no offsets yet.
   *
   * @param bytes of their batches
   * @param nextDueMillis when the next one is due, milliseconds since 1970; -1 without any
   */
  public record Delayed(long messages, long bytes, long nextDueMillis) {
    public static final Delayed NONE = new Delayed(0, 0, -1);
  }

  private static final Codec<Lease> LEASE_WITHOUT_STATE =
      Codec.of((out, lease) -> RecordCodec.write(out, lease.withoutState()), RecordCodec::lease);

  public static final Codec<List<ShardStatus>> LIST =
      Codec.list(
          Codec.record(
              ShardStatus.class,
              RecordCodec.SHARD,
              I64,
              I64,
              I64,
              I64,
              Codec.list(LEASE_WITHOUT_STATE),
              FailureFigures.LIST,
              Codec.record(Delayed.class, I64, I64, I64)));

  /** The sum of a figure over the shards of a topic, or null as long as one shard is unknown. */
  public static Long sum(
      TopicInfo topic, Map<Shard, ShardStatus> known, ToLongFunction<ShardStatus> figure) {
    long sum = 0;
    for (Shard shard : topic.all()) {
      ShardStatus status = known.get(shard);
      if (status == null) {
        return null;
      }
      sum += figure.applyAsLong(status);
    }
    return sum;
  }
}
