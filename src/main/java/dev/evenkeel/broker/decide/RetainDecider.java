package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.RetentionMarks;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TopicRecord;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Decides what retention drops: whole batches that every group consumed long enough ago, batches
 * over a limit that the user switched on, and producers that were silent for too long. {@link
 * dev.evenkeel.broker.state.LogTime} measures the times.
 */
public final class RetainDecider {
  /** Producers kept; those used longest ago go first. */
  public static final int PRODUCERS_MAX = 10_000;

  /** How long a silent producer is remembered. */
  public static final long PRODUCER_IDLE_MILLIS_MAX = 7L * 24 * 3600 * 1000;

  private static final int MARKS_PER_RETENTION = 24;

  private final DataTables tables;
  private final Store store;
  private final long timeMillis;
  private final int level;
  private final List<Change> changes = new ArrayList<>();

  /**
   * @param level the feature level of the log group's state
   */
  public RetainDecider(DataTables tables, Store store, long timeMillis, int level) {
    this.level = level;
    this.tables = tables;
    this.store = store;
    this.timeMillis = timeMillis;
  }

  /** Call it once. */
  public Decision<Change> decide() {
    for (Map.Entry<Shard, ShardRecord> each : tables.shards()) {
      TopicRecord topic = Objects.requireNonNull(tables.topic(each.getKey().topicId()));
      shard(each.getKey(), each.getValue(), topic.config());
    }
    producers();
    return Decision.of(changes);
  }

  private void shard(Shard shard, ShardRecord record, TopicConfig config) {
    List<Lease> leases = tables.leasesOn(shard);
    long floor = floor(leases);
    long start = record.start();
    if (floor >= 0) {
      start = Math.max(start, consumed(shard, floor, config.retentionMillis()));
    }
    if (config.ageMillisMax() > -1) {
      long oldest = timeMillis - config.ageMillisMax();
      start = Math.max(start, from(shard, record, each -> each.appendMillis() >= oldest));
    }
    if (config.shardBytesMax() > -1) {
      long before = record.endPosition() - config.shardBytesMax();
      start = Math.max(start, from(shard, record, each -> each.position() >= before));
    }
    long trimmed = start > record.start() ? trim(shard, record, start, floor) : record.start();
    for (Lease lease : leases) {
      skip(lease, Math.max(record.start(), lease.floor()), trimmed);
    }
  }

  /** The lowest offset that some group may still need, or -1 without a group. */
  private static long floor(List<Lease> leases) {
    return leases.stream().mapToLong(Lease::floor).min().orElse(-1);
  }

  /**
   * Tells a group that it has not consumed the messages from {@code needed} up to {@code start},
   * which is kept; or no longer tells it of earlier ones.
   */
  private void skip(Lease lease, long needed, long start) {
    Lease next = lease.asOf(timeMillis);
    if (needed < start && level >= FeatureLevel.SKIPPED) {
      next = next.skipping(needed, start, timeMillis);
    }
    if (next != lease) {
      changes.add(new Change.PutLease(next));
    }
  }

  /**
   * Notes the floor from time to time. Returns the offset below which everything was consumed long
   * enough ago.
   */
  private long consumed(Shard shard, long floor, long retentionMillis) {
    RetentionMarks marks = tables.marks(shard);
    RetentionMarks next =
        marks.upTo(timeMillis).sampled(timeMillis, floor, sampleEvery(retentionMillis));
    RetentionMarks.Mark old = next.newestUpTo(timeMillis - retentionMillis);
    if (old != null) {
      next = next.since(old.millis());
    }
    if (!next.equals(marks)) {
      changes.add(Change.putMarks(shard, next));
    }
    // A group that came later, or was reset, may need messages that all groups had consumed then.
    return old == null ? 0 : Math.min(old.floor(), floor);
  }

  /** Rounded up: as many marks as are kept must reach back over the whole retention. */
  private static long sampleEvery(long retentionMillis) {
    return (retentionMillis + MARKS_PER_RETENTION - 1) / MARKS_PER_RETENTION;
  }

  private long from(Shard shard, ShardRecord record, Predicate<IndexEntry> kept) {
    IndexEntry first = BatchIndex.first(store, shard, record, kept);
    return first == null ? record.end() : first.base();
  }

  /**
   * Moves the start up to the beginning of the batch that holds {@code offset}.
   *
   * @return the new start
   */
  private long trim(Shard shard, ShardRecord record, long offset, long floor) {
    long start = record.end();
    long position = record.endPosition();
    if (offset < record.end()) {
      IndexEntry first = BatchIndex.at(store, shard, offset);
      if (first == null || first.base() <= record.start()) {
        return record.start();
      }
      start = first.base();
      position = first.position();
    }
    long needed = Math.max(record.start(), floor);
    changes.add(new Change.Trim(shard, record.start(), start));
    changes.add(
        new Change.PutShard(shard, record.trimmed(start, position, Math.max(0, start - needed))));
    return start;
  }

  private void producers() {
    List<ProducerRecord> kept = new ArrayList<>();
    for (ProducerRecord each : tables.producers()) {
      boolean spool =
          level >= FeatureLevel.DROPPED_LAYOUTS
              && each.publisherOf() != null
              && SpoolPublisher.isGroup(each.publisherOf().group());
      if (each.publisherOf() != null && !spool) {
        // A publisher is removed with its group or input shard, however long it is silent.
        continue;
      }
      if (timeMillis - each.usedMillis() > PRODUCER_IDLE_MILLIS_MAX) {
        changes.addAll(ProducerDecider.forget(tables, each));
      } else if (!spool) {
        kept.add(each);
      }
    }
    if (kept.size() > PRODUCERS_MAX) {
      (level < FeatureLevel.TABLE_OWNERS ? oldest(kept, PRODUCERS_MAX) : tooMany(kept))
          .forEach(each -> changes.addAll(ProducerDecider.forget(tables, each)));
    }
  }

  /** Those used longest ago, so that not more than {@code max} are left. */
  private static List<ProducerRecord> oldest(List<ProducerRecord> producers, int max) {
    producers.sort(
        Comparator.comparingLong(ProducerRecord::usedMillis).thenComparingLong(ProducerRecord::id));
    return producers.subList(0, Math.max(0, producers.size() - max));
  }

  /**
   * Those that are too many, of {@link #PRODUCERS_MAX} of all owners: the oldest of whoever has the
   * most. Whoever has less than an equal part loses none.
   */
  private static List<ProducerRecord> tooMany(List<ProducerRecord> producers) {
    Map<Integer, List<ProducerRecord>> byOwner = new TreeMap<>();
    producers.forEach(
        each -> byOwner.computeIfAbsent(each.owner(), any -> new ArrayList<>()).add(each));
    int part =
        equalPart(byOwner.values().stream().mapToInt(List::size).sorted().toArray(), PRODUCERS_MAX);
    List<ProducerRecord> tooMany = new ArrayList<>();
    byOwner.values().forEach(its -> tooMany.addAll(oldest(its, part)));
    return tooMany;
  }

  /**
   * What each may keep of what it has, so that all keep at most {@code max} together: the highest
   * number for which that holds.
   *
   * @param counts what each has, lowest first
   */
  static int equalPart(int[] counts, int max) {
    int left = max;
    for (int i = 0; i < counts.length; i++) {
      int part = left / (counts.length - i);
      if (counts[i] > part) {
        return part;
      }
      left -= counts[i];
    }
    return max;
  }
}
