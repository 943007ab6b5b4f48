package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.map.IMap;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.HeadMessage;
import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.dedup.Lease;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepBatches;
import dev.evenkeel.dedup.StepBatches.Carried;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.TurnListeners;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.internal.ContextInternal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dedup automata in a Hazelcast map, many of them in each entry (a bucket). An entry processor
 * carries all steps that wait for one bucket. When a step makes a waiting claim the head, the
 * process of that step tells the process of the claim by a message on the event bus.
 *
 * <p>All users of one clustered Vert.x are one member of the cluster and share this object: a
 * message to the member reaches only one of those who listen under its name, and the numbers of
 * listeners must be unique.
 */
final class HazelcastAutomata implements ClusterAutomata {
  static final String MAP = "evenkeel.dedup";

  private static final Logger LOG = LoggerFactory.getLogger(HazelcastAutomata.class);

  /** Most keys in flight; beyond it a bucket drops its least recently used key. */
  private static final int KEYS_MAX = 1_000_000;

  private static final int BUCKET_KEYS_MAX = KEYS_MAX / StepBatches.BUCKETS;

  /** Hazelcast gives up a member that is silent. */
  private static final long SILENT_MILLIS_MAX =
      Lease.silentMillisMax(TimeUnit.SECONDS.toMillis(HazelcastConfigs.MEMBER_SILENCE_SECONDS_MAX));

  /** Each member takes messages about its claims here, and so do sessions. */
  private static final String ADDRESS = "evenkeel.dedup.";

  /** One for each cluster member in this JVM, by its id. */
  private static final Map<String, HazelcastAutomata> MEMBERS = new ConcurrentHashMap<>();

  private final Vertx vertx;
  private final HazelcastInstance hazelcast;
  private final String member;
  private final IMap<Integer, DedupBucket> map;
  private final MapCalls steps = new MapCalls("evenkeel-dedup");
  private final MapCalls questions = new MapCalls("evenkeel-dedup-heard");
  private final MapCalls sweeps = new MapCalls("evenkeel-dedup-sweep");
  private final StepBatches batches;

  /** Some of their answers wait for {@link #heard}, whose thread gives them. */
  private final StepBatches serviceBatches;

  private final TurnListeners listeners = new TurnListeners();
  private final HeardRounds heard;
  private final SteadyTime time = new SteadyTime();

  /** How many nodes vote; 0: this member is no voter. */
  private volatile IntSupplier voters = () -> 0;

  private MessageConsumer<Buffer> messages;

  private HazelcastAutomata(Vertx vertx, HazelcastInstance hazelcast, String member) {
    this.vertx = vertx;
    this.hazelcast = hazelcast;
    this.member = member;
    map = hazelcast.getMap(MAP);
    batches = new StepBatches(StepBatches.BUCKETS, this::carry, steps.executor(), this::home);
    serviceBatches =
        new StepBatches(StepBatches.BUCKETS, this::carryClaims, steps.executor(), () -> null);
    heard = new HeardRounds(hazelcast, member, this::voters, questions.executor());
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
      last.serviceBatches.close();
      last.steps.close();
      last.questions.close();
      last.sweeps.close();
    }
  }

  /** Nobody shall find these any more, because their Vert.x closes. Steps still go through. */
  static void forget(HazelcastAutomata former) {
    MEMBERS.remove(former.member, former);
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
    return listeners.add(turns);
  }

  @Override
  public void forget(int number) {
    listeners.remove(number);
  }

  private void headChanged(Message<Buffer> message) {
    try {
      listeners.deliver(HeadMessage.ofBytes(message.body().getBytes()));
    } catch (RefusedException malformed) {
      LOG.debug("unreadable message about a claim", malformed);
    }
  }

  @Override
  public CompletionStage<StepReply> step(Step step) {
    return (step.claim().worker().isService() ? serviceBatches : batches).step(step);
  }

  @Override
  public CompletionStage<Void> heard() {
    return heard.next();
  }

  /** At once 0 where it can be seen that others have the majority. */
  @Override
  public long silentMillisMax() {
    int nodes = 0;
    try {
      for (Member each : hazelcast.getCluster().getMembers()) {
        nodes += each.isLiteMember() ? 0 : 1;
      }
    } catch (HazelcastInstanceNotActiveException e) {
      return 0;
    }
    return nodes > voters() / 2 ? SILENT_MILLIS_MAX : 0;
  }

  void voters(IntSupplier source) {
    voters = source;
  }

  int voters() {
    return voters.getAsInt();
  }

  private CompletionStage<Carried> carry(int bucket, byte[] batch) {
    return map.<byte[]>submitToKey(bucket, new DedupSteps(batch, nowMillis(), BUCKET_KEYS_MAX))
        .thenApplyAsync(Carried::new, Runnable::run);
  }

  /**
   * The answer to a claim of a program counts only if a majority of the nodes is in sight after the
   * step: in a smaller part of the cluster, the map is not the one that the others see. This node
   * and the one that carried out the step may be enough.
   */
  private CompletionStage<Carried> carryClaims(int bucket, byte[] batch) {
    return map.<byte[]>submitToKey(
            bucket, new DedupClaims(batch, nowMillis(), BUCKET_KEYS_MAX, member))
        .thenApplyAsync(
            bytes -> {
              DedupClaims.Result result = DedupClaims.Result.ofBytes(bytes);
              return new Carried(result.replies(), isMajority(result) ? null : this::heard);
            },
            Runnable::run);
  }

  private boolean isMajority(DedupClaims.Result result) {
    int own = voters();
    boolean other = result.voters() > 0 && !result.node().equals(member);
    int yes = (own > 0 ? 1 : 0) + (other ? 1 : 0);
    return yes > Math.max(own, result.voters()) / 2;
  }

  @Override
  public long nowMillis() {
    try {
      return time.millis(hazelcast.getCluster().getClusterTime(), MonotonicClock.millis());
    } catch (HazelcastInstanceNotActiveException e) {
      // Nothing that bears this time goes anywhere any more.
      return System.currentTimeMillis();
    }
  }

  @Override
  public long overflowed() {
    return batches.overflowed() + serviceBatches.overflowed();
  }

  /** The Vert.x context of the caller; null if it has none. */
  private Home home() {
    ContextInternal context = ContextInternal.current();
    return context != null && context.owner() == vertx ? new Home(context.unwrap()) : null;
  }

  private record Home(Context context) implements Executor {
    @Override
    public void execute(Runnable task) {
      context.runOnContext(then -> task.run());
    }
  }

  @Override
  public void tell(DedupKey key, Claim head) {
    vertx
        .eventBus()
        .send(ADDRESS + head.worker().member(), Buffer.buffer(HeadMessage.of(key, head).bytes()));
  }

  @Override
  public CompletionStage<Sweep> sweep(
      Set<String> alive, Set<String> ended, Set<String> services, long placedMillisMax) {
    return sweeps
        .run(
            vertx,
            () ->
                map.<byte[]>executeOnEntries(
                    new DedupClaimSweep(alive, ended, services, placedMillisMax, nowMillis())))
        .map(this::swept)
        .toCompletionStage();
  }

  @Override
  public CompletionStage<List<KeyInFlight>> heldFor(long heldMillisMin) {
    return sweeps
        .run(
            vertx,
            () -> map.<byte[]>executeOnEntries(new DedupKeysLook(nowMillis() - heldMillisMin)))
        .map(
            replies ->
                replies.values().stream()
                    .filter(Objects::nonNull)
                    .flatMap(reply -> SharedCodec.inFlight(reply).stream())
                    .toList())
        .toCompletionStage();
  }

  private Sweep swept(Map<Integer, byte[]> replies) {
    int evicted = 0;
    Set<String> unknown = new HashSet<>();
    for (byte[] reply : replies.values()) {
      if (reply == null) {
        continue;
      }
      for (SharedBucket.Swept each : SharedCodec.swept(reply, unknown)) {
        evicted += each.evicted();
        if (each.head() != null) {
          tell(each.key(), each.head());
        }
      }
    }
    return new Sweep(evicted, unknown, !replies.isEmpty());
  }
}
