package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** The committed offset of each shard, and which of them have changed since a version. */
final class CommittedOffsets {
  private record Known(long offset, long version) {}

  private final Map<Shard, Known> byShard = new HashMap<>();
  private final TreeMap<Long, Shard> byVersion = new TreeMap<>();
  private long version;

  /** Grows with each change. */
  long version() {
    return version;
  }

  void committed(Shard shard, long offset) {
    if (offset > below(shard)) {
      forget(shard);
      byShard.put(shard, new Known(offset, ++version));
      byVersion.put(version, shard);
    }
  }

  /** Below which offset the group is done; 0 if unknown. */
  long below(Shard shard) {
    Known known = byShard.get(shard);
    return known == null ? 0 : known.offset();
  }

  void forget(Shard shard) {
    Known known = byShard.remove(shard);
    if (known != null) {
      byVersion.remove(known.version());
    }
  }

  /** What has changed since {@code known}, a version. */
  Map<Shard, Long> since(long known) {
    Map<Shard, Long> changes = new LinkedHashMap<>();
    byVersion.tailMap(known, false).forEach((each, shard) -> changes.put(shard, below(shard)));
    return changes;
  }
}
