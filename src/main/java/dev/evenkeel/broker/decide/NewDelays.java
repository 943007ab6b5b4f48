package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Delayed batches that one entry brings. One instance an entry. */
final class NewDelays {
  /** How far a producer's clock may be ahead of the leader's before its delays look too long. */
  private static final long CLOCKS_APART_MILLIS_MAX = 3600_000;

  private final DataTables tables;
  private final long nowMillis;
  private final Map<Shard, DelayCounts> stands = new LinkedHashMap<>();

  NewDelays(DataTables tables, long nowMillis) {
    this.tables = tables;
    this.nowMillis = nowMillis;
  }

  /** Why the batch may not wait, or null: INVALID for too long, TOO_LARGE for want of room. */
  Refusal refusal(Shard shard, Batch batch, long dueMillis) {
    if (dueMillis - nowMillis > Limits.DELAY_MILLIS_MAX + CLOCKS_APART_MILLIS_MAX) {
      return Refusal.INVALID;
    }
    DelayCounts stand = stand(shard);
    boolean room =
        stand.messages() + batch.count() <= Limits.DELAYED_MESSAGES_MAX
            && stand.bytes() + batch.length() <= Limits.DELAYED_BYTES_MAX;
    return room ? null : Refusal.TOO_LARGE;
  }

  /** It waits, also if it is due already: it goes behind what was sent before and is due too. */
  void put(Shard shard, Batch batch, long dueMillis, List<Change> changes) {
    DelayCounts stand = stand(shard);
    changes.add(new Change.PutDelayed(new DelayedKey(shard, dueMillis, stand.nextSerial()), batch));
    stands.put(shard, stand.added(batch.count(), batch.length(), dueMillis));
  }

  void finish(List<Change> changes) {
    stands.forEach((shard, stand) -> changes.add(new Change.PutDelays(shard, stand)));
  }

  private DelayCounts stand(Shard shard) {
    DelayCounts changed = stands.get(shard);
    return changed == null ? tables.delays().of(shard) : changed;
  }
}
