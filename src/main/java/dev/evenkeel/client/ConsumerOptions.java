package dev.evenkeel.client;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
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
public final class ConsumerOptions extends SettingValues<ConsumerOptions> {
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

  private static final SettingType<MessageFilter> FILTERS =
      new SettingType<>(
          "CONDITION",
          json -> MessageFilter.of(((JsonArray) json).stream().map(String.class::cast).toList()),
          filter -> new JsonArray(filter.texts()),
          text -> MessageFilter.of(List.of(text)),
          filter -> String.join(", ", filter.texts()));

  private static final Settings SETTINGS = new Settings("consumer option");

  private static final Setting<String> GROUP =
      SETTINGS.text("group").label("G").help("Group that shares the messages.");
  private static final Setting<String> MEMBER =
      SETTINGS
          .text("member")
          .label("NAME")
          .help("Name in the group; a second member of the same name takes over.");
  private static final Setting<List<String>> TOPICS = SETTINGS.texts("topics").unless(List.of());
  private static final Setting<Mode> MODE =
      SETTINGS
          .word("mode", Mode.class)
          .unless(Mode.SHARDED)
          .help(
              "sharded: each shard goes to one member; level: members stay close in the number of"
                  + " finished messages, so the slowest sets the pace; broadcast: every member"
                  + " gets every message and keeps its own --offsets; singleton: one elected"
                  + " member gets all messages, and the others wait to replace it. All members"
                  + " must agree on mode, range and strategy.");
  private static final Setting<Integer> RANGE =
      SETTINGS
          .integer("range")
          .usually(GroupPolicy.RANGE_DEFAULT)
          .within(1, GroupPolicy.RANGE_MAX)
          .help(
              "Mode level: the largest difference between two members in finished messages, 1 to"
                  + " 1,000,000; small keeps them closer, large lets more be in flight.");
  private static final Setting<Strategy> STRATEGY =
      SETTINGS
          .word("strategy", Strategy.class)
          .usually(Strategy.PULL)
          .help(
              "Mode level: pull: each member asks for as many messages as it has room for; push:"
                  + " the dispatcher sends messages to the members in turn.");
  private static final Setting<Long> STALL_TIMEOUT =
      SETTINGS
          .time("stallTimeoutMillis")
          .usually(Limits.STALL_TIMEOUT_MILLIS_DEFAULT)
          .within(1_000, 3_600_000)
          .help(
              "Mode level: a member that holds up the others and finishes nothing for this time is"
                  + " set aside: others get its messages, and it returns as a new member.");
  private static final Setting<Dedup> DEDUP =
      SETTINGS
          .word("dedup", Dedup.class)
          .unless(Dedup.OFF)
          .help(
              "Among messages with the same key or payload, the group handles one at a time and"
                  + " lets one wait; it finishes further ones without handling them. All members"
                  + " must agree. Only in mode sharded.");
  private static final Setting<Long> DEDUP_TIMEOUT =
      SETTINGS
          .time("dedupTimeoutMillis")
          .usually(60_000L)
          .within(1_000, 86_400_000)
          .help(
              "With --dedup: a message that takes longer no longer blocks its key, and the waiting"
                  + " one goes on.");
  private static final Setting<String> OFFSETS_DIRECTORY =
      SETTINGS
          .text("offsetsDirectory")
          .option("--offsets")
          .label("DIR")
          .help(
              "Mode broadcast, required there: directory for this member's offsets, which the"
                  + " cluster does not store. Only one member of a group can use it at a time.");
  private static final Setting<OnDamagedOffsets> ON_DAMAGED_OFFSETS =
      SETTINGS
          .word("onDamagedOffsets", OnDamagedOffsets.class)
          .usually(OnDamagedOffsets.REFUSE)
          .help(
              "Mode broadcast: what to do if the file of offsets is damaged: refuse to start, or"
                  + " move it aside and begin at the earliest or latest message.");
  private static final Setting<Rate> RATE =
      SETTINGS
          .add("rate", SettingType.text("R", Rate::parse, Rate::toString))
          .help(
              "Rate limit of this member, as 100/s, 30/m or 1/10s. That many messages may start at"
                  + " once (default: no limit). Not in mode level.");
  private static final Setting<Rate> GROUP_RATE =
      SETTINGS
          .add("groupRate", SettingType.text("R", Rate::parse, Rate::toString))
          .help(
              "Rate limit of all members of the group together. It counts for every member, and"
                  + " 'quota set group-rate' changes it while they run (default: as it is). Not in"
                  + " mode level.");
  private static final Setting<Rate> KEY_RATE =
      SETTINGS
          .add("keyRate", SettingType.text("R", Rate::parse, Rate::toString))
          .help(
              "Rate limit of each key. A message over the limit waits, and messages of other keys"
                  + " pass it (default: no limit).");
  private static final Setting<RateBy> RATE_BY =
      SETTINGS
          .word("rateBy", RateBy.class)
          .usually(RateBy.KEY)
          .help("What --key-rate limits: messages with the same key, or with the same payload.");
  private static final Setting<OverRate> OVER_RATE =
      SETTINGS
          .word("overRate", OverRate.class)
          .usually(OverRate.WAIT)
          .help(
              "What happens to messages over --key-rate: wait: all wait; drop-oldest, drop-newest:"
                  + " one waits, and the older or newer ones are finished without handling them."
                  + " Dropping needs --order key or none.");
  private static final Setting<MessageFilter> FILTER =
      SETTINGS
          .add("filter", FILTERS)
          .unless(MessageFilter.ALL)
          .help(
              "Consume only messages whose key or header fits: key=VALUE, key^=PREFIX,"
                  + " header:NAME=VALUE or header:NAME^=PREFIX; may be repeated. Of several"
                  + " conditions on the key, or on one header, one must hold. Nodes leave out the"
                  + " others, which count as consumed. All members must agree on it, but not in"
                  + " mode broadcast.");
  private static final Setting<Order> ORDER =
      SETTINGS
          .word("order", Order.class)
          .help(
              "Which order to keep: that of a shard, that of a key, or none (default: shard; in"
                  + " mode level: none).");
  private static final Setting<Integer> PARALLEL =
      SETTINGS
          .integer("parallel")
          .unless(16)
          .from(1)
          .help("How many messages are handled at once.");
  private static final Setting<Boolean> WORKER =
      SETTINGS.flag("worker").help("Whether handlers run on threads on which they may block.");
  private static final Setting<WorkerThreads> WORKER_THREADS =
      SETTINGS
          .word("workerThreads", WorkerThreads.class)
          .unless(WorkerThreads.AUTO)
          .help("Which threads those are.");
  private static final Setting<StartAt.Kind> START_KIND =
      SETTINGS
          .add(
              "startKind",
              SettingType.text(
                  "KIND",
                  text -> SettingType.constantOf(StartAt.Kind.class, "startKind", text),
                  StartAt.Kind::name))
          .unless(StartAt.Kind.EARLIEST)
          .help("Where a new group begins.");
  private static final Setting<Long> START_VALUE =
      SETTINGS.number("startValue").unless(0L).help("The offset or the time that startKind means.");
  private static final Setting<Long> HEARTBEAT =
      SETTINGS
          .time("heartbeatMillis")
          .unless(1_000L)
          .from(10)
          .help("The time between two heartbeats.");
  private static final Setting<Long> MEMBER_TIMEOUT =
      SETTINGS
          .time("memberTimeoutMillis")
          .unless(5_000L)
          .help("The silence after which the cluster gives the shards of this member to others.");
  private static final Setting<Long> LOCK_TIME =
      SETTINGS
          .time("lockTimeMillis")
          .unless(50_000L)
          .within(0, 3_600_000)
          .help("How long a handover waits at most until this member releases a shard.");
  private static final Setting<String> ASSIGNOR =
      SETTINGS
          .text("assignor")
          .label("NAME")
          .help(
              "How shards are assigned to members: sticky, load, average, consistent-hash, or"
                  + " another assignor that the nodes have. All members must agree (default: the"
                  + " group's, else sticky).");
  private static final Setting<Long> STUCK_TIMEOUT =
      SETTINGS
          .time("stuckTimeoutMillis")
          .within(1_000, 86_400_000)
          .help(
              "Lose a shard if its messages are being handled and none finishes for this time"
                  + " (default: never).");
  private static final Setting<Long> CRASH_LOCK_TIME =
      SETTINGS
          .time("crashLockTimeMillis")
          .unless(0L)
          .within(0, 3_600_000)
          .help(
              "How long shards of this member stay without an owner after its death (default: not"
                  + " at all).");
  private static final Setting<Long> GRACE =
      SETTINGS
          .time("graceMillis")
          .unless(0L)
          .within(0, 86_400_000)
          .option("--stable")
          .help(
              "Come back with the same --member: its shards wait for that time after it has ended"
                  + " (default: not at all; without a TIME: 1m).");
  private static final Setting<Integer> PENDING_MESSAGES_MAX =
      SETTINGS
          .integer("pendingMessagesMax")
          .unless(3_000)
          .from(1)
          .help("The most messages that are fetched and not finished.");
  private static final Setting<Integer> PENDING_BYTES_MAX =
      SETTINGS
          .add("pendingBytesMax", SettingType.ofInt(SettingType.SIZE))
          .unless(16 << 20)
          .from(1)
          .help("The most bytes that are fetched and not finished.");
  private static final Setting<Integer> FETCH_BYTES_MAX =
      SETTINGS
          .add("fetchBytesMax", SettingType.ofInt(SettingType.SIZE))
          .unless(1 << 20)
          .within(1, Limits.FETCH_BYTES_MAX)
          .help("The most bytes of one fetch.");
  private static final Setting<Integer> FETCH_WAIT =
      SETTINGS
          .add("fetchWaitMillis", SettingType.ofInt(SettingType.TIME))
          .unless(15_000)
          .within(0, Limits.FETCH_WAIT_MILLIS_MAX)
          .help("The longest wait of one fetch for new messages.");
  private static final Setting<Long> COMMIT_DELAY =
      SETTINGS
          .time("commitDelayMillis")
          .unless(200L)
          .from(1)
          .help("The longest time between the end of a message and its commit.");
  private static final Setting<Long> COMMIT =
      SETTINGS
          .time("commitMillis")
          .unless(5_000L)
          .from(1)
          .help("The longest time between two commits of new state.");
  private static final Setting<Integer> COMMIT_MESSAGES =
      SETTINGS
          .integer("commitMessages")
          .unless(1_000)
          .from(1)
          .help("The most finished messages of a shard that may be uncommitted.");
  private static final Setting<Integer> HAND_OUT_MESSAGES =
      SETTINGS
          .integer("handOutMessages")
          .unless(32)
          .within(1, HAND_OUT_MESSAGES_MAX)
          .help("The most messages of one shard that are handed out at a time.");
  private static final Setting<Integer> BATCH_MESSAGES =
      SETTINGS
          .integer("batchMessages")
          .usually(BATCH_MESSAGES_DEFAULT)
          .within(1, HAND_OUT_MESSAGES_MAX)
          .help("The most messages that a handler of batches gets at once.");
  private static final Setting<List<Long>> RETRY_DELAYS =
      SETTINGS
          .add("retryDelaysMillis", SettingType.TIME.list())
          .within(0, RETRY_DELAY_MILLIS_MAX)
          .items(RETRY_DELAYS_MAX)
          .help(
              "Delays before the second and later attempts of a message. With n delays a message is"
                  + " tried n + 1 times (default: 1s,5s,30s,2m,10m).");
  private static final Setting<OnFailure> ON_FAILURE =
      SETTINGS
          .word("onFailure", OnFailure.class)
          .unless(OnFailure.RETRY)
          .help(
              "What happens to a failed message: retry: try again, then make it a dead letter;"
                  + " dead-letter: make it a dead letter; stop: exit with status 1. dead-letter and"
                  + " stop retry first if --retry-delays is given.");
  private static final Setting<Integer> CRASHES_MAX =
      SETTINGS
          .integer("crashesMax")
          .unless(Limits.CRASHES_MAX_DEFAULT)
          .within(Limits.CRASHES_MAX_LEAST, Limits.CRASHES_MAX_MOST)
          .orZero()
          .because("the third death is the first that shows which message is the reason")
          .help(
              "After how many deaths of its consumers a message becomes a dead letter: 3 to 1000,"
                  + " or 0 for never.");
  private static final Setting<Boolean> BREAKER =
      SETTINGS
          .flag("breaker")
          .unless(true)
          .help("Whether the consumer pauses while most messages fail.");
  private static final Setting<Boolean> HOLD_FAILED =
      SETTINGS
          .flag("holdFailed")
          .help("Whether a failed message keeps its place until its next attempt.");
  private static final Setting<DeliveryPolicy> DELIVERY =
      SETTINGS
          .word("delivery", DeliveryPolicy.class)
          .unless(DeliveryPolicy.AT_LEAST_ONCE)
          .help(
              "at-most-once: commit before a message is handled, and never retry; at-least-once:"
                  + " commit after it; effectively-once: also commit the state of --on-assign and"
                  + " --on-release with the offset, so that it counts each message once.");
  private static final Setting<TracingPolicy> TRACING =
      SETTINGS
          .word("tracing", TracingPolicy.class)
          .unless(TracingPolicy.PROPAGATE)
          .help("Which messages get a span.");

  /** All settings of a consumer. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** The name of a setting in advice: its setter, or its option of commands. */
  public static Told setter(String key) {
    return SETTINGS.of(key).setter(ConsumerOptions.class);
  }

  /** Options with their defaults. */
  public ConsumerOptions() {
    super(SETTINGS);
  }

  /**
   * Options from JSON. A key that is left out or null has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ConsumerOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** See {@link #setGroup}. */
  public String getGroup() {
    return get(GROUP);
  }

  /** Name of the group. It must be set. */
  public ConsumerOptions setGroup(String group) {
    return set(GROUP, group);
  }

  /** See {@link #setMember}. */
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

  /** See {@link #setTopics}. */
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

  /** See {@link #setMode}. */
  public Mode getMode() {
    return get(MODE);
  }

  /** How the members share the messages, by default SHARDED. All members must agree. */
  public ConsumerOptions setMode(Mode mode) {
    return set(MODE, mode);
  }

  /** See {@link #setRange}. */
  public int getRange() {
    return get(RANGE);
  }

  /**
   * Mode LEVEL only: how many finished messages one member may be ahead of another at most, counted
   * since the later of the two joined. From 1 to 1,000,000, by default 100. All members must agree.
   */
  public ConsumerOptions setRange(int range) {
    return set(RANGE, range);
  }

  /** See {@link #setStrategy}. */
  public Strategy getStrategy() {
    return get(STRATEGY);
  }

  /** Mode LEVEL only: who moves the messages, by default PULL. All members must agree. */
  public ConsumerOptions setStrategy(Strategy strategy) {
    return set(STRATEGY, strategy);
  }

  /** See {@link #setStallTimeoutMillis}. */
  public long getStallTimeoutMillis() {
    return get(STALL_TIMEOUT);
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

  /** See {@link #setDedup}. */
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

  /** See {@link #setDedupTimeoutMillis}. */
  public long getDedupTimeoutMillis() {
    return get(DEDUP_TIMEOUT);
  }

  /**
   * With dedup only: a handler that has not ended after this time loses its key, and the message
   * that waits for the key begins. From 1,000 to 86,400,000 milliseconds, by default 60 seconds. It
   * must be longer than the slowest message takes; otherwise two of the same messages run at once.
   */
  public ConsumerOptions setDedupTimeoutMillis(long dedupTimeoutMillis) {
    return set(DEDUP_TIMEOUT, dedupTimeoutMillis);
  }

  /** See {@link #setOffsetsDirectory}. */
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

  /** See {@link #setOnDamagedOffsets}. */
  public OnDamagedOffsets getOnDamagedOffsets() {
    return get(ON_DAMAGED_OFFSETS);
  }

  /**
   * Mode BROADCAST only: what the consumer does if its file of offsets is damaged, by default
   * REFUSE.
   */
  public ConsumerOptions setOnDamagedOffsets(OnDamagedOffsets onDamagedOffsets) {
    return set(ON_DAMAGED_OFFSETS, onDamagedOffsets);
  }

  /** See {@link #setRate}. */
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

  /** See {@link #setGroupRate}. */
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

  /** See {@link #setKeyRate}. */
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

  /** See {@link #setRateBy}. */
  public RateBy getRateBy() {
    return get(RATE_BY);
  }

  /** Which messages share a {@link #setKeyRate}, by default those with the same KEY. */
  public ConsumerOptions setRateBy(RateBy rateBy) {
    return set(RATE_BY, rateBy);
  }

  /** See {@link #setOverRate}. */
  public OverRate getOverRate() {
    return get(OVER_RATE);
  }

  /**
   * What happens to messages over {@link #setKeyRate}, by default WAIT. A dropped message is
   * finished without its handler, and {@link ConsumerHandler#onDropped} is called. Dropping needs
   * order KEY or NONE, and does not work with dedup.
   */
  public ConsumerOptions setOverRate(OverRate overRate) {
    return set(OVER_RATE, overRate);
  }

  /** See {@link #setFilter}. */
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

  /** See {@link #setOrder}. */
  public Order getOrder() {
    Order order = get(ORDER);
    return order != null ? order : getMode() == Mode.LEVEL ? Order.NONE : Order.SHARD;
  }

  /** What the consumer keeps in order. Null, the default, means SHARD, or NONE in mode LEVEL. */
  public ConsumerOptions setOrder(Order order) {
    return set(ORDER, order);
  }

  /** See {@link #setParallel}. */
  public int getParallel() {
    return get(PARALLEL);
  }

  /**
   * Most handlers that run at once, over all shards, by default 16. At least 1. A {@link
   * LeaderCareer} that is serial runs one at a time, whatever this says.
   */
  public ConsumerOptions setParallel(int parallel) {
    return set(PARALLEL, parallel);
  }

  /** See {@link #setWorker}. */
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

  /** See {@link #setWorkerThreads}. */
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

  /** See {@link #setStart}. */
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

  /** See {@link #setHeartbeatMillis}. */
  public long getHeartbeatMillis() {
    return get(HEARTBEAT);
  }

  /** Time between two heartbeats, in milliseconds, by default 1 second. At least 10. */
  public ConsumerOptions setHeartbeatMillis(long heartbeatMillis) {
    return set(HEARTBEAT, heartbeatMillis);
  }

  /** See {@link #setMemberTimeoutMillis}. */
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

  /** See {@link #setLockTimeMillis}. */
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

  /** See {@link #setAssignor}. */
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

  /** See {@link #setStuckTimeoutMillis}. */
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

  /** See {@link #setCrashLockTimeMillis}. */
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

  /** See {@link #setGraceMillis}. */
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

  /** See {@link #setPendingMessagesMax}. */
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

  /** See {@link #setPendingBytesMax}. */
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

  /** See {@link #setFetchBytesMax}. */
  public int getFetchBytesMax() {
    return get(FETCH_BYTES_MAX);
  }

  /** Most bytes of one fetch, by default 1 MiB. From 1 to 1 MiB. */
  public ConsumerOptions setFetchBytesMax(int fetchBytesMax) {
    return set(FETCH_BYTES_MAX, fetchBytesMax);
  }

  /** See {@link #setFetchWaitMillis}. */
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

  /** See {@link #setCommitDelayMillis}. */
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

  /** See {@link #setCommitMillis}. */
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

  /** See {@link #setCommitMessages}. */
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

  /** See {@link #setHandOutMessages}. */
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

  /** See {@link #setBatchMessages}. */
  public int getBatchMessages() {
    return get(BATCH_MESSAGES);
  }

  /**
   * The most messages that {@link BatchHandler#handleBatch} gets at once: 1 to {@value
   * #HAND_OUT_MESSAGES_MAX}, by default {@value #BATCH_MESSAGES_DEFAULT}. If it is more than {@link
   * #setHandOutMessages}, so many messages of a shard may run at once. Only for handlers of
   * batches.
   */
  public ConsumerOptions setBatchMessages(int batchMessages) {
    return set(BATCH_MESSAGES, batchMessages);
  }

  /** See {@link #setRetryDelaysMillis}. */
  public List<Long> getRetryDelaysMillis() {
    boolean again =
        getOnFailure() == OnFailure.RETRY && getDelivery() != DeliveryPolicy.AT_MOST_ONCE;
    List<Long> delays = get(RETRY_DELAYS);
    return delays != null ? delays : again ? DEFAULT_RETRY_DELAYS_MILLIS : List.of();
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

  /** See {@link #setOnFailure}. */
  public OnFailure getOnFailure() {
    return get(ON_FAILURE);
  }

  /** What happens to a message that fails, by default RETRY. */
  public ConsumerOptions setOnFailure(OnFailure onFailure) {
    return set(ON_FAILURE, onFailure);
  }

  /** See {@link #setCrashesMax}. */
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

  /** See {@link #setBreaker}. */
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

  /** See {@link #setDelivery}. */
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

  /** See {@link #setHoldFailed}. */
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

  /** See {@link #setTracing}. */
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
