package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Codec;

/**
 * Counts of a shard's delayed messages, and which batch is due first. Memory holds nothing else of
 * them.
 *
 * @param bytes of the batches
 * @param dueMillis when the first batch is due
 * @param serial of that batch; reading begins there, so that it skips deleted rows
 * @param nextSerial for the next batch that comes
 */
public record DelayCounts(
    long messages, long batches, long bytes, long dueMillis, long serial, long nextSerial) {
  static final Codec<DelayCounts> CODEC = Codec.record(DelayCounts.class);

  public static final DelayCounts NONE = new DelayCounts(0, 0, 0, Long.MAX_VALUE, 0, 0);

  /** No batch waits; those that come get serials from {@code nextSerial} on. */
  static DelayCounts empty(long nextSerial) {
    return new DelayCounts(0, 0, 0, Long.MAX_VALUE, 0, nextSerial);
  }

  public boolean isEmpty() {
    return batches == 0;
  }

  /** With the batch of {@link #nextSerial()}. */
  public DelayCounts added(int batchMessages, int batchBytes, long batchDueMillis) {
    boolean first = batchDueMillis < dueMillis;
    return new DelayCounts(
        messages + batchMessages,
        batches + 1,
        bytes + batchBytes,
        first ? batchDueMillis : dueMillis,
        first ? nextSerial : serial,
        nextSerial + 1);
  }
}
