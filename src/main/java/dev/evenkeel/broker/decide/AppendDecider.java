package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.PRODUCER_FENCED;
import static dev.evenkeel.protocol.Refusal.SEALED;
import static dev.evenkeel.protocol.Refusal.SEQUENCE_GAP;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_PRODUCER;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_SHARD;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.ProducerShard;
import dev.evenkeel.broker.state.RecentSequences;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TopicRecord;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the batches of one entry, one after another: each batch sees the outcome of those
 * before it. Use one instance per entry.
 */
public final class AppendDecider {
  /** How far a producer's clock may be ahead of the leader's before its delays look too long. */
  private static final long CLOCKS_APART_MILLIS_MAX = 3600_000;

  /** Take the batch. */
  private static final Result TAKE = new Result(null, Long.MIN_VALUE);

  private final DataTables tables;
  private final LogTime time;
  private final long index;
  private final Map<Shard, ShardRecord> shards = new LinkedHashMap<>();
  private final Map<Long, ProducerRecord> producers = new LinkedHashMap<>();
  private final Map<ProducerShard, RecentSequences> rings = new LinkedHashMap<>();
  private final List<Change> changes = new ArrayList<>();
  private final Map<Shard, DelayCounts> delays = new LinkedHashMap<>();

  private final int level;

  /** New producers of this entry, by owner. */
  private final Map<Integer, Integer> freshProducers = new HashMap<>();

  /**
   * @param index of the entry
   * @param level the feature level of the log group's state
   */
  public AppendDecider(DataTables tables, LogTime time, long index, int level) {
    this.level = level;
    this.tables = tables;
    this.time = time;
    this.index = index;
  }

  /** One result for each batch, in order. Call it once. */
  public List<Result> decide(List<AppendHead.Item> items) {
    List<Result> results = new ArrayList<>(items.size());
    for (AppendHead.Item item : items) {
      results.add(one(item));
    }
    delays.forEach((shard, counts) -> changes.add(Change.putDelays(shard, counts)));
    shards.forEach((shard, record) -> changes.add(new Change.PutShard(shard, record)));
    producers.values().forEach(producer -> changes.add(new Change.PutProducer(producer)));
    rings.forEach((key, ring) -> changes.add(new Change.PutRing(key, ring)));
    return results;
  }

  /** The changes that {@link #decide} has made. */
  public List<Change> changes() {
    return changes;
  }

  private Result one(AppendHead.Item item) {
    Shard shard = item.shard();
    BatchHeader batch = item.batch();
    ShardRecord record = shards.containsKey(shard) ? shards.get(shard) : tables.shard(shard);
    if (record == null) {
      TopicRecord topic = tables.topic(shard.topicId());
      boolean known = topic != null && !topic.dropped();
      return known ? ofGone(shard, batch) : new Result(UNKNOWN_TOPIC, 0);
    }
    if (batch.producerId() == 0) {
      Refusal refusal = refusalOf(item, record);
      return refusal == null ? new Result(null, append(item, record)) : new Result(refusal, 0);
    }
    long id = batch.producerId();
    ProducerShard key = new ProducerShard(id, shard);
    ProducerRecord producer = producer(id);
    RecentSequences ring = ring(key);
    Result verdict = judge(batch, producer, ring);
    if (verdict != TAKE) {
      return verdict;
    }
    if (producer == null
        && !ProducerShare.of(tables, ProducerIds.tag(id)).with(freshProducers).fits(level)) {
      return new Result(OVERLOADED, 0);
    }
    Refusal refusal = refusalOf(item, record);
    return refusal == null
        ? new Result(null, take(item, record, producer, key, ring))
        : new Result(refusal, 0);
  }

  /**
   * The result of a batch for a shard that is not there: what it was if the shard took the batch
   * before it went, as far as that is remembered; else UNKNOWN_SHARD.
   */
  private Result ofGone(Shard shard, BatchHeader batch) {
    ProducerRecord producer = producer(batch.producerId());
    RecentSequences ring = ring(new ProducerShard(batch.producerId(), shard));
    boolean forgotten =
        level >= FeatureLevel.DROPPED_LAYOUTS
            && batch.producerId() != 0
            && producer == null
            && batch.firstSequence() > 0;
    Result verdict = ring == null && !forgotten ? TAKE : judge(batch, producer, ring);
    return verdict == TAKE ? new Result(UNKNOWN_SHARD, 0) : verdict;
  }

  private @Nullable ProducerRecord producer(long id) {
    return producers.containsKey(id) ? producers.get(id) : tables.producer(id);
  }

  private @Nullable RecentSequences ring(ProducerShard key) {
    return rings.containsKey(key) ? rings.get(key) : tables.ring(key);
  }

  /**
   * Judges a batch by its producer's epoch and sequence.
   *
   * <pre>
   * epoch            sequence                      verdict
   * lower            any                           PRODUCER_FENCED, the epoch known
   * unknown producer 0                             take
   * unknown producer above 0                       UNKNOWN_PRODUCER
   * higher           0                             take, and fence the former epoch
   * higher           above 0                       SEQUENCE_GAP, 0
   * known            the next                      take
   * known            ahead of the next             SEQUENCE_GAP, the next
   * known            behind, batch remembered      its first offset
   * known            behind, not remembered        taken before, OFFSET_FORGOTTEN
   * known            across the next               INVALID: no producer cuts batches anew
   * </pre>
   *
   * A handler's producer has another rule: its sequences are places of inputs, so they have gaps
   * and go on from epoch to epoch. It is known, or UNKNOWN_PRODUCER; a lower epoch is fenced; and a
   * batch that does not begin above all that were taken is one that was taken before. See ADR 15.
   *
   * @param producer null if unknown
   * @param ring what is remembered of it in the shard, of any epoch
   */
  private static Result judge(
      BatchHeader batch, @Nullable ProducerRecord producer, @Nullable RecentSequences ring) {
    long first = batch.firstSequence();
    int epoch = batch.producerEpoch();
    if (first < 0 || epoch < 0 || batch.producerId() < 0) {
      return new Result(INVALID, 0);
    }
    if (producer == null) {
      return first == 0 ? TAKE : new Result(UNKNOWN_PRODUCER, 0);
    }
    if (epoch < producer.epoch()) {
      return new Result(PRODUCER_FENCED, producer.epoch());
    }
    if (producer.publisherOf() != null) {
      boolean above = ring == null || first >= ring.next();
      return above ? TAKE : new Result(null, Result.OFFSET_FORGOTTEN);
    }
    boolean goesOn = epoch == producer.epoch() && ring != null && ring.epoch() == epoch;
    long next = ring != null && goesOn ? ring.next() : 0;
    if (first > next) {
      return new Result(SEQUENCE_GAP, next);
    }
    if (first == next || ring == null) {
      return TAKE;
    }
    if (first + batch.count() > next) {
      return new Result(INVALID, next);
    }
    long offset = ring.offsetOf(first, batch.count());
    return new Result(null, offset == RecentSequences.NONE ? Result.OFFSET_FORGOTTEN : offset);
  }

  /**
   * SEALED if the shard takes no more messages; or why the batch may not wait: INVALID for too
   * long, TOO_LARGE for want of room. Null: it may.
   */
  private @Nullable Refusal refusalOf(AppendHead.Item item, ShardRecord record) {
    if (record.sealed()) {
      return SEALED;
    }
    if (!item.delayed()) {
      return null;
    }
    if (item.dueMillis() - time.clockMillis() > Limits.DELAY_MILLIS_MAX + CLOCKS_APART_MILLIS_MAX) {
      return INVALID;
    }
    DelayCounts waiting = delays(item.shard());
    boolean room =
        waiting.messages() + item.batch().count() <= Limits.DELAYED_MESSAGES_MAX
            && waiting.bytes() + item.batch().length() <= Limits.DELAYED_BYTES_MAX;
    return room ? null : TOO_LARGE;
  }

  private DelayCounts delays(Shard shard) {
    DelayCounts changed = delays.get(shard);
    return changed == null ? tables.delays().of(shard) : changed;
  }

  private long take(
      AppendHead.Item item,
      ShardRecord record,
      @Nullable ProducerRecord producer,
      ProducerShard key,
      @Nullable RecentSequences ring) {
    BatchHeader batch = item.batch();
    int epoch = batch.producerEpoch();
    ProducerRecord now;
    if (producer == null) {
      now = ProducerRecord.fresh(key.producerId(), epoch, 0, time.millis());
      freshProducers.merge(now.owner(), 1, Integer::sum);
    } else if (epoch > producer.epoch()) {
      now = producer.inEpoch(epoch, time.millis());
    } else {
      now = producer.used(time.millis());
    }
    if (now.publisherOf() != null) {
      producers.put(key.producerId(), now);
      rings.put(key, RecentSequences.upTo(epoch, batch.firstSequence() + batch.count()));
      return append(item, record);
    }
    RecentSequences current =
        ring != null && producer != null && ring.epoch() == epoch
            ? ring
            : RecentSequences.begin(epoch, ring, now.formerEpoch());
    long base = append(item, record);
    producers.put(key.producerId(), now);
    rings.put(key, current.appended(batch.count(), base));
    return base;
  }

  /** Returns the first offset; of a delayed batch, which has none yet, its serial. */
  private long append(AppendHead.Item item, ShardRecord record) {
    BatchPlace place = new BatchPlace(index, item.at(), item.batch().crc());
    if (item.delayed()) {
      long serial = delay(item, place);
      // From this level on, the results of delayed batches have their serials.
      return level >= FeatureLevel.CANCELLING ? Result.delayed(serial) : Result.OFFSET_FORGOTTEN;
    }
    IndexEntry entry = record.next(item.batch(), place, time.millis());
    changes.add(new Change.PutBatch(item.shard(), entry));
    shards.put(item.shard(), record.appended(entry));
    return entry.base();
  }

  /**
   * The batch waits even if it is due already: it goes behind batches that were sent earlier and
   * are due too.
   *
   * @return its serial
   */
  private long delay(AppendHead.Item item, BatchPlace place) {
    Shard shard = item.shard();
    DelayCounts before = delays(shard);
    DelayedKey key = new DelayedKey(shard, item.dueMillis(), before.nextSerial());
    changes.add(Change.putDelayed(key, new DelayedBatch(item.batch(), place, item.origin())));
    delays.put(shard, before.added(item.batch().count(), item.batch().length(), item.dueMillis()));
    return before.nextSerial();
  }
}
