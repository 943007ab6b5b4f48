package dev.evenkeel.cluster;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepReply;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.internal.ContextInternal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The dedup automata in a Hazelcast map, many of them in each entry (a bucket). An entry processor
 * carries all steps that wait for one bucket. When a step makes a waiting claim the head, the
 * process of that step tells the process of the claim by a message on the event bus.
 *
 * <p>All users of one clustered Vert.x are one member of the cluster and share this object: a
 * message to the member reaches only one of those who listen under its name, and the numbers of
 * listeners must be unique.
 */
final class HazelcastAutomata implements SharedAutomata {
  static final String MAP = "evenkeel.dedup";

  /** Most keys in flight; beyond it a bucket drops its least recently used key. */
  private static final int KEYS_MAX = 1_000_000;

  /**
   * A bucket takes one batch of steps after another: fewer buckets make larger batches, more
   * buckets spread the work over more members. All processes of a cluster must use the same number.
   */
  private static final int BUCKETS = 16;

  private static final int BUCKET_KEYS_MAX = KEYS_MAX / BUCKETS;

  private static final String ADDRESS = "evenkeel.dedup.";

  /** The upper 16 bits of a token are the number of its listener. */
  private static final int NUMBER_SHIFT = 48;

  /** One for each cluster member in this JVM, by its id. */
  private static final Map<String, HazelcastAutomata> MEMBERS = new ConcurrentHashMap<>();

  private final Vertx vertx;
  private final HazelcastInstance hazelcast;
  private final String member;
  private final IMap<Integer, DedupBucket> map;
  private final MapCalls steps = new MapCalls("evenkeel-dedup");
  private final MapCalls sweeps = new MapCalls("evenkeel-dedup-sweep");
  private final StepBatches batches;
  private final Map<Integer, Turns> listeners = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private MessageConsumer<Buffer> messages;

  private HazelcastAutomata(Vertx vertx, HazelcastInstance hazelcast, String member) {
    this.vertx = vertx;
    this.hazelcast = hazelcast;
    this.member = member;
    map = hazelcast.getMap(MAP);
    batches = new StepBatches(BUCKETS, this::carry, steps.executor(), this::home);
  }

  static HazelcastAutomata join(Vertx vertx, HazelcastInstance hazelcast, String member) {
    return MEMBERS.computeIfAbsent(member, id -> new HazelcastAutomata(vertx, hazelcast, id));
  }

  /** The automata of a member in this JVM, or null. */
  static HazelcastAutomata of(String member) {
    return MEMBERS.get(member);
  }

  /** Forgets a member that has left for good. */
  static void leave(String member) {
    HazelcastAutomata last = MEMBERS.remove(member);
    if (last != null) {
      last.batches.close();
      last.steps.close();
      last.sweeps.close();
    }
  }

  @Override
  public String member() {
    return member;
  }

  @Override
  public synchronized int listen(Turns turns) {
    if (messages == null) {
      messages = vertx.eventBus().consumer(ADDRESS + member, this::headChanged);
    }
    int number = numbers.incrementAndGet() & 0x7fff;
    listeners.put(number, turns);
    return number;
  }

  @Override
  public void forget(int number) {
    listeners.remove(number);
  }

  private void headChanged(Message<Buffer> message) {
    Buffer body = message.body();
    if (body.length() != DedupKey.BYTES + 2 * Long.BYTES) {
      return;
    }
    long token = body.getLong(DedupKey.BYTES);
    Turns turns = listeners.get((int) (token >>> NUMBER_SHIFT));
    if (turns != null) {
      turns.head(
          DedupKey.ofBytes(body.getBytes(0, DedupKey.BYTES)),
          token,
          body.getLong(DedupKey.BYTES + Long.BYTES));
    }
  }

  @Override
  public CompletionStage<StepReply> step(Step step) {
    return batches.step(step);
  }

  private CompletionStage<byte[]> carry(int bucket, byte[] batch) {
    return map.submitToKey(bucket, new DedupSteps(batch, nowMillis(), BUCKET_KEYS_MAX));
  }

  @Override
  public long nowMillis() {
    return hazelcast.getCluster().getClusterTime();
  }

  @Override
  public long overflowed() {
    return batches.overflowed();
  }

  /** The Vert.x context of the caller; null if it has none. */
  private Context home() {
    ContextInternal context = ContextInternal.current();
    return context != null && context.owner() == vertx ? context.unwrap() : null;
  }

  @Override
  public void tell(DedupKey key, Claim head) {
    Buffer body = Buffer.buffer(key.bytes()).appendLong(head.token());
    vertx
        .eventBus()
        .send(ADDRESS + head.worker().member(), body.appendLong(head.waitsUntilMillis()));
  }

  @Override
  public CompletionStage<Integer> sweep(Set<String> alive) {
    return sweeps
        .run(vertx, () -> map.<byte[]>executeOnEntries(new DedupSweep(alive, nowMillis())))
        .map(this::swept)
        .toCompletionStage();
  }

  private int swept(Map<Integer, byte[]> replies) {
    int evicted = 0;
    for (byte[] reply : replies.values()) {
      if (reply == null) {
        continue;
      }
      for (SharedBucket.Swept each : SharedCodec.swept(reply)) {
        evicted += each.evicted();
        if (each.head() != null) {
          tell(each.key(), each.head());
        }
      }
    }
    return evicted;
  }
}
