package dev.evenkeel.broker.state;

import static dev.evenkeel.storage.Store.Table.DELAYED;
import static dev.evenkeel.storage.Store.Table.FAILURES;
import static dev.evenkeel.storage.Store.Table.INDEX;
import static dev.evenkeel.storage.Store.Table.LEASES;
import static dev.evenkeel.storage.Store.Table.META;
import static dev.evenkeel.storage.Store.Table.PRODUCERS;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One change to the state of a data log group. Most are a {@link Row}; a record of its own has what
 * others look at, and what every append writes.
 */
public sealed interface Change extends StateChange<DataTables> {
  /** Whether fewer bodies of log entries may be needed after it. */
  default boolean frees() {
    return false;
  }

  /** The lease that it is about, before it; null: there is none. */
  default @Nullable Lease former(DataTables before) {
    return null;
  }

  /**
   * Tells what has happened.
   *
   * @param former as {@link #former} gave it
   */
  default void tell(DataListener listener, Lease former) {}

  /**
   * One row of the store, and what it alters in memory.
   *
   * @param value null: deletes the row
   */
  record Row(Store.Table table, byte[] key, byte @Nullable [] value, Consumer<DataTables> shown)
      implements Change {
    /** A row that memory does not have. */
    Row(Store.Table table, byte[] key, byte @Nullable [] value) {
      this(table, key, value, tables -> {});
    }

    @Override
    public void write(Store.Write write) {
      write.putOrDelete(table, key, value);
    }

    @Override
    public void show(DataTables tables) {
      shown.accept(tables);
    }
  }

  static Change putTopic(TopicRecord topic) {
    byte[] value = TopicRecord.CODEC.encode(topic);
    return new Row(META, Keys.topic(topic.id()), value, all -> all.topics.put(topic.id(), topic));
  }

  record PutShard(Shard shard, ShardRecord record) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(META, Keys.shard(shard), record.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.put(shard, record);
    }

    @Override
    public void tell(DataListener listener, Lease former) {
      listener.shardChanged(shard);
    }
  }

  /** Removes the shard with everything in it, but not its leases. */
  record RemoveShard(Shard shard) implements Change {
    @Override
    public boolean frees() {
      return true;
    }

    @Override
    public void write(Store.Write write) {
      write.delete(META, Keys.shard(shard));
      write.delete(META, Keys.marks(shard));
      new Trim(shard, 0, Long.MAX_VALUE).write(write);
      write.delete(META, Keys.delays(shard));
      write.deleteRange(DELAYED, DelayedKey.first(shard), DelayedKey.last(shard));
    }

    @Override
    public void show(DataTables tables) {
      tables.shards.remove(shard);
      tables.marks.remove(shard);
      tables.delays.remove(shard);
    }

    @Override
    public void tell(DataListener listener, Lease former) {
      listener.shardChanged(shard);
    }
  }

  /** Drops whole batches; the shard's new start is a change of its own. */
  record Trim(Shard shard, long fromOffset, long toOffset) implements Change {
    @Override
    public boolean frees() {
      return true;
    }

    @Override
    public void write(Store.Write write) {
      byte[] from = Keys.batch(shard, fromOffset);
      byte[] to = Keys.batch(shard, toOffset);
      write.deleteRange(INDEX, from, to);
    }
  }

  static Change putMarks(Shard shard, RetentionMarks marks) {
    byte[] value = RetentionMarks.CODEC.encode(marks);
    return new Row(META, Keys.marks(shard), value, all -> all.marks.put(shard, marks));
  }

  record PutBatch(Shard shard, IndexEntry entry) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(INDEX, Keys.batch(shard, entry.base()), entry.encode());
    }
  }

  /** Keeps a batch until it is due. */
  static Change putDelayed(DelayedKey key, DelayedBatch batch) {
    return new Row(DELAYED, key.bytes(), batch.encode());
  }

  static Change removeDelayed(DelayedKey key) {
    return new Row(DELAYED, key.bytes(), null);
  }

  /** Drops a delayed batch, with its bytes. */
  record DropDelayed(DelayedKey key) implements Change {
    @Override
    public boolean frees() {
      return true;
    }

    @Override
    public void write(Store.Write write) {
      write.delete(DELAYED, key.bytes());
    }
  }

  /** The rest of a delayed batch, of which a message was cancelled, waits in its place. */
  record KeepRest(DelayedKey key, DelayedBatch rest) implements Change {
    @Override
    public boolean frees() {
      return true;
    }

    @Override
    public void write(Store.Write write) {
      write.put(DELAYED, key.bytes(), rest.encode());
    }
  }

  /** The shard has this many delayed messages now. */
  static Change putDelays(Shard shard, DelayCounts counts) {
    byte[] value = counts.isEmpty() ? null : DelayCounts.CODEC.encode(counts);
    return new Row(META, Keys.delays(shard), value, all -> all.delays.put(shard, counts));
  }

  /**
   * The shard has no delayed messages any more.
   *
   * @param nextSerial for the next batch that comes
   */
  static Change emptyDelays(Shard shard, long nextSerial) {
    DelayCounts counts = DelayCounts.empty(nextSerial);
    byte[] value = DelayCounts.CODEC.encode(counts);
    return new Row(META, Keys.delays(shard), value, all -> all.delays.put(shard, counts));
  }

  /**
   * @param lease without the bytes of its state: a commit must not write them again
   */
  record PutLease(Lease lease) implements Change {
    private LeaseKey key() {
      return new LeaseKey(lease.shard(), lease.group());
    }

    @Override
    public void write(Store.Write write) {
      write.put(LEASES, Keys.lease(key()), RecordCodec.LEASE.encode(lease));
    }

    @Override
    public void show(DataTables tables) {
      tables.leases.put(key(), lease);
    }

    @Override
    public @Nullable Lease former(DataTables before) {
      return before.lease(lease.group(), lease.shard());
    }

    @Override
    public void tell(DataListener listener, Lease former) {
      if (!onlyCommitted(former)) {
        listener.leaseChanged(lease);
      }
    }

    private boolean onlyCommitted(Lease former) {
      return former != null
          && former.epoch() == lease.epoch()
          && former.owned() == lease.owned()
          && former.stage() == lease.stage()
          && Objects.equals(former.drain(), lease.drain());
    }
  }

  record PutLeaseState(LeaseKey key, byte[] state) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(LEASES, Keys.leaseState(key), state);
    }
  }

  /** Removes the bytes of a lease's state; that it has none is a change of its own. */
  static Change removeLeaseState(LeaseKey key) {
    return new Row(LEASES, Keys.leaseState(key), null);
  }

  /** The time of the entry that makes these changes. */
  record PutTime(LogTime time) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(META, Keys.TIME, time.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.time = time;
    }
  }

  /** Leases made from now on begin above this epoch. */
  static Change putEpochFloor(long floor) {
    return new Row(
        META, Keys.EPOCH_FLOOR, Codec.I64.encode(floor), tables -> tables.epochFloor = floor);
  }

  /** Leases made from now on begin with a generation of this number or above. */
  static Change putGenerationFloor(long floor) {
    byte[] value = Codec.I64.encode(floor);
    return new Row(META, Keys.GENERATION_FLOOR, value, all -> all.generationFloor = floor);
  }

  record RemoveLease(LeaseKey key) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(LEASES, Keys.lease(key));
      write.delete(LEASES, Keys.leaseState(key));
    }

    @Override
    public void show(DataTables tables) {
      tables.leases.remove(key);
    }

    @Override
    public @Nullable Lease former(DataTables before) {
      return before.lease(key.group(), key.shard());
    }

    @Override
    public void tell(DataListener listener, Lease former) {
      listener.leaseForgotten(Objects.requireNonNull(former));
    }
  }

  /**
   * Rows of failures that change together, and how many failures there are after it.
   *
   * @param rows of table FAILURES; without a value: deletes the row
   * @param replayed dead letters were put back, which the owner does not know of
   */
  record PutFailures(LeaseKey key, FailureCounts counts, List<FailureRow> rows, boolean replayed)
      implements Change {
    @Override
    public void write(Store.Write write) {
      rows.forEach(row -> write.putOrDelete(FAILURES, row.key(), row.value()));
      write.put(LEASES, Keys.failureCounts(key), FailureCounts.CODEC.encode(counts));
    }

    @Override
    public void show(DataTables tables) {
      tables.failures.put(key, counts);
      FailureKeys keys = new FailureKeys(key);
      rows.forEach(row -> tables.queues.row(key, keys, row.key(), row.value() != null));
    }

    @Override
    public void tell(DataListener listener, Lease former) {
      if (replayed) {
        listener.retriesAdded(key);
      }
    }
  }

  /** Removes all failures of a group on a shard, dead letters too. */
  record RemoveFailures(LeaseKey key) implements Change {
    @Override
    public boolean frees() {
      return true;
    }

    @Override
    public void write(Store.Write write) {
      FailureKeys keys = new FailureKeys(key);
      write.deleteRange(FAILURES, keys.first(), keys.last());
      write.delete(LEASES, Keys.failureCounts(key));
    }

    @Override
    public void show(DataTables tables) {
      tables.failures.remove(key);
      tables.queues.remove(key);
    }
  }

  record PutProducer(ProducerRecord producer) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(PRODUCERS, Keys.producer(producer.id()), producer.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.put(producer);
    }
  }

  record PutRing(ProducerShard key, RecentSequences ring) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(PRODUCERS, Keys.ring(key), ring.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.rings.put(key, ring);
    }
  }

  static Change removeRing(ProducerShard key) {
    return new Row(PRODUCERS, Keys.ring(key), null, tables -> tables.rings.remove(key));
  }

  /** Its rings are changes of their own. */
  static Change removeProducer(long id) {
    return new Row(PRODUCERS, Keys.producer(id), null, tables -> tables.removeProducer(id));
  }
}
