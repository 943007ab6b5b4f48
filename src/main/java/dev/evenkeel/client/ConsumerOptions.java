package dev.evenkeel.client;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Nearest;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Options of a {@link Consumer}, from and to JSON, in the way of Vert.x options. */
public class ConsumerOptions {
  /** What is kept in order. */
  public enum Order {
    /** One message of a shard after another. */
    SHARD,
    /** One message of a key after another; messages without a key have no order. */
    KEY,
    /** Everything in parallel. */
    NONE
  }

  /** How the group consumes. */
  public enum Mode {
    /** Each shard to one member. */
    SHARDED,
    /** Messages to members so that none has finished many more than another. */
    LEVEL,
    /** All shards to one elected member; the others wait to take its place. */
    SINGLETON,
    /** Every message to every member, each of which keeps its own offsets. */
    BROADCAST
  }

  /** What becomes of a damaged file of offsets in mode broadcast. */
  public enum OnDamagedOffsets {
    /** The consumer does not start. */
    REFUSE,
    /** It is put aside, and the consumer begins at the earliest messages. */
    EARLIEST,
    /** It is put aside, and the consumer begins at the end. */
    LATEST
  }

  /** Who moves the messages in mode level. */
  public enum Strategy {
    /** Members draw as many as they may have. */
    PULL,
    /** They are dealt to the members in turn. */
    PUSH
  }

  /** What makes a message the same as another. */
  public enum Dedup {
    /** Nothing. */
    OFF,
    /** The key. */
    KEY,
    /** The payload. */
    PAYLOAD
  }

  /** Whose rate {@link #setKeyRate} sets. */
  public enum RateBy {
    /** Messages with the same key; those without one have no rate of their own. */
    KEY,
    /** Messages with the same payload. */
    PAYLOAD
  }

  /** What becomes of the same messages, as {@link RateBy} has it, that come faster than that. */
  public enum OverRate {
    /** Each waits for its turn. */
    WAIT,
    /** One waits; one that comes then takes its place. */
    DROP_OLDEST,
    /** One waits; those that come meanwhile are dropped. */
    DROP_NEWEST
  }

  /** What becomes of a message that fails. */
  public enum OnFailure {
    /** It is tried again after pauses; then it becomes a dead letter. */
    RETRY,
    /** It becomes a dead letter; before that it is tried again only if pauses are given. */
    DEAD_LETTER,
    /** The consumer ends; before that it is tried again only if pauses are given. */
    STOP
  }

  /** What a crash may do to a message. */
  public enum DeliveryPolicy {
    /** It is committed before its handler starts: it may be missing, and never comes twice. */
    AT_MOST_ONCE,
    /** It is committed after its handler has ended: it may come twice, and is never missing. */
    AT_LEAST_ONCE,
    /**
     * As AT_LEAST_ONCE, and what the handler keeps or publishes through its {@link MessageContext}
     * is as if it came once.
     */
    EFFECTIVELY_ONCE
  }

  /** Pauses before the second and all further attempts: 1 s, 5 s, 30 s, 2 min, 10 min. */
  public static final List<Long> DEFAULT_RETRY_DELAYS_MILLIS =
      List.of(1_000L, 5_000L, 30_000L, 120_000L, 600_000L);

  /** Most pauses that {@link #setRetryDelaysMillis} takes. */
  public static final int RETRY_DELAYS_MAX = Limits.RETRY_DELAYS_MAX;

  /** The longest of them: 7 days. */
  public static final long RETRY_DELAY_MILLIS_MAX = Limits.RETRY_DELAY_MILLIS_MAX;

  /** Mode level: no member has finished over 100 messages more than another. */
  public static final int DEFAULT_RANGE = GroupPolicy.RANGE_DEFAULT;

  /** Mode level: who holds the others up for 10 s is set aside. */
  public static final long DEFAULT_STALL_TIMEOUT_MILLIS = Limits.STALL_TIMEOUT_MILLIS_DEFAULT;

  /** With dedup: a handler keeps its key for 60 s at most. */
  public static final long DEFAULT_DEDUP_TIMEOUT_MILLIS = 60_000;

  /** 16 handlers at once. */
  public static final int DEFAULT_PARALLEL = 16;

  public static final long DEFAULT_HEARTBEAT_MILLIS = 1_000;
  public static final long DEFAULT_MEMBER_TIMEOUT_MILLIS = 5_000;

  /** Longest time that a hand-over waits for the release: 50 s. */
  public static final long DEFAULT_LOCK_TIME_MILLIS = 50_000;

  /** Pulling pauses at so many messages, and resumes below half of it. */
  public static final int DEFAULT_PENDING_MESSAGES_MAX = 3_000;

  /** Pulling pauses at so many bytes, and resumes below half of it: 16 MiB. */
  public static final int DEFAULT_PENDING_BYTES_MAX = 16 << 20;

  public static final int DEFAULT_FETCH_BYTES_MAX = 1 << 20;
  public static final int DEFAULT_FETCH_WAIT_MILLIS = 15_000;
  public static final long DEFAULT_COMMIT_MILLIS = 5_000;
  public static final int DEFAULT_COMMIT_MESSAGES = 1_000;

  /** Messages of a shard that are handed out at once, at most. */
  public static final int DEFAULT_HAND_OUT_MESSAGES = 32;

  /** The most that {@link #setHandOutMessages} takes. */
  public static final int HAND_OUT_MESSAGES_MAX = 65_536;

  private String group;
  private String member;
  private List<String> topics = List.of();
  private Mode mode = Mode.SHARDED;
  private Integer range;
  private Strategy strategy;
  private Long stallTimeoutMillis;
  private Dedup dedup = Dedup.OFF;
  private Long dedupTimeoutMillis;
  private String offsetsDirectory;
  private OnDamagedOffsets onDamagedOffsets;
  private Rate rate;
  private Rate keyRate;
  private RateBy rateBy;
  private OverRate overRate;
  private Order order;
  private int parallel = DEFAULT_PARALLEL;
  private StartAt start = StartAt.EARLIEST;
  private long heartbeatMillis = DEFAULT_HEARTBEAT_MILLIS;
  private long memberTimeoutMillis = DEFAULT_MEMBER_TIMEOUT_MILLIS;
  private long lockTimeMillis = DEFAULT_LOCK_TIME_MILLIS;
  private String assignor;
  private Long stuckTimeoutMillis;
  private long crashLockTimeMillis;
  private int pendingMessagesMax = DEFAULT_PENDING_MESSAGES_MAX;
  private int pendingBytesMax = DEFAULT_PENDING_BYTES_MAX;
  private int fetchBytesMax = DEFAULT_FETCH_BYTES_MAX;
  private int fetchWaitMillis = DEFAULT_FETCH_WAIT_MILLIS;
  private long commitMillis = DEFAULT_COMMIT_MILLIS;
  private int commitMessages = DEFAULT_COMMIT_MESSAGES;
  private int handOutMessages = DEFAULT_HAND_OUT_MESSAGES;
  private List<Long> retryDelaysMillis;
  private OnFailure onFailure = OnFailure.RETRY;
  private boolean breaker = true;
  private boolean holdFailed;
  private DeliveryPolicy delivery = DeliveryPolicy.AT_LEAST_ONCE;

  public ConsumerOptions() {}

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key
   */
  public ConsumerOptions(JsonObject json) {
    Nearest.requireKnown("consumer option", json.fieldNames(), keys());
    group = json.getString("group");
    member = json.getString("member");
    List<String> names = new ArrayList<>();
    json.getJsonArray("topics", new JsonArray()).forEach(name -> names.add((String) name));
    topics = List.copyOf(names);
    mode = constant(Mode.class, json, "mode", mode);
    range = json.getInteger("range");
    strategy = constant(Strategy.class, json, "strategy", null);
    stallTimeoutMillis = json.getLong("stallTimeoutMillis");
    dedup = constant(Dedup.class, json, "dedup", dedup);
    dedupTimeoutMillis = json.getLong("dedupTimeoutMillis");
    offsetsDirectory = json.getString("offsetsDirectory");
    onDamagedOffsets = constant(OnDamagedOffsets.class, json, "onDamagedOffsets", null);
    rate = rate(json.getString("rate"));
    keyRate = rate(json.getString("keyRate"));
    rateBy = constant(RateBy.class, json, "rateBy", null);
    overRate = constant(OverRate.class, json, "overRate", null);
    order = constant(Order.class, json, "order", null);
    parallel = json.getInteger("parallel", parallel);
    start =
        new StartAt(
            StartAt.Kind.valueOf(json.getString("startKind", start.kind().name())),
            json.getLong("startValue", start.value()));
    heartbeatMillis = json.getLong("heartbeatMillis", heartbeatMillis);
    memberTimeoutMillis = json.getLong("memberTimeoutMillis", memberTimeoutMillis);
    lockTimeMillis = json.getLong("lockTimeMillis", lockTimeMillis);
    assignor = json.getString("assignor");
    stuckTimeoutMillis = json.getLong("stuckTimeoutMillis");
    crashLockTimeMillis = json.getLong("crashLockTimeMillis", crashLockTimeMillis);
    pendingMessagesMax = json.getInteger("pendingMessagesMax", pendingMessagesMax);
    pendingBytesMax = json.getInteger("pendingBytesMax", pendingBytesMax);
    fetchBytesMax = json.getInteger("fetchBytesMax", fetchBytesMax);
    fetchWaitMillis = json.getInteger("fetchWaitMillis", fetchWaitMillis);
    commitMillis = json.getLong("commitMillis", commitMillis);
    commitMessages = json.getInteger("commitMessages", commitMessages);
    handOutMessages = json.getInteger("handOutMessages", handOutMessages);
    JsonArray delays = json.getJsonArray("retryDelaysMillis");
    if (delays != null) {
      retryDelaysMillis = delays.stream().map(delay -> ((Number) delay).longValue()).toList();
    }
    onFailure = constant(OnFailure.class, json, "onFailure", onFailure);
    breaker = json.getBoolean("breaker", breaker);
    holdFailed = json.getBoolean("holdFailed", holdFailed);
    delivery = constant(DeliveryPolicy.class, json, "delivery", delivery);
  }

  /** Keys that {@link #ConsumerOptions(JsonObject)} takes. */
  public static Set<String> keys() {
    return new ConsumerOptions().toJson().fieldNames();
  }

  private static <E extends Enum<E>> E constant(
      Class<E> type, JsonObject json, String key, E unset) {
    String word = json.getString(key);
    return word == null ? unset : Enum.valueOf(type, word.toUpperCase(Locale.ROOT));
  }

  private static Rate rate(String text) {
    return text == null ? null : Rate.parse(text);
  }

  /** What was not set, and has no default of its own, is null. */
  public JsonObject toJson() {
    return new JsonObject()
        .put("group", group)
        .put("member", member)
        .put("topics", new JsonArray(new ArrayList<>(topics)))
        .put("mode", word(mode))
        .put("range", range)
        .put("strategy", word(strategy))
        .put("stallTimeoutMillis", stallTimeoutMillis)
        .put("dedup", word(dedup))
        .put("dedupTimeoutMillis", dedupTimeoutMillis)
        .put("offsetsDirectory", offsetsDirectory)
        .put("onDamagedOffsets", word(onDamagedOffsets))
        .put("rate", rate == null ? null : rate.toString())
        .put("keyRate", keyRate == null ? null : keyRate.toString())
        .put("rateBy", word(rateBy))
        .put("overRate", word(overRate))
        .put("order", word(order))
        .put("parallel", parallel)
        .put("startKind", start.kind().name())
        .put("startValue", start.value())
        .put("heartbeatMillis", heartbeatMillis)
        .put("memberTimeoutMillis", memberTimeoutMillis)
        .put("lockTimeMillis", lockTimeMillis)
        .put("assignor", assignor)
        .put("stuckTimeoutMillis", stuckTimeoutMillis)
        .put("crashLockTimeMillis", crashLockTimeMillis)
        .put("pendingMessagesMax", pendingMessagesMax)
        .put("pendingBytesMax", pendingBytesMax)
        .put("fetchBytesMax", fetchBytesMax)
        .put("fetchWaitMillis", fetchWaitMillis)
        .put("commitMillis", commitMillis)
        .put("commitMessages", commitMessages)
        .put("handOutMessages", handOutMessages)
        .put(
            "retryDelaysMillis",
            retryDelaysMillis == null ? null : new JsonArray(new ArrayList<>(retryDelaysMillis)))
        .put("onFailure", word(onFailure))
        .put("breaker", breaker)
        .put("holdFailed", holdFailed)
        .put("delivery", word(delivery));
  }

  private static String word(Enum<?> constant) {
    return constant == null ? null : constant.name().toLowerCase(Locale.ROOT);
  }

  /** What all members of the group must agree on. */
  public GroupPolicy policy() {
    return GroupPolicy.of(word(mode), range, word(strategy), word(dedup));
  }

  /** As set, else null. */
  public Long givenDedupTimeoutMillis() {
    return dedupTimeoutMillis;
  }

  /** As set, else null. */
  public Long givenStallTimeoutMillis() {
    return stallTimeoutMillis;
  }

  public String getGroup() {
    return group;
  }

  /** Name of the group. */
  public ConsumerOptions setGroup(String group) {
    this.group = group;
    return this;
  }

  public String getMember() {
    return member;
  }

  /** Unique in the group; made up if null. */
  public ConsumerOptions setMember(String member) {
    this.member = member;
    return this;
  }

  public List<String> getTopics() {
    return topics;
  }

  /** Names of topics to subscribe to. */
  public ConsumerOptions setTopics(List<String> topics) {
    this.topics = topics;
    return this;
  }

  public Mode getMode() {
    return mode;
  }

  /** How the group consumes, by default SHARDED. All its members must agree. */
  public ConsumerOptions setMode(Mode mode) {
    this.mode = mode;
    return this;
  }

  /** By default {@link #DEFAULT_RANGE}. */
  public int getRange() {
    return range == null ? DEFAULT_RANGE : range;
  }

  /**
   * Mode LEVEL only: most messages that one member may have finished more than another, counted
   * since the later of the two joined. From 1 to 1,000,000. All members must agree.
   */
  public ConsumerOptions setRange(int range) {
    this.range = range;
    return this;
  }

  /** By default PULL. */
  public Strategy getStrategy() {
    return strategy == null ? Strategy.PULL : strategy;
  }

  /** Mode LEVEL only: who moves the messages. All members must agree. */
  public ConsumerOptions setStrategy(Strategy strategy) {
    this.strategy = strategy;
    return this;
  }

  /** By default {@link #DEFAULT_STALL_TIMEOUT_MILLIS}. */
  public long getStallTimeoutMillis() {
    return stallTimeoutMillis == null ? DEFAULT_STALL_TIMEOUT_MILLIS : stallTimeoutMillis;
  }

  /**
   * Mode LEVEL only: if this member has finished nothing for so long while others wait for it, it
   * is set aside: what it has in hand is dealt again, and it comes back as one that newly joined.
   * From 1,000 to 3,600,000. It must be longer than the slowest message takes.
   */
  public ConsumerOptions setStallTimeoutMillis(long stallTimeoutMillis) {
    this.stallTimeoutMillis = stallTimeoutMillis;
    return this;
  }

  public Dedup getDedup() {
    return dedup;
  }

  /**
   * What makes a message the same as another, by default OFF. All members must agree. A handler's
   * {@link ConsumerHandler#dedupKey} goes before KEY and PAYLOAD. Not in mode LEVEL.
   */
  public ConsumerOptions setDedup(Dedup dedup) {
    this.dedup = dedup;
    return this;
  }

  /** By default {@link #DEFAULT_DEDUP_TIMEOUT_MILLIS}. */
  public long getDedupTimeoutMillis() {
    return dedupTimeoutMillis == null ? DEFAULT_DEDUP_TIMEOUT_MILLIS : dedupTimeoutMillis;
  }

  /**
   * With dedup only: a handler that has not ended for so long loses its key, and whoever waits for
   * it goes on. From 1,000 to 86,400,000. It must be longer than the slowest message takes, or two
   * of the same run at once.
   */
  public ConsumerOptions setDedupTimeoutMillis(long dedupTimeoutMillis) {
    this.dedupTimeoutMillis = dedupTimeoutMillis;
    return this;
  }

  public String getOffsetsDirectory() {
    return offsetsDirectory;
  }

  /**
   * Mode BROADCAST only, and needed there: where this member keeps its offsets. It is made if it is
   * not there. One directory serves one member of a group at a time; a member without a name goes
   * by the one that its directory knows.
   */
  public ConsumerOptions setOffsetsDirectory(String offsetsDirectory) {
    this.offsetsDirectory = offsetsDirectory;
    return this;
  }

  /** By default REFUSE. */
  public OnDamagedOffsets getOnDamagedOffsets() {
    return onDamagedOffsets == null ? OnDamagedOffsets.REFUSE : onDamagedOffsets;
  }

  /** Mode BROADCAST only: what becomes of a file of offsets that cannot be made sense of. */
  public ConsumerOptions setOnDamagedOffsets(OnDamagedOffsets onDamagedOffsets) {
    this.onDamagedOffsets = onDamagedOffsets;
    return this;
  }

  /** As set, else null. */
  public OnDamagedOffsets givenOnDamagedOffsets() {
    return onDamagedOffsets;
  }

  public Rate getRate() {
    return rate;
  }

  /**
   * How many messages this consumer begins at most; null, the default: as many as it can. Not in
   * mode LEVEL, and not together with {@link #setDedup}, as all that follows about rates.
   */
  public ConsumerOptions setRate(Rate rate) {
    this.rate = rate;
    return this;
  }

  public Rate getKeyRate() {
    return keyRate;
  }

  /**
   * How many messages of a key and topic this consumer begins at most; null, the default: as many
   * as it can. One over it waits for its turn while others pass, at most 1,000 of a shard.
   */
  public ConsumerOptions setKeyRate(Rate keyRate) {
    this.keyRate = keyRate;
    return this;
  }

  /** By default KEY. */
  public RateBy getRateBy() {
    return rateBy == null ? RateBy.KEY : rateBy;
  }

  /** Whose rate {@link #setKeyRate} is, by default KEY. */
  public ConsumerOptions setRateBy(RateBy rateBy) {
    this.rateBy = rateBy;
    return this;
  }

  /** By default WAIT. */
  public OverRate getOverRate() {
    return overRate == null ? OverRate.WAIT : overRate;
  }

  /**
   * What becomes of messages over {@link #setKeyRate}, by default WAIT. A dropped one counts as
   * finished. Not with order SHARD, in which nothing passes one that waits.
   */
  public ConsumerOptions setOverRate(OverRate overRate) {
    this.overRate = overRate;
    return this;
  }

  /** Whether any rate is set. */
  public boolean hasRates() {
    return rate != null || keyRate != null;
  }

  /** By default SHARD; in mode LEVEL NONE. */
  public Order getOrder() {
    return order != null ? order : mode == Mode.LEVEL ? Order.NONE : Order.SHARD;
  }

  /**
   * @param order null: as the mode has it by default
   */
  public ConsumerOptions setOrder(Order order) {
    this.order = order;
    return this;
  }

  public int getParallel() {
    return parallel;
  }

  /** Most handlers that run at once. */
  public ConsumerOptions setParallel(int parallel) {
    this.parallel = parallel;
    return this;
  }

  public StartAt getStart() {
    return start;
  }

  /** Where a new group begins. */
  public ConsumerOptions setStart(StartAt start) {
    this.start = start;
    return this;
  }

  public long getHeartbeatMillis() {
    return heartbeatMillis;
  }

  public ConsumerOptions setHeartbeatMillis(long heartbeatMillis) {
    this.heartbeatMillis = heartbeatMillis;
    return this;
  }

  public long getMemberTimeoutMillis() {
    return memberTimeoutMillis;
  }

  /** Silence after which the cluster gives the shards to others. */
  public ConsumerOptions setMemberTimeoutMillis(long memberTimeoutMillis) {
    this.memberTimeoutMillis = memberTimeoutMillis;
    return this;
  }

  public long getLockTimeMillis() {
    return lockTimeMillis;
  }

  public ConsumerOptions setLockTimeMillis(long lockTimeMillis) {
    this.lockTimeMillis = lockTimeMillis;
    return this;
  }

  public String getAssignor() {
    return assignor;
  }

  /**
   * Name of what decides who of the group gets which shard: "sticky", "average", "consistent-hash",
   * or another that the cluster's nodes have. Null: the one that the group has; a new group gets
   * "sticky". It is refused with GROUP_MISMATCH if the group has other members and uses another.
   */
  public ConsumerOptions setAssignor(String assignor) {
    this.assignor = assignor;
    return this;
  }

  public Long getStuckTimeoutMillis() {
    return stuckTimeoutMillis;
  }

  /**
   * A shard of which something is in hand and nothing was finished for so long is given to another
   * member, and this one gets none until it finishes something again. From 1,000 to 86,400,000;
   * null: never, it is only shown after 30 s. It must be longer than the slowest message and {@link
   * ConsumerHandler#onAssign} take.
   */
  public ConsumerOptions setStuckTimeoutMillis(Long stuckTimeoutMillis) {
    this.stuckTimeoutMillis = stuckTimeoutMillis;
    return this;
  }

  public long getCrashLockTimeMillis() {
    return crashLockTimeMillis;
  }

  /**
   * How long the shards of this member, once it is taken for dead, wait for a release that may
   * still come, before others get them. From 0, the default, to 3,600,000.
   */
  public ConsumerOptions setCrashLockTimeMillis(long crashLockTimeMillis) {
    this.crashLockTimeMillis = crashLockTimeMillis;
    return this;
  }

  public int getPendingMessagesMax() {
    return pendingMessagesMax;
  }

  public ConsumerOptions setPendingMessagesMax(int pendingMessagesMax) {
    this.pendingMessagesMax = pendingMessagesMax;
    return this;
  }

  public int getPendingBytesMax() {
    return pendingBytesMax;
  }

  public ConsumerOptions setPendingBytesMax(int pendingBytesMax) {
    this.pendingBytesMax = pendingBytesMax;
    return this;
  }

  public int getFetchBytesMax() {
    return fetchBytesMax;
  }

  public ConsumerOptions setFetchBytesMax(int fetchBytesMax) {
    this.fetchBytesMax = fetchBytesMax;
    return this;
  }

  public int getFetchWaitMillis() {
    return fetchWaitMillis;
  }

  public ConsumerOptions setFetchWaitMillis(int fetchWaitMillis) {
    this.fetchWaitMillis = fetchWaitMillis;
    return this;
  }

  public long getCommitMillis() {
    return commitMillis;
  }

  public ConsumerOptions setCommitMillis(long commitMillis) {
    this.commitMillis = commitMillis;
    return this;
  }

  public int getCommitMessages() {
    return commitMessages;
  }

  /**
   * How many finished messages of a shard may be uncommitted. A commit begins at half of them, and
   * two commits of a shard are at least 50 ms apart.
   */
  public ConsumerOptions setCommitMessages(int commitMessages) {
    this.commitMessages = commitMessages;
    return this;
  }

  public int getHandOutMessages() {
    return handOutMessages;
  }

  /**
   * Most messages of one shard that are handed out at once, with those that failed and wait for
   * their next try: from 1 to {@link #HAND_OUT_MESSAGES_MAX}. {@link #setParallel} bounds what runs
   * of all shards together.
   */
  public ConsumerOptions setHandOutMessages(int handOutMessages) {
    this.handOutMessages = handOutMessages;
    return this;
  }

  /** As set; else as {@link #getOnFailure} has it: the default pauses with RETRY, else none. */
  public List<Long> getRetryDelaysMillis() {
    if (retryDelaysMillis != null) {
      return retryDelaysMillis;
    }
    boolean again = onFailure == OnFailure.RETRY && delivery != DeliveryPolicy.AT_MOST_ONCE;
    return again ? DEFAULT_RETRY_DELAYS_MILLIS : List.of();
  }

  /**
   * Pauses before the second and all further attempts of a message: with n of them it is tried n +
   * 1 times. Each differs by up to a fifth, up or down. At most {@link #RETRY_DELAYS_MAX}, each
   * from 0 to {@link #RETRY_DELAY_MILLIS_MAX}. In mode level they are the group's: of different
   * members' those hold that give most attempts, of these the longest in all.
   *
   * @param retryDelaysMillis null: the default
   */
  public ConsumerOptions setRetryDelaysMillis(List<Long> retryDelaysMillis) {
    this.retryDelaysMillis = retryDelaysMillis == null ? null : List.copyOf(retryDelaysMillis);
    return this;
  }

  public OnFailure getOnFailure() {
    return onFailure;
  }

  /** What becomes of a message that fails, by default RETRY. */
  public ConsumerOptions setOnFailure(OnFailure onFailure) {
    this.onFailure = onFailure;
    return this;
  }

  public boolean isBreaker() {
    return breaker;
  }

  /**
   * Whether the consumer pauses while most messages fail at their first attempt, which is so by
   * default: it tries one at a time then, and failures do not count.
   */
  public ConsumerOptions setBreaker(boolean breaker) {
    this.breaker = breaker;
    return this;
  }

  public DeliveryPolicy getDelivery() {
    return delivery;
  }

  /**
   * What a crash may do to a message, by default AT_LEAST_ONCE. The others only in mode SHARDED and
   * without dedup. With AT_MOST_ONCE nothing that failed is tried again; EFFECTIVELY_ONCE needs a
   * handler that publishes through its context or makes use of state, which needs order SHARD.
   */
  public ConsumerOptions setDelivery(DeliveryPolicy delivery) {
    this.delivery = delivery;
    return this;
  }

  public boolean isHoldFailed() {
    return holdFailed;
  }

  /**
   * Whether a failed message keeps its place in the window until its next attempt, whatever the
   * order. By default so only with order SHARD and with handlers that keep state; else the log
   * keeps it, and it holds nothing up.
   */
  public ConsumerOptions setHoldFailed(boolean holdFailed) {
    this.holdFailed = holdFailed;
    return this;
  }
}
