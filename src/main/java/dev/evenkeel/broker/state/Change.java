package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;
import java.util.List;

/** One change to the state of a data log group. */
public sealed interface Change extends StateChange<DataTables> {
  record PutTopic(TopicRecord topic) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.topic(topic.id()), TopicRecord.CODEC.encode(topic));
    }

    @Override
    public void show(DataTables tables) {
      tables.topics.put(topic.id(), topic);
    }
  }

  record PutShard(Shard shard, ShardRecord record) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.shard(shard), record.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.shards.put(shard, record);
    }
  }

  /** The shard goes with everything in it, but not its leases. */
  record RemoveShard(Shard shard) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.META, Keys.shard(shard));
      write.delete(Store.Table.META, Keys.marks(shard));
      byte[] from = Keys.batch(shard, 0);
      byte[] to = Keys.batch(shard, Long.MAX_VALUE);
      write.deleteRange(Store.Table.BATCHES, from, to);
      write.deleteRange(Store.Table.INDEX, from, to);
      write.delete(Store.Table.META, Keys.delays(shard));
      write.deleteRange(Store.Table.DELAYED, DelayedKey.first(shard), DelayedKey.last(shard));
    }

    @Override
    public void show(DataTables tables) {
      tables.shards.remove(shard);
      tables.marks.remove(shard);
      tables.delays.put(shard, DelayCounts.NONE);
    }
  }

  /** Drops whole batches; the shard's new start is a change of its own. */
  record Trim(Shard shard, long fromOffset, long toOffset) implements Change {
    @Override
    public void write(Store.Write write) {
      byte[] from = Keys.batch(shard, fromOffset);
      byte[] to = Keys.batch(shard, toOffset);
      write.deleteRange(Store.Table.BATCHES, from, to);
      write.deleteRange(Store.Table.INDEX, from, to);
    }
  }

  record PutMarks(Shard shard, RetentionMarks marks) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.marks(shard), RetentionMarks.CODEC.encode(marks));
    }

    @Override
    public void show(DataTables tables) {
      tables.marks.put(shard, marks);
    }
  }

  record PutBatch(Shard shard, IndexEntry entry, Batch batch) implements Change {
    @Override
    public void write(Store.Write write) {
      byte[] key = Keys.batch(shard, entry.base());
      write.put(Store.Table.BATCHES, key, batch.bytes().duplicate());
      write.put(Store.Table.INDEX, key, entry.encode());
    }
  }

  /** A batch waits until it is due. */
  record PutDelayed(DelayedKey key, Batch batch) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.DELAYED, key.bytes(), batch.bytes().duplicate());
    }
  }

  record RemoveDelayed(DelayedKey key) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.DELAYED, key.bytes());
    }
  }

  /** How much of delayed messages there is now. */
  record PutDelays(Shard shard, DelayCounts counts) implements Change {
    @Override
    public void write(Store.Write write) {
      if (counts.isEmpty()) {
        write.delete(Store.Table.META, Keys.delays(shard));
      } else {
        write.put(Store.Table.META, Keys.delays(shard), DelayCounts.CODEC.encode(counts));
      }
    }

    @Override
    public void show(DataTables tables) {
      tables.delays.put(shard, counts);
    }
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
      write.put(Store.Table.LEASES, Keys.lease(key()), RecordCodec.LEASE.encode(lease));
    }

    @Override
    public void show(DataTables tables) {
      tables.leases.put(key(), lease);
    }
  }

  record PutLeaseState(LeaseKey key, byte[] state) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.LEASES, Keys.leaseState(key), state);
    }
  }

  /** The bytes of a lease's state go; that it has none is a change of its own. */
  record RemoveLeaseState(LeaseKey key) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.LEASES, Keys.leaseState(key));
    }
  }

  /** The time of the entry that makes these changes. */
  record PutTime(LogTime time) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.time(), time.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.time = time;
    }
  }

  /** Leases made from now on begin above this epoch. */
  record PutEpochFloor(long floor) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.epochFloor(), Codec.I64.encode(floor));
    }

    @Override
    public void show(DataTables tables) {
      tables.epochFloor = floor;
    }
  }

  /** Leases made from now on begin with a generation of this number or above. */
  record PutGenerationFloor(long floor) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.generationFloor(), Codec.I64.encode(floor));
    }

    @Override
    public void show(DataTables tables) {
      tables.generationFloor = floor;
    }
  }

  record RemoveLease(LeaseKey key) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.LEASES, Keys.lease(key));
      write.delete(Store.Table.LEASES, Keys.leaseState(key));
    }

    @Override
    public void show(DataTables tables) {
      tables.leases.remove(key);
    }
  }

  /**
   * Rows of failures that change together, and how much there is of all after it.
   *
   * @param rows of table FAILURES; without a value: the row goes
   * @param replayed dead letters were put back, which the owner does not know of
   */
  record PutFailures(LeaseKey key, FailureCounts counts, List<FailureRow> rows, boolean replayed)
      implements Change {
    @Override
    public void write(Store.Write write) {
      for (FailureRow row : rows) {
        if (row.value() == null) {
          write.delete(Store.Table.FAILURES, row.key());
        } else {
          write.put(Store.Table.FAILURES, row.key(), row.value());
        }
      }
      write.put(Store.Table.LEASES, Keys.failureCounts(key), FailureCounts.CODEC.encode(counts));
    }

    @Override
    public void show(DataTables tables) {
      tables.failures.put(key, counts);
      FailureKeys keys = new FailureKeys(key);
      rows.forEach(row -> tables.lanes.row(key, keys, row.key(), row.value() != null));
    }
  }

  /** All failures of a group on a shard go, with the dead letters. */
  record RemoveFailures(LeaseKey key) implements Change {
    @Override
    public void write(Store.Write write) {
      FailureKeys keys = new FailureKeys(key);
      write.deleteRange(Store.Table.FAILURES, keys.first(), keys.last());
      write.delete(Store.Table.LEASES, Keys.failureCounts(key));
    }

    @Override
    public void show(DataTables tables) {
      tables.failures.remove(key);
      tables.lanes.remove(key);
    }
  }

  record PutProducer(ProducerRecord producer) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.PRODUCERS, Keys.producer(producer.id()), producer.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.put(producer);
    }
  }

  record PutRing(ProducerShard key, RecentSequences ring) implements Change {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.PRODUCERS, Keys.ring(key), ring.encode());
    }

    @Override
    public void show(DataTables tables) {
      tables.rings.put(key, ring);
    }
  }

  record RemoveRing(ProducerShard key) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.PRODUCERS, Keys.ring(key));
    }

    @Override
    public void show(DataTables tables) {
      tables.rings.remove(key);
    }
  }

  /** Its rings are changes of their own. */
  record RemoveProducer(long producerId) implements Change {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.PRODUCERS, Keys.producer(producerId));
    }

    @Override
    public void show(DataTables tables) {
      tables.removeProducer(producerId);
    }
  }
}
