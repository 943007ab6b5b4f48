package dev.evenkeel.bus;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * A shard as its leader sees it.
 *
 * @param startOffset first offset kept
 * @param endOffset next offset to be assigned
 * @param bytes bytes kept
 * @param messagesDropped messages that a limit dropped before some group consumed them
 * @param leases leases on it, without the bytes of their state
 * @param failures what groups have of failures on it; groups without any are missing
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

  /**
   * The sum of a figure over the shards of a topic. Null as long as one of them is unknown: a sum
   * that leaves something out would be wrong.
   */
  public static Long sum(
      TopicInfo topic, Map<Shard, ShardStatus> known, ToLongFunction<ShardStatus> figure) {
    long sum = 0;
    for (int i = 0; i < topic.shards(); i++) {
      ShardStatus status = known.get(new Shard(topic.id(), i));
      if (status == null) {
        return null;
      }
      sum += figure.applyAsLong(status);
    }
    return sum;
  }

  public static void write(Bytes out, List<ShardStatus> statuses) {
    out.i32(statuses.size());
    for (ShardStatus status : statuses) {
      RecordCodec.write(out, status.shard());
      out.i64(status.startOffset()).i64(status.endOffset());
      out.i64(status.bytes()).i64(status.messagesDropped());
      out.i32(status.leases().size());
      status.leases().forEach(lease -> RecordCodec.write(out, lease.withoutState()));
      FailureFigures.write(out, status.failures());
      Delayed delayed = status.delayed();
      out.i64(delayed.messages()).i64(delayed.bytes()).i64(delayed.nextDueMillis());
    }
  }

  public static List<ShardStatus> read(ByteReader in) {
    int count = in.count();
    List<ShardStatus> statuses = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      Shard shard = RecordCodec.shard(in);
      long start = in.i64();
      long end = in.i64();
      long bytes = in.i64();
      long dropped = in.i64();
      int leaseCount = in.count();
      List<Lease> leases = new ArrayList<>(leaseCount);
      for (int k = 0; k < leaseCount; k++) {
        leases.add(RecordCodec.lease(in));
      }
      List<FailureFigures> failures = FailureFigures.read(in);
      Delayed delayed = new Delayed(in.i64(), in.i64(), in.i64());
      statuses.add(new ShardStatus(shard, start, end, bytes, dropped, leases, failures, delayed));
    }
    return statuses;
  }
}
