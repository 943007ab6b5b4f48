package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A data log group's state in memory: everything but the batches and the states of leases. Only
 * {@link Change} alters it, on the applying thread. Topics, shards, leases and failures may be read
 * from any thread, and {@link #producer}; what else concerns producers, and marks, only from the
 * applying one.
 */
public final class DataTables {
  final Map<Integer, TopicRecord> topics = new ConcurrentHashMap<>();
  final NavigableMap<Shard, ShardRecord> shards = new ConcurrentSkipListMap<>();
  final NavigableMap<LeaseKey, Lease> leases = new ConcurrentSkipListMap<>();
  final NavigableMap<LeaseKey, FailureCounts> failures = new ConcurrentSkipListMap<>();
  final WaitingOffsets queues = new WaitingOffsets();
  final DelayTable delays = new DelayTable();
  final Map<Shard, RetentionMarks> marks = new HashMap<>();

  // Sorted, like everything that deciders iterate over. The order of a hash table's keys
  // depends on what was in it before, which a replica that has started again does not know.
  final NavigableMap<Long, ProducerRecord> producers = new ConcurrentSkipListMap<>();
  final NavigableMap<LeaseKey, Long> publishers = new TreeMap<>();

  /** How many ordinary producers each owner has, by its tag; may be read from any thread. */
  private final Map<Integer, Integer> producersOf = new ConcurrentHashMap<>();

  /** How many producers of handlers, and of spools, have each tag. */
  private final Map<Integer, Integer> publishersOf = new HashMap<>();

  private int ordinaryProducers;

  final NavigableMap<ProducerShard, RecentSequences> rings = new TreeMap<>();
  volatile long epochFloor;
  volatile long generationFloor;

  /** Null before the first entry. */
  volatile @Nullable LogTime time;

  /** Reads everything back from the store. */
  public static DataTables load(Store store) {
    DataTables tables = new DataTables();
    each(
        store,
        Store.Table.META,
        (key, value) -> {
          switch (key[0]) {
            case 'T' -> {
              TopicRecord topic = TopicRecord.CODEC.decode(value);
              tables.topics.put(topic.id(), topic);
            }
            case 'S' -> tables.put(Keys.metaShard(key), ShardRecord.decode(value));
            case 'D' -> tables.delays.put(Keys.metaShard(key), DelayCounts.CODEC.decode(value));
            case 'C' -> tables.time = LogTime.decode(value);
            case 'G' -> tables.generationFloor = new ByteReader(value).i64();
            case 'E' -> tables.epochFloor = new ByteReader(value).i64();
            case 'R' -> tables.marks.put(Keys.metaShard(key), RetentionMarks.CODEC.decode(value));
            default -> throw new IllegalStateException("unknown record '" + (char) key[0] + "'");
          }
        });
    each(
        store,
        Store.Table.LEASES,
        (key, value) -> {
          if (Keys.isFailureCounts(key)) {
            tables.failures.put(Keys.leaseKey(key), FailureCounts.CODEC.decode(value));
          } else if (!Keys.isLeaseState(key)) {
            Lease lease = RecordCodec.lease(new ByteReader(value));
            tables.leases.put(new LeaseKey(lease.shard(), lease.group()), lease);
          }
        });
    each(
        store,
        Store.Table.PRODUCERS,
        (key, value) -> {
          if (key.length == 8) {
            ProducerRecord producer = ProducerRecord.decode(value);
            tables.put(producer);
          } else {
            tables.rings.put(Keys.ring(key), RecentSequences.decode(value));
          }
        });
    tables.failures.keySet().forEach(key -> tables.loadQueues(store, key));
    return tables;
  }

  private void loadQueues(Store store, LeaseKey key) {
    FailureKeys keys = new FailureKeys(key);
    byte[] from = keys.part(FailureKeys.QUEUE);
    byte[] to = keys.part(FailureKeys.QUEUE + 1);
    try (Store.Cursor cursor = store.scan(Store.Table.FAILURES, from, to)) {
      while (cursor.next()) {
        queues.row(key, keys, cursor.key(), true);
      }
    }
  }

  static void each(Store store, Store.Table table, BiConsumer<byte[], byte[]> row) {
    try (Store.Cursor cursor = store.scan(table, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        row.accept(cursor.key(), cursor.value());
      }
    }
  }

  /** The topic, also if it was dropped. */
  public @Nullable TopicRecord topic(int topicId) {
    return topics.get(topicId);
  }

  /** All topics, also those that were dropped; a live view. */
  public Collection<TopicRecord> topics() {
    return Collections.unmodifiableCollection(topics.values());
  }

  /** Topic and shard, for people. */
  public String nameOf(Shard shard) {
    TopicRecord topic = topic(shard.topicId());
    return (topic == null ? "topic " + shard.topicId() : "topic '" + topic.name() + "'")
        + " shard "
        + shard.shard();
  }

  /** The shard; null: it is not here. */
  public @Nullable ShardRecord shard(Shard shard) {
    return shards.get(shard);
  }

  /** All shards, sorted; a live view. */
  public Set<Map.Entry<Shard, ShardRecord>> shards() {
    return Collections.unmodifiableSet(shards.entrySet());
  }

  /** Those of a topic, sorted; a live view. */
  public Set<Map.Entry<Shard, ShardRecord>> shards(int topicId) {
    return Collections.unmodifiableSet(ofTopic(topicId).entrySet());
  }

  private NavigableMap<Shard, ShardRecord> ofTopic(int topicId) {
    return shards.subMap(new Shard(topicId, 0), true, new Shard(topicId, Integer.MAX_VALUE), true);
  }

  /** Shards of a topic, sorted. */
  public List<Shard> shardsOf(int topicId) {
    return List.copyOf(ofTopic(topicId).keySet());
  }

  /**
   * The lease, without the bytes of its state. Where retention has dropped messages that the group
   * had not consumed, it goes on at the first one kept.
   */
  public @Nullable Lease lease(String group, Shard shard) {
    Lease lease = leases.get(new LeaseKey(shard, group));
    return lease == null ? null : current(lease);
  }

  /** The lease, moved up to the first message kept. */
  public Lease current(Lease lease) {
    ShardRecord record = shards.get(lease.shard());
    return record == null || lease.committed() >= record.start()
        ? lease
        : lease.committedAt(record.start());
  }

  /** The lease of one moment with the bytes of its state. */
  public @Nullable Lease leaseWithState(Store store, LeaseKey key) {
    byte[] behind = Keys.leaseState(key);
    behind[behind.length - 1]++;
    Lease lease = null;
    byte[] state = null;
    // One cursor, and so one moment: position and state belong together.
    try (Store.Cursor cursor = store.scan(Store.Table.LEASES, Keys.lease(key), behind)) {
      while (cursor.next()) {
        if (Keys.isLeaseState(cursor.key())) {
          state = cursor.value();
        } else {
          lease = RecordCodec.lease(new ByteReader(cursor.value()));
        }
      }
    }
    if (lease == null) {
      return null;
    }
    return current(state == null ? lease : lease.withState(state));
  }

  /** Leases on a shard, sorted by group, as {@link #lease} gives them. */
  public List<Lease> leasesOn(Shard shard) {
    return on(shard, leases).values().stream().map(this::current).toList();
  }

  private static <V> NavigableMap<LeaseKey, V> on(Shard shard, NavigableMap<LeaseKey, V> all) {
    return all.subMap(new LeaseKey(shard, ""), true, new LeaseKey(shard, "\uffff"), false);
  }

  /** No removed lease had a higher epoch, and every new lease begins above it. */
  public long epochFloor() {
    return epochFloor;
  }

  /**
   * Every new lease begins with a generation of this number: live members may remember what became
   * of messages before the group forgot the topic.
   */
  public long generationFloor() {
    return generationFloor;
  }

  /** The time of an entry, or of a look, when the leader's clock says {@code nowMillis}. */
  public LogTime timeAt(long nowMillis) {
    LogTime last = time;
    return last == null ? LogTime.first(nowMillis) : last.at(nowMillis);
  }

  /**
   * Whether the time stands still until an entry says that the leader's clock is {@code nowMillis}.
   */
  public boolean timeStandsStill(long nowMillis) {
    LogTime last = time;
    return last != null && last.standsStill(nowMillis);
  }

  /** Leases of a group, sorted by shard. */
  public List<LeaseKey> leasesOf(String group) {
    return leases.keySet().stream().filter(key -> key.group().equals(group)).toList();
  }

  /** Offsets that wait in the queues of keys; only for the applying thread. */
  public WaitingOffsets queues() {
    return queues;
  }

  /** Counts of the group's failures on the shard; from any thread. */
  public FailureCounts failures(LeaseKey key) {
    return failures.getOrDefault(key, FailureCounts.NONE);
  }

  /** Where a group has failures, sorted by shard; from any thread. */
  public List<LeaseKey> failuresOf(String group) {
    return failures.keySet().stream().filter(key -> key.group().equals(group)).toList();
  }

  /** Which groups have failures on the shard; from any thread. */
  public List<LeaseKey> failuresOn(Shard shard) {
    return List.copyOf(on(shard, failures).keySet());
  }

  /** All failures, sorted by shard and group; a live view, from any thread. */
  public Map<LeaseKey, FailureCounts> failures() {
    return Collections.unmodifiableMap(failures);
  }

  /** Delayed messages; from any thread. */
  public DelayTable delays() {
    return delays;
  }

  public RetentionMarks marks(Shard shard) {
    return marks.getOrDefault(shard, RetentionMarks.NONE);
  }

  /** The producer; null: it is unknown. From any thread. */
  public @Nullable ProducerRecord producer(long producerId) {
    return producers.get(producerId);
  }

  /** The producer under which the handlers of a group on a shard publish here. */
  public @Nullable ProducerRecord publisher(LeaseKey of) {
    Long id = publishers.get(of);
    return id == null ? null : producers.get(id);
  }

  /** The groups and shards whose handlers publish here; a live view. */
  public Set<LeaseKey> publishers() {
    return Collections.unmodifiableSet(publishers.keySet());
  }

  /** How many producers there are without those of handlers. */
  public int ordinaryProducers() {
    return ordinaryProducers;
  }

  void put(Shard shard, ShardRecord record) {
    shards.put(shard, record);
    if (record.sealed()) {
      delays.seal(shard);
    }
  }

  /**
   * How many producers, without those of handlers, each owner has who has any, by {@link
   * ProducerRecord#owner}; a live view, from any thread.
   */
  public Map<Integer, Integer> producersByOwner() {
    return Collections.unmodifiableMap(producersOf);
  }

  void put(ProducerRecord producer) {
    ProducerRecord former = producers.put(producer.id(), producer);
    if (former == null) {
      count(producer, 1);
    } else if (former.owner() != producer.owner()
        || (former.publisherOf() == null) != (producer.publisherOf() == null)) {
      count(former, -1);
      count(producer, 1);
    }
    if (producer.publisherOf() != null) {
      publishers.put(producer.publisherOf(), producer.id());
    }
  }

  /** How many producers of handlers, and of spools, have a tag. */
  public int publishersOf(int tag) {
    return publishersOf.getOrDefault(tag, 0);
  }

  private void count(ProducerRecord producer, int more) {
    boolean ordinary = producer.publisherOf() == null;
    ordinaryProducers += ordinary ? more : 0;
    (ordinary ? producersOf : publishersOf)
        .merge(
            producer.owner(),
            more,
            (had, add) -> had + add == 0 ? null : Integer.valueOf(had + add));
  }

  void removeProducer(long id) {
    ProducerRecord gone = producers.remove(id);
    if (gone != null) {
      count(gone, -1);
      if (gone.publisherOf() != null) {
        publishers.remove(gone.publisherOf(), id);
      }
    }
  }

  public Collection<ProducerRecord> producers() {
    return Collections.unmodifiableCollection(producers.values());
  }

  /** What is remembered of a producer in a shard. */
  public @Nullable RecentSequences ring(ProducerShard key) {
    return rings.get(key);
  }

  /** Everything remembered of a producer, by shard. */
  public SortedMap<ProducerShard, RecentSequences> ringsOf(long producerId) {
    Shard least = new Shard(Integer.MIN_VALUE, Integer.MIN_VALUE);
    Shard most = new Shard(Integer.MAX_VALUE, Integer.MAX_VALUE);
    return Collections.unmodifiableSortedMap(
        rings.subMap(
            new ProducerShard(producerId, least), true, new ProducerShard(producerId, most), true));
  }

  /** Where any producer is remembered in a topic. */
  public List<ProducerShard> ringsIn(int topicId) {
    return rings.keySet().stream().filter(key -> key.shard().topicId() == topicId).toList();
  }
}
