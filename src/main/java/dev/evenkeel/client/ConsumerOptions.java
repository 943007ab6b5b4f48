package dev.evenkeel.client;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.tracing.TracingPolicy;
import java.util.List;

/**
 * Options of a {@link Consumer}. Group and topics must be set. They can be read from JSON and
 * written as JSON ({@link #toJson}), as Vert.x options can:
 *
 * <pre>{@code
 * new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")).setOrder(Order.KEY)
 * }</pre>
 *
 * is {@code {"group": "billing", "topics": ["orders"], "order": "key"}}. The keys are the names of
 * the setters without "set", except that {@link #setStart} is {@code startKind} and {@code
 * startValue}. Constants are in lower case.
 *
 * <p>Values are checked when the consumer starts: it fails with INVALID if one is out of its bounds
 * or if options do not go together.
 */
public final class ConsumerOptions extends OptionValues<ConsumerOptions> {
  /** What the consumer keeps in order. */
  public enum Order {
    /** It handles the messages of a shard one after another. */
    SHARD,
    /** It handles the messages of a key one after another. Messages without a key have no order. */
    KEY,
    /** Nothing: it handles all messages in parallel. */
    NONE
  }

  /** How the members of a group share the messages. */
  public enum Mode {
    /** Each shard has one owner, which gets its messages. */
    SHARDED,
    /** Any member may get a message, so that none has finished many more messages than another. */
    LEVEL,
    /** One elected member gets all messages. The others wait to take its place. */
    SINGLETON,
    /** Every member gets every message and keeps its own offsets. */
    BROADCAST
  }

  /** What the consumer does in mode broadcast if its file of offsets is damaged. */
  public enum OnDamagedOffsets {
    /** It does not start. */
    REFUSE,
    /** It renames the file and begins at the earliest messages. */
    EARLIEST,
    /** It renames the file and begins at the end. */
    LATEST
  }

  /** Who moves the messages in mode level. */
  public enum Strategy {
    /** The members ask for as many messages as they may have. */
    PULL,
    /** The level dispatcher deals messages to the members in turn. */
    PUSH
  }

  /** Which messages count as the same for dedup. */
  public enum Dedup {
    /** None: dedup is off. */
    OFF,
    /** Messages with the same key. A message without a key is always handled. */
    KEY,
    /** Messages with the same payload. */
    PAYLOAD
  }

  /** Which threads {@link #setWorker} uses. */
  public enum WorkerThreads {
    /** Virtual threads on Java 24 or later, else platform threads. */
    AUTO,
    /** Platform threads, at most as many as {@link #setParallel} says, twice. */
    PLATFORM,
    /**
     * Virtual threads, which need Java 21. Before Java 24, one that blocks in synchronized code
     * keeps a processor to itself.
     */
    VIRTUAL
  }

  /** Which messages share the rate of {@link #setKeyRate}. */
  public enum RateBy {
    /** Messages with the same key. Messages without a key have no such rate. */
    KEY,
    /** Messages with the same payload. */
    PAYLOAD
  }

  /** What happens to messages over the rate of {@link #setKeyRate}. */
  public enum OverRate {
    /** Each message waits for its turn. None is dropped. */
    WAIT,
    /**
     * One message waits. A message that arrives meanwhile takes its place, and the older is
     * dropped.
     */
    DROP_OLDEST,
    /** One message waits. Messages that arrive meanwhile are dropped. */
    DROP_NEWEST
  }

  /** What happens to a message that fails. */
  public enum OnFailure {
    /** It is tried again after pauses. After its last attempt it becomes a dead letter. */
    RETRY,
    /** It becomes a dead letter. It is tried again before that only if retry delays are set. */
    DEAD_LETTER,
    /** The consumer ends. The message is tried again before that only if retry delays are set. */
    STOP
  }

  /** What a crash may do to a message. */
  public enum DeliveryPolicy {
    /** It is committed before its handler starts: it may be missing, but never comes twice. */
    AT_MOST_ONCE,
    /** It is committed after its handler has succeeded: it may come twice, but is never missing. */
    AT_LEAST_ONCE,
    /**
     * It may come twice, but what the handler keeps as state or publishes through its {@link
     * MessageContext} is as if it came once.
     */
    EFFECTIVELY_ONCE
  }

  /** Pauses before the second and all further attempts: 1 s, 5 s, 30 s, 2 min, 10 min. */
  public static final List<Long> DEFAULT_RETRY_DELAYS_MILLIS =
      List.of(1_000L, 5_000L, 30_000L, 120_000L, 600_000L);

  /** Most pauses that {@link #setRetryDelaysMillis} takes: 100. */
  public static final int RETRY_DELAYS_MAX = Limits.RETRY_DELAYS_MAX;

  /** Longest pause that {@link #setRetryDelaysMillis} takes, in milliseconds: 7 days. */
  public static final long RETRY_DELAY_MILLIS_MAX = Limits.RETRY_DELAY_MILLIS_MAX;

  /** The most that {@link #setHandOutMessages} and {@link #setBatchMessages} take. */
  public static final int HAND_OUT_MESSAGES_MAX = 65_536;

  /** Most messages in a batch unless {@link #setBatchMessages} says otherwise: 500. */
  public static final int BATCH_MESSAGES_DEFAULT = 500;

  private static final Schema SCHEMA =
      new Schema(
          "consumer option",
          "%1$s is %2$d: at least %3$d is needed",
          "%1$s is %2$d: at most %4$d is allowed");

  private static final Option<String> GROUP = SCHEMA.text("group", null);
  private static final Option<String> MEMBER = SCHEMA.text("member", null);
  private static final Option<List<String>> TOPICS = SCHEMA.texts("topics", List.of());
  private static final Option<Mode> MODE = SCHEMA.constant("mode", Mode.class, Mode.SHARDED);
  private static final Option<Integer> RANGE = SCHEMA.integer("range", null);
  private static final Option<Strategy> STRATEGY =
      SCHEMA.constant("strategy", Strategy.class, null);
  private static final Option<Long> STALL_TIMEOUT =
      SCHEMA.number("stallTimeoutMillis", null, 1_000, 3_600_000);
  private static final Option<Dedup> DEDUP = SCHEMA.constant("dedup", Dedup.class, Dedup.OFF);
  private static final Option<Long> DEDUP_TIMEOUT =
      SCHEMA.number("dedupTimeoutMillis", null, 1_000, 86_400_000);
  private static final Option<String> OFFSETS_DIRECTORY = SCHEMA.text("offsetsDirectory", null);
  private static final Option<OnDamagedOffsets> ON_DAMAGED_OFFSETS =
      SCHEMA.constant("onDamagedOffsets", OnDamagedOffsets.class, null);
  private static final Option<Rate> RATE = SCHEMA.rate("rate");
  private static final Option<Rate> GROUP_RATE = SCHEMA.rate("groupRate");
  private static final Option<Rate> KEY_RATE = SCHEMA.rate("keyRate");
  private static final Option<RateBy> RATE_BY = SCHEMA.constant("rateBy", RateBy.class, null);
  private static final Option<OverRate> OVER_RATE =
      SCHEMA.constant("overRate", OverRate.class, null);
  private static final Option<MessageFilter> FILTER =
      SCHEMA.of(
          "filter",
          MessageFilter.ALL,
          json -> MessageFilter.of(((JsonArray) json).stream().map(String.class::cast).toList()),
          filter -> new JsonArray(filter.texts()));
  private static final Option<Order> ORDER = SCHEMA.constant("order", Order.class, null);
  private static final Option<Integer> PARALLEL = SCHEMA.integer("parallel", 16, 1);
  private static final Option<Boolean> WORKER = SCHEMA.flag("worker", false);
  private static final Option<WorkerThreads> WORKER_THREADS =
      SCHEMA.constant("workerThreads", WorkerThreads.class, WorkerThreads.AUTO);
  private static final Option<StartAt.Kind> START_KIND =
      SCHEMA.of(
          "startKind",
          StartAt.Kind.EARLIEST,
          json -> constantOf(StartAt.Kind.class, "startKind", (String) json),
          StartAt.Kind::name);
  private static final Option<Long> START_VALUE = SCHEMA.number("startValue", 0L);
  private static final Option<Long> HEARTBEAT = SCHEMA.number("heartbeatMillis", 1_000L, 10);
  private static final Option<Long> MEMBER_TIMEOUT = SCHEMA.number("memberTimeoutMillis", 5_000L);
  private static final Option<Long> LOCK_TIME = SCHEMA.number("lockTimeMillis", 50_000L, 0);
  private static final Option<String> ASSIGNOR = SCHEMA.text("assignor", null);
  private static final Option<Long> STUCK_TIMEOUT =
      SCHEMA.number("stuckTimeoutMillis", null, 1_000, 86_400_000);
  private static final Option<Long> CRASH_LOCK_TIME =
      SCHEMA.number("crashLockTimeMillis", 0L, 0, 3_600_000);
  private static final Option<Long> GRACE = SCHEMA.number("graceMillis", 0L, 0, 86_400_000);
  private static final Option<Integer> PENDING_MESSAGES_MAX =
      SCHEMA.integer("pendingMessagesMax", 3_000, 1);
  private static final Option<Integer> PENDING_BYTES_MAX =
      SCHEMA.integer("pendingBytesMax", 16 << 20, 1);
  private static final Option<Integer> FETCH_BYTES_MAX =
      SCHEMA.integer("fetchBytesMax", 1 << 20, 1, Limits.FETCH_BYTES_MAX);
  private static final Option<Integer> FETCH_WAIT =
      SCHEMA.integer("fetchWaitMillis", 15_000, 0, Limits.FETCH_WAIT_MILLIS_MAX);
  private static final Option<Long> COMMIT_DELAY = SCHEMA.number("commitDelayMillis", 200L, 1);
  private static final Option<Long> COMMIT = SCHEMA.number("commitMillis", 5_000L, 1);
  private static final Option<Integer> COMMIT_MESSAGES = SCHEMA.integer("commitMessages", 1_000, 1);
  private static final Option<Integer> HAND_OUT_MESSAGES =
      SCHEMA.integer("handOutMessages", 32, 1, HAND_OUT_MESSAGES_MAX);
  private static final Option<Integer> BATCH_MESSAGES =
      SCHEMA.integer("batchMessages", null, 1, HAND_OUT_MESSAGES_MAX);
  private static final Option<List<Long>> RETRY_DELAYS =
      SCHEMA.numbers("retryDelaysMillis", null, RETRY_DELAYS_MAX, 0, RETRY_DELAY_MILLIS_MAX);
  private static final Option<OnFailure> ON_FAILURE =
      SCHEMA.constant("onFailure", OnFailure.class, OnFailure.RETRY);
  private static final Option<Integer> CRASHES_MAX =
      SCHEMA.integer("crashesMax", Limits.CRASHES_MAX_DEFAULT, 0, Limits.CRASHES_MAX_MOST);
  private static final Option<Boolean> BREAKER = SCHEMA.flag("breaker", true);
  private static final Option<Boolean> HOLD_FAILED = SCHEMA.flag("holdFailed", false);
  private static final Option<DeliveryPolicy> DELIVERY =
      SCHEMA.constant("delivery", DeliveryPolicy.class, DeliveryPolicy.AT_LEAST_ONCE);
  private static final Option<TracingPolicy> TRACING =
      SCHEMA.constant("tracing", TracingPolicy.class, TracingPolicy.PROPAGATE);

  /** Options with their defaults. */
  public ConsumerOptions() {
    super(SCHEMA);
  }

  /**
   * Options from JSON. A key that is left out or null has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ConsumerOptions(JsonObject json) {
    super(SCHEMA, json);
  }

  /** The name of the group; null if it is not set. */
  public String getGroup() {
    return get(GROUP);
  }

  /** Name of the group. It must be set. */
  public ConsumerOptions setGroup(String group) {
    return set(GROUP, group);
  }

  /** The name of this member; null, the default: a generated name. */
  public String getMember() {
    return get(MEMBER);
  }

  /**
   * Name of this member, unique in the group. A second member with the same name takes the place of
   * the first. Null, the default, means a generated name.
   */
  public ConsumerOptions setMember(String member) {
    return set(MEMBER, member);
  }

  /** The names of the topics to subscribe to; empty by default. */
  public List<String> getTopics() {
    return get(TOPICS);
  }

  /**
   * Names of the topics to subscribe to, at least one. A name with {@code *} is a pattern: {@code
   * *} stands for any number of characters. {@code orders.*} takes in every topic whose name begins
   * with {@code orders.}, also those that are created later.
   */
  public ConsumerOptions setTopics(List<String> topics) {
    return set(TOPICS, topics);
  }

  /** How the group consumes, by default SHARDED. */
  public Mode getMode() {
    return get(MODE);
  }

  /** How the members share the messages, by default SHARDED. All members must agree. */
  public ConsumerOptions setMode(Mode mode) {
    return set(MODE, mode);
  }

  /**
   * In mode LEVEL, the most messages that one member may be ahead of another: 1 to 1,000,000, by
   * default 100.
   */
  public int getRange() {
    return get(RANGE, GroupPolicy.RANGE_DEFAULT);
  }

  /**
   * Mode LEVEL only: how many finished messages one member may be ahead of another at most, counted
   * since the later of the two joined. From 1 to 1,000,000, by default 100. All members must agree.
   */
  public ConsumerOptions setRange(int range) {
    return set(RANGE, range);
  }

  /** In mode LEVEL, who moves the messages, by default PULL. */
  public Strategy getStrategy() {
    return get(STRATEGY, Strategy.PULL);
  }

  /** Mode LEVEL only: who moves the messages, by default PULL. All members must agree. */
  public ConsumerOptions setStrategy(Strategy strategy) {
    return set(STRATEGY, strategy);
  }

  /**
   * In mode LEVEL, the time without a finished message after which a member is set aside: 1,000 to
   * 3,600,000 ms, by default 10,000.
   */
  public long getStallTimeoutMillis() {
    return get(STALL_TIMEOUT, Limits.STALL_TIMEOUT_MILLIS_DEFAULT);
  }

  /**
   * Mode LEVEL only: if this member finishes nothing for this time while others wait for it, it is
   * set aside. Other members then get its unfinished messages, and it comes back as newly joined.
   * From 1,000 to 3,600,000 milliseconds, by default 10 seconds. It must be longer than the slowest
   * message takes.
   */
  public ConsumerOptions setStallTimeoutMillis(long stallTimeoutMillis) {
    return set(STALL_TIMEOUT, stallTimeoutMillis);
  }

  /** What makes a message the same as another, by default OFF. */
  public Dedup getDedup() {
    return get(DEDUP);
  }

  /**
   * Which messages count as the same, by default OFF. Of these messages the group handles one at a
   * time, lets one more wait, and declines the others. All members must agree. If the handler
   * overrides {@link ConsumerHandler#dedupKey}, that decides instead of KEY or PAYLOAD. Mode
   * SHARDED only.
   */
  public ConsumerOptions setDedup(Dedup dedup) {
    return set(DEDUP, dedup);
  }

  /**
   * With dedup, the time after which a running handler loses its key: 1,000 to 86,400,000 ms, by
   * default 60,000.
   */
  public long getDedupTimeoutMillis() {
    return get(DEDUP_TIMEOUT, 60_000L);
  }

  /**
   * With dedup only: a handler that has not ended after this time loses its key, and the message
   * that waits for the key begins. From 1,000 to 86,400,000 milliseconds, by default 60 seconds. It
   * must be longer than the slowest message takes; otherwise two of the same messages run at once.
   */
  public ConsumerOptions setDedupTimeoutMillis(long dedupTimeoutMillis) {
    return set(DEDUP_TIMEOUT, dedupTimeoutMillis);
  }

  /** In mode BROADCAST, the directory of the offsets; null by default. */
  public String getOffsetsDirectory() {
    return get(OFFSETS_DIRECTORY);
  }

  /**
   * Mode BROADCAST only, and required there: the directory in which this member keeps its offsets.
   * The consumer creates it. One directory serves one member of a group at a time. A member without
   * a name takes the name that its directory has stored.
   */
  public ConsumerOptions setOffsetsDirectory(String offsetsDirectory) {
    return set(OFFSETS_DIRECTORY, offsetsDirectory);
  }

  /** In mode BROADCAST, what happens to a damaged file of offsets, by default REFUSE. */
  public OnDamagedOffsets getOnDamagedOffsets() {
    return get(ON_DAMAGED_OFFSETS, OnDamagedOffsets.REFUSE);
  }

  /**
   * Mode BROADCAST only: what the consumer does if its file of offsets is damaged, by default
   * REFUSE.
   */
  public ConsumerOptions setOnDamagedOffsets(OnDamagedOffsets onDamagedOffsets) {
    return set(ON_DAMAGED_OFFSETS, onDamagedOffsets);
  }

  /** The rate at which messages of this consumer begin; null, the default: no limit. */
  public Rate getRate() {
    return get(RATE);
  }

  /**
   * How many messages this consumer begins at most in a period. Null, the default, means no limit.
   * Mode LEVEL has no rates.
   */
  public ConsumerOptions setRate(Rate rate) {
    return set(RATE, rate);
  }

  /** What the rate of the whole group shall be; null, the default: as it is. */
  public Rate getGroupRate() {
    return get(GROUP_RATE);
  }

  /**
   * How many messages all members of the group together begin at most in a period. The rate belongs
   * to the group and counts for every member, also for those that do not set it; of several, the
   * newest member's counts. {@link Admin#setGroupRate} changes it, and {@link Admin#clearQuota}
   * removes it, while members run. Null, the default, leaves it as it is. Mode LEVEL has no rates.
   */
  public ConsumerOptions setGroupRate(Rate groupRate) {
    return set(GROUP_RATE, groupRate);
  }

  /** The rate at which messages of one key and topic begin; null, the default: no limit. */
  public Rate getKeyRate() {
    return get(KEY_RATE);
  }

  /**
   * How many messages of each key and topic this consumer begins at most in a period. Null, the
   * default, means no limit. A message over the rate waits for its turn, and messages of other keys
   * pass it unless the order is SHARD. At most 1,000 messages of a shard wait.
   */
  public ConsumerOptions setKeyRate(Rate keyRate) {
    return set(KEY_RATE, keyRate);
  }

  /** What the key rate counts, by default KEY. */
  public RateBy getRateBy() {
    return get(RATE_BY, RateBy.KEY);
  }

  /** Which messages share a {@link #setKeyRate}, by default those with the same KEY. */
  public ConsumerOptions setRateBy(RateBy rateBy) {
    return set(RATE_BY, rateBy);
  }

  /** What happens to messages over the key rate, by default WAIT. */
  public OverRate getOverRate() {
    return get(OVER_RATE, OverRate.WAIT);
  }

  /**
   * What happens to messages over {@link #setKeyRate}, by default WAIT. A dropped message is
   * finished without its handler, and {@link ConsumerHandler#onDropped} is called. Dropping needs
   * order KEY or NONE, and does not work with dedup.
   */
  public ConsumerOptions setOverRate(OverRate overRate) {
    return set(OVER_RATE, overRate);
  }

  /** Which messages the consumer wants, by default all of them. */
  public MessageFilter getFilter() {
    return get(FILTER);
  }

  /**
   * Which messages the consumer wants, by default {@link MessageFilter#ALL}. In JSON it is an array
   * of conditions, such as {@code ["key=a", "header:region^=eu-"]}. Nodes leave out the other
   * messages, which count as consumed. All members of a group need the same filter, but in mode
   * BROADCAST. A member with another filter than the others fails with GROUP_MISMATCH.
   */
  public ConsumerOptions setFilter(MessageFilter filter) {
    return set(FILTER, filter);
  }

  /** What is kept in order, by default SHARD, in mode LEVEL NONE. */
  public Order getOrder() {
    return get(ORDER, getMode() == Mode.LEVEL ? Order.NONE : Order.SHARD);
  }

  /** What the consumer keeps in order. Null, the default, means SHARD, or NONE in mode LEVEL. */
  public ConsumerOptions setOrder(Order order) {
    return set(ORDER, order);
  }

  /** The most handlers that run at a time, at least 1, by default 16. */
  public int getParallel() {
    return get(PARALLEL);
  }

  /** Most handlers that run at once, over all shards, by default 16. At least 1. */
  public ConsumerOptions setParallel(int parallel) {
    return set(PARALLEL, parallel);
  }

  /** Whether the handler runs on worker threads, by default false. */
  public boolean isWorker() {
    return get(WORKER);
  }

  /**
   * Whether the handler runs on worker threads, where it may block: by default false. It means
   * those methods of {@link ConsumerHandler} and {@link LeaderCareer} that return futures. Order,
   * limits and fencing stay the same; at most {@link #setParallel} messages run at a time. A {@link
   * BlockingHandler} needs no such option. Streams cannot have it.
   */
  public ConsumerOptions setWorker(boolean worker) {
    return set(WORKER, worker);
  }

  /** Which threads a handler on worker threads has, by default AUTO. */
  public WorkerThreads getWorkerThreads() {
    return get(WORKER_THREADS);
  }

  /**
   * Which threads {@link #setWorker} and a {@link BlockingHandler} use, by default AUTO. VIRTUAL is
   * refused where Java has no virtual threads.
   */
  public ConsumerOptions setWorkerThreads(WorkerThreads workerThreads) {
    return set(WORKER_THREADS, workerThreads);
  }

  /** Where a new group begins, by default at the earliest message. */
  public StartAt getStart() {
    return new StartAt(get(START_KIND), get(START_VALUE));
  }

  /**
   * Where a new group begins, by default at the earliest message. It has no effect on a group that
   * exists. In mode BROADCAST it is where this member begins in a topic that it reads for the first
   * time.
   */
  public ConsumerOptions setStart(StartAt start) {
    set(START_KIND, start.kind());
    return set(START_VALUE, start.value());
  }

  /** The time between two heartbeats, at least 10 ms, by default 1,000. */
  public long getHeartbeatMillis() {
    return get(HEARTBEAT);
  }

  /** Time between two heartbeats, in milliseconds, by default 1 second. At least 10. */
  public ConsumerOptions setHeartbeatMillis(long heartbeatMillis) {
    return set(HEARTBEAT, heartbeatMillis);
  }

  /**
   * The silence after which the cluster gives the shards of this member to others, in ms, at least
   * two heartbeats plus 1,000, by default 5,000.
   */
  public long getMemberTimeoutMillis() {
    return get(MEMBER_TIMEOUT);
  }

  /**
   * Silence of this member, in milliseconds, after which the cluster gives its shards to others; by
   * default 5 seconds. At least two heartbeats and 1 second. The consumer starts no handler when
   * its last answered heartbeat is older than this time less 1 second.
   */
  public ConsumerOptions setMemberTimeoutMillis(long memberTimeoutMillis) {
    return set(MEMBER_TIMEOUT, memberTimeoutMillis);
  }

  /**
   * The longest time that a handover waits for this member, in ms, at least 0, by default 50,000.
   */
  public long getLockTimeMillis() {
    return get(LOCK_TIME);
  }

  /**
   * Longest time, in milliseconds, that a handover waits for this member to finish and release a
   * shard; by default 50 seconds. From 0. {@link Consumer#close} takes no longer either.
   */
  public ConsumerOptions setLockTimeMillis(long lockTimeMillis) {
    return set(LOCK_TIME, lockTimeMillis);
  }

  /** The name of the assignor; null, the default: the one that the group has. */
  public String getAssignor() {
    return get(ASSIGNOR);
  }

  /**
   * Name of the assignor, which decides which member gets which shard: "sticky", "average",
   * "consistent-hash", or another that the cluster's nodes have. Null, the default, means the
   * assignor that the group has; a new group gets "sticky". If the group has other members and uses
   * another assignor, the consumer fails with GROUP_MISMATCH.
   */
  public ConsumerOptions setAssignor(String assignor) {
    return set(ASSIGNOR, assignor);
  }

  /**
   * The time without a finished message after which another member gets a shard: 1,000 to
   * 86,400,000 ms; null, the default: never.
   */
  public Long getStuckTimeoutMillis() {
    return get(STUCK_TIMEOUT);
  }

  /**
   * If this member holds messages of a shard and finishes none for this time, another member gets
   * the shard, and this member gets no shards until it finishes something again. From 1,000 to
   * 86,400,000 milliseconds. Null, the default, means never; the member is then only shown as stuck
   * after 30 s. It must be longer than the slowest message and {@link ConsumerHandler#onAssign}
   * take.
   */
  public ConsumerOptions setStuckTimeoutMillis(Long stuckTimeoutMillis) {
    return set(STUCK_TIMEOUT, stuckTimeoutMillis);
  }

  /** How long the shards of a dead member wait for a release: 0 to 3,600,000 ms, by default 0. */
  public long getCrashLockTimeMillis() {
    return get(CRASH_LOCK_TIME);
  }

  /**
   * How long the shards of this member wait after its death for a release that may still arrive,
   * before other members get them. From 0, the default, to 3,600,000 milliseconds.
   */
  public ConsumerOptions setCrashLockTimeMillis(long crashLockTimeMillis) {
    return set(CRASH_LOCK_TIME, crashLockTimeMillis);
  }

  /** How long its shards wait for a member that has ended: 0 to 86,400,000 ms, by default 0. */
  public long getGraceMillis() {
    return get(GRACE);
  }

  /**
   * How long the shards of this member wait for it to come back after it has ended, whether it
   * closed or crashed. If a later run of the same {@link #setMember(String) name} comes in this
   * time, it gets the shards back, and no other shard moves. Messages of these shards wait
   * meanwhile. From 0, the default, to 86,400,000 milliseconds; only in mode sharded.
   */
  public ConsumerOptions setGraceMillis(long graceMillis) {
    return set(GRACE, graceMillis);
  }

  /** The most messages that are fetched and not finished, at least 1, by default 3,000. */
  public int getPendingMessagesMax() {
    return get(PENDING_MESSAGES_MAX);
  }

  /**
   * Most messages of all shards that are fetched and not finished, by default 3,000. At least 1.
   * Fetching pauses at this limit and resumes below half of it. In addition, up to two batches per
   * shard may be pending. Messages beyond the limit stay packed, and take no more memory than their
   * bytes.
   */
  public ConsumerOptions setPendingMessagesMax(int pendingMessagesMax) {
    return set(PENDING_MESSAGES_MAX, pendingMessagesMax);
  }

  /** The most bytes that are fetched and not finished, at least 1, by default 16 MiB. */
  public int getPendingBytesMax() {
    return get(PENDING_BYTES_MAX);
  }

  /**
   * Most bytes of all shards that are fetched and not finished, by default 16 MiB. At least 1. It
   * works as {@link #setPendingMessagesMax}.
   */
  public ConsumerOptions setPendingBytesMax(int pendingBytesMax) {
    return set(PENDING_BYTES_MAX, pendingBytesMax);
  }

  /** The most bytes of one fetch: 1 to 1 MiB, by default 1 MiB. */
  public int getFetchBytesMax() {
    return get(FETCH_BYTES_MAX);
  }

  /** Most bytes of one fetch, by default 1 MiB. From 1 to 1 MiB. */
  public ConsumerOptions setFetchBytesMax(int fetchBytesMax) {
    return set(FETCH_BYTES_MAX, fetchBytesMax);
  }

  /** The longest wait of one fetch for new messages: 0 to 15,000 ms, by default 15,000. */
  public int getFetchWaitMillis() {
    return get(FETCH_WAIT);
  }

  /**
   * Longest wait of one fetch for new messages, in milliseconds, by default 15 seconds. From 0 to
   * 15,000.
   */
  public ConsumerOptions setFetchWaitMillis(int fetchWaitMillis) {
    return set(FETCH_WAIT, fetchWaitMillis);
  }

  /**
   * The longest time between the end of a message and its commit, in ms, at least 1, by default
   * 200.
   */
  public long getCommitDelayMillis() {
    return get(COMMIT_DELAY);
  }

  /**
   * A finished message is committed after this time at the latest, in milliseconds, by default 200.
   * At least 1. So after a crash, the finished messages of this time come again. The consumer
   * commits all shards of a log group together, and looks every 50 ms. If {@link #setCommitMillis}
   * is shorter, that counts instead.
   */
  public ConsumerOptions setCommitDelayMillis(long commitDelayMillis) {
    return set(COMMIT_DELAY, commitDelayMillis);
  }

  /** The longest time between two commits of new state, in ms, at least 1, by default 5,000. */
  public long getCommitMillis() {
    return get(COMMIT);
  }

  /**
   * The longest time until progress is committed, in milliseconds, by default 5 seconds. At least
   * 1. Only progress with a state that the handler {@link MessageContext#commit commits} waits so
   * long; other progress is committed after {@link #setCommitDelayMillis}.
   */
  public ConsumerOptions setCommitMillis(long commitMillis) {
    return set(COMMIT, commitMillis);
  }

  /**
   * The most finished messages of a shard that may be uncommitted, at least 1, by default 1,000.
   */
  public int getCommitMessages() {
    return get(COMMIT_MESSAGES);
  }

  /**
   * Most finished messages of a shard that may be uncommitted, by default 1,000. At least 1. A
   * commit begins at half of them, and two commits of a shard are at least 50 ms apart.
   */
  public ConsumerOptions setCommitMessages(int commitMessages) {
    return set(COMMIT_MESSAGES, commitMessages);
  }

  /**
   * The most messages of one shard that are handed out at a time: 1 to {@link
   * #HAND_OUT_MESSAGES_MAX}, by default 32.
   */
  public int getHandOutMessages() {
    return get(HAND_OUT_MESSAGES);
  }

  /**
   * Most messages of one shard that are handed out at once, including those that failed and wait
   * for their next attempt, by default 32. From 1 to {@link #HAND_OUT_MESSAGES_MAX}. {@link
   * #setParallel} limits how many handlers run over all shards. With AT_MOST_ONCE, it is also how
   * many messages are committed ahead of their handlers.
   */
  public ConsumerOptions setHandOutMessages(int handOutMessages) {
    return set(HAND_OUT_MESSAGES, handOutMessages);
  }

  /** The most messages that a batch handler gets at once, by default 500. */
  public int getBatchMessages() {
    return get(BATCH_MESSAGES, BATCH_MESSAGES_DEFAULT);
  }

  /**
   * The most messages that {@link ConsumerHandler#handleBatch} gets at once: 1 to {@value
   * #HAND_OUT_MESSAGES_MAX}, by default {@value #BATCH_MESSAGES_DEFAULT}. If it is more than {@link
   * #setHandOutMessages}, so many messages of a shard may run at once. Only for handlers of
   * batches.
   */
  public ConsumerOptions setBatchMessages(int batchMessages) {
    return set(BATCH_MESSAGES, batchMessages);
  }

  /**
   * The pauses before the second and all further attempts, in ms; by default {@link
   * #DEFAULT_RETRY_DELAYS_MILLIS} if failed messages are retried, and none otherwise.
   */
  public List<Long> getRetryDelaysMillis() {
    boolean again =
        getOnFailure() == OnFailure.RETRY && getDelivery() != DeliveryPolicy.AT_MOST_ONCE;
    return get(RETRY_DELAYS, again ? DEFAULT_RETRY_DELAYS_MILLIS : List.of());
  }

  /**
   * Pauses before the second and all further attempts of a message, in milliseconds: with n pauses
   * it is tried n + 1 times. Each pause varies by up to a fifth, up or down. At most {@link
   * #RETRY_DELAYS_MAX} pauses, each from 0 to {@link #RETRY_DELAY_MILLIS_MAX}. Null, the default,
   * means {@link #DEFAULT_RETRY_DELAYS_MILLIS} with RETRY, and none otherwise.
   *
   * <p>In mode LEVEL they apply to the whole group: if members differ, those with the most pauses
   * apply, and of these the ones that are longest in total.
   */
  public ConsumerOptions setRetryDelaysMillis(List<Long> retryDelaysMillis) {
    return set(RETRY_DELAYS, retryDelaysMillis == null ? null : List.copyOf(retryDelaysMillis));
  }

  /** What happens to a message that fails, by default RETRY. */
  public OnFailure getOnFailure() {
    return get(ON_FAILURE);
  }

  /** What happens to a message that fails, by default RETRY. */
  public ConsumerOptions setOnFailure(OnFailure onFailure) {
    return set(ON_FAILURE, onFailure);
  }

  /** After how many deaths of its consumers a message becomes a dead letter, by default 5. */
  public int getCrashesMax() {
    return get(CRASHES_MAX);
  }

  /**
   * After how many deaths of its consumers a message becomes a dead letter, by default 5: 0, which
   * means never, or 3 to 1,000. After two deaths without progress of the group, the next owner of
   * the shard handles its messages one by one, so that a further death shows which message is the
   * reason. With onFailure STOP the consumer ends instead. In mode LEVEL, if members differ, the
   * largest number holds, and 0 is larger than any other. In mode BROADCAST nobody counts.
   */
  public ConsumerOptions setCrashesMax(int crashesMax) {
    return set(CRASHES_MAX, crashesMax);
  }

  /** Whether the consumer pauses while most messages fail, by default true. */
  public boolean isBreaker() {
    return get(BREAKER);
  }

  /**
   * Whether the consumer protects messages while most of them fail at their first attempt, by
   * default true: it then tries one message at a time, after pauses, and failures do not count as
   * attempts. Mode LEVEL has no such breaker.
   */
  public ConsumerOptions setBreaker(boolean breaker) {
    return set(BREAKER, breaker);
  }

  /** What a crash may do to a message, by default AT_LEAST_ONCE. */
  public DeliveryPolicy getDelivery() {
    return get(DELIVERY);
  }

  /**
   * What a crash may do to a message, by default AT_LEAST_ONCE. The other values work in mode
   * SHARDED and without dedup only. With AT_MOST_ONCE a message that fails is not tried again, and
   * the handler must not keep state or publish. EFFECTIVELY_ONCE needs a handler that publishes
   * through its context or keeps state; state needs order SHARD.
   */
  public ConsumerOptions setDelivery(DeliveryPolicy delivery) {
    return set(DELIVERY, delivery);
  }

  /** Whether a failed message keeps its place until its next attempt, by default false. */
  public boolean isHoldFailed() {
    return get(HOLD_FAILED);
  }

  /**
   * Whether a failed message keeps its place until its next attempt, with every order; by default
   * false. Then the committed offset does not pass it. If false, a failed message keeps its place
   * only with order SHARD and with handlers that keep state or publish. Otherwise the log stores it
   * for its next attempt, and only its key waits, with order KEY.
   */
  public ConsumerOptions setHoldFailed(boolean holdFailed) {
    return set(HOLD_FAILED, holdFailed);
  }

  /** Which messages get a span when they are handled, by default PROPAGATE. */
  public TracingPolicy getTracing() {
    return get(TRACING);
  }

  /**
   * Which messages get a span when they are handled, if the client's Vert.x has a tracer. With
   * PROPAGATE, the default, those whose headers name a span; with ALWAYS all of them, and each
   * fetch, too; with IGNORE none. Without a tracer it has no effect.
   */
  public ConsumerOptions setTracing(TracingPolicy tracing) {
    return set(TRACING, tracing);
  }
}
