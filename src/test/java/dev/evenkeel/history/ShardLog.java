package dev.evenkeel.history;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.protocol.wire.Batch;
import java.util.List;

/** The batches of a shard in their order: a chain from the newest to the oldest. */
final class ShardLog {
  static final ShardLog EMPTY = new ShardLog(null, 0, null);

  /**
   * What tells one batch from another.
   *
   * @param crc of its bytes
   */
  record Id(long producer, int epoch, long first, int count, int crc) {
    static Id of(Batch batch) {
      return new Id(
          batch.producerId(),
          batch.producerEpoch(),
          batch.firstSequence(),
          batch.count(),
          batch.bytes().getInt(8));
    }

    @Override
    public String toString() {
      return "batch " + producer + "@" + epoch + " from " + first + ", " + count + " messages";
    }
  }

  private final ShardLog before;
  private final long base;
  private final Id id;
  private final long fingerprint;

  private ShardLog(ShardLog before, long base, Id id) {
    this.before = before;
    this.base = base;
    this.id = id;
    fingerprint = before == null ? 0 : (before.fingerprint + id.hashCode()) * 0x9E3779B97F4A7C15L;
  }

  long end() {
    return before == null ? 0 : base + id.count();
  }

  ShardLog with(Id batch) {
    return new ShardLog(this, end(), batch);
  }

  /** The first offset of a batch that was taken, or -1. */
  long find(Id batch) {
    for (ShardLog at = this; at.before != null; at = at.before) {
      if (at.id.equals(batch)) {
        return at.base;
      }
    }
    return -1;
  }

  /**
   * Whether these batches are the ones that lie from {@code offset} on, one after another, the
   * first of them with that offset in it.
   */
  boolean holds(long offset, List<FetchAnswer.Placed> batches) {
    if (batches.isEmpty()) {
      return true;
    }
    FetchAnswer.Placed first = batches.get(0);
    if (offset < first.baseOffset() || offset >= first.endOffset()) {
      return false;
    }
    ShardLog at = this;
    long last = batches.get(batches.size() - 1).baseOffset();
    while (at.before != null && at.base > last) {
      at = at.before;
    }
    for (int i = batches.size() - 1; i >= 0; i--) {
      FetchAnswer.Placed each = batches.get(i);
      if (at.before == null || at.base != each.baseOffset() || !at.id.equals(Id.of(each.batch()))) {
        return false;
      }
      at = at.before;
    }
    return true;
  }

  /** By a fingerprint: two that differ and have the same one do not come up. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ShardLog log && log.end() == end() && log.fingerprint == fingerprint;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(fingerprint);
  }

  @Override
  public String toString() {
    return "end " + end() + (before == null ? "" : ", last " + id + " at " + base);
  }
}
