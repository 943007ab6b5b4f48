package dev.evenkeel.model;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.ConsumerOptions.OverRate;
import dev.evenkeel.client.ConsumerOptions.Strategy;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/**
 * How a group consumes, drawn from all that goes together.
 *
 * @param tag the group takes messages with this tag only; null: all
 * @param pattern it reads all topics of the run
 * @param push mode level, with messages that are dealt out
 * @param care a member that dies too often during a message makes a dead letter of it
 */
public record Kind(
    Mode mode,
    Order order,
    boolean earliest,
    String tag,
    boolean pattern,
    Handling handling,
    Dedup dedup,
    Limit limit,
    boolean push,
    boolean care) {
  /** What handlers do. */
  public enum Handling {
    SINGLE,
    /** On worker threads. */
    WORKER,
    BATCHES,
    /** They keep what they have handled as state. */
    STATE,
    /** The same, and effectively once. */
    EXACT_STATE,
    /** The same, and what they give comes with messages only. */
    COMMITTED_STATE,
    /** They publish a message for each. */
    OUTPUTS,
    EXACT_OUTPUTS,
    AT_MOST_ONCE
  }

  /** In mode sharded: in other modes, handlers of one message each are most of all. */
  private static final List<Handling> HANDLINGS =
      List.of(
          Handling.SINGLE,
          Handling.SINGLE,
          Handling.WORKER,
          Handling.BATCHES,
          Handling.BATCHES,
          Handling.STATE,
          Handling.STATE,
          Handling.EXACT_STATE,
          Handling.EXACT_STATE,
          Handling.COMMITTED_STATE,
          Handling.COMMITTED_STATE,
          Handling.OUTPUTS,
          Handling.OUTPUTS,
          Handling.EXACT_OUTPUTS,
          Handling.EXACT_OUTPUTS,
          Handling.AT_MOST_ONCE,
          Handling.AT_MOST_ONCE);

  /** What limits how fast handlers begin. */
  public enum Limit {
    NONE,
    RATE,
    KEY_RATE,
    /** What is over the rate of its key is dropped. */
    DROP_NEWEST,
    DROP_OLDEST,
    GROUP_RATE;

    boolean ofKeys() {
      return this == KEY_RATE || drops();
    }

    boolean drops() {
      return this == DROP_NEWEST || this == DROP_OLDEST;
    }

    /** What there is with this order: where nothing passes what waits, nothing is dropped. */
    Limit with(Order order) {
      return drops() && order == Order.SHARD ? KEY_RATE : this;
    }
  }

  /** Each key in its order, from the beginning, and nothing else. */
  public static final Kind PLAIN =
      new Kind(
          Mode.SHARDED,
          Order.KEY,
          true,
          null,
          false,
          Handling.SINGLE,
          Dedup.OFF,
          Limit.NONE,
          false,
          false);

  /** The header that filters look at. */
  public static final String TAG = "tag";

  static final int BATCH_MESSAGES = 8;

  /** How many members may die of a message, where care is taken. */
  static final int CRASHES_MAX = 3;

  /** Where messages that fail hold up a release. */
  private static final long LOCK_MILLIS = 8_000;

  /** In mode level. */
  static final int RANGE = 10;

  public static final Rate RATE = new Rate(100, 1_000);
  private static final Rate KEY_RATE = new Rate(20, 1_000);
  private static final List<Long> RETRY_DELAYS_MILLIS = List.of(50L, 150L);

  /** All settings that kinds have, by name. */
  static final List<String> SETTINGS =
      LongStream.range(0, 10_000)
          .boxed()
          .flatMap(seed -> of(seed).settings().stream())
          .distinct()
          .sorted()
          .toList();

  /** The kind that the seed draws. */
  public static Kind of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean earliest = random.nextInt(3) > 0;
    String tag = random.nextInt(4) == 0 ? "a" : null;
    boolean pattern = random.nextInt(4) == 0;
    int mode = random.nextInt(20);
    Limit limit = random.nextBoolean() ? Limit.values()[1 + random.nextInt(5)] : Limit.NONE;
    if (mode < 3) {
      return new Kind(
          Mode.LEVEL,
          Order.NONE,
          earliest,
          tag,
          pattern,
          random.nextInt(3) == 0 ? Handling.WORKER : Handling.SINGLE,
          Dedup.OFF,
          Limit.NONE,
          random.nextBoolean(),
          random.nextInt(3) == 0);
    }
    if (mode < 6) {
      return new Kind(
          Mode.SINGLETON,
          Order.SHARD,
          earliest,
          tag,
          pattern,
          Handling.SINGLE,
          Dedup.OFF,
          limit.with(Order.SHARD),
          false,
          false);
    }
    Order order = Order.values()[random.nextInt(3)];
    if (mode < 9) {
      return new Kind(
          Mode.BROADCAST,
          order,
          earliest,
          tag,
          pattern,
          random.nextInt(3) == 0 ? Handling.WORKER : Handling.SINGLE,
          Dedup.OFF,
          limit.with(order),
          false,
          false);
    }
    return sharded(random, earliest, tag, pattern, order, limit);
  }

  private static Kind sharded(
      SplittableRandom random,
      boolean earliest,
      String tag,
      boolean pattern,
      Order drawn,
      Limit limit) {
    Handling handling = HANDLINGS.get(random.nextInt(HANDLINGS.size()));
    boolean batches = handling == Handling.BATCHES;
    Order order =
        batches && drawn == Order.KEY ? Order.NONE : commitsState(handling) ? Order.SHARD : drawn;
    boolean alone = handling == Handling.SINGLE || handling == Handling.WORKER;
    Dedup dedup = alone && random.nextInt(3) > 0 ? Dedup.KEY : Dedup.OFF;
    boolean care = handling != Handling.AT_MOST_ONCE && random.nextInt(4) == 0;
    Limit goes =
        batches && limit.ofKeys()
            ? Limit.NONE
            : limit.with(dedup == Dedup.OFF ? order : Order.SHARD);
    return new Kind(
        Mode.SHARDED, order, earliest, tag, pattern, handling, dedup, goes, false, care);
  }

  public boolean keepsOrder() {
    boolean leavesOut = dedup != Dedup.OFF || limit.drops();
    return mode != Mode.LEVEL && order != Order.NONE && !leavesOut;
  }

  /** Whether what was finished comes again only after a crash or at somebody's request. */
  boolean repeatsNothing() {
    return limit == Limit.NONE && !isHeldUp();
  }

  /** Whether what keeps failing holds up a release, below what is finished already. */
  private boolean isHeldUp() {
    return order != Order.SHARD && (mode == Mode.BROADCAST || keepsState() || publishes());
  }

  /** Whether what has not begun is not committed. */
  boolean commitsInOrder() {
    boolean keepsPlaces = mode == Mode.LEVEL || mode != Mode.BROADCAST && order == Order.SHARD;
    return keepsPlaces && !atMostOnce();
  }

  Rate rate() {
    return limit.ofKeys() ? KEY_RATE : RATE;
  }

  public boolean keepsState() {
    return handling == Handling.STATE || commitsState();
  }

  /** Whether they give their state with each message. */
  public boolean commitsState() {
    return commitsState(handling);
  }

  private static boolean commitsState(Handling handling) {
    return handling == Handling.EXACT_STATE || handling == Handling.COMMITTED_STATE;
  }

  /** Whether they give their state to the next owner. */
  public boolean givesState() {
    return handling == Handling.STATE || handling == Handling.EXACT_STATE;
  }

  public boolean publishes() {
    return handling == Handling.OUTPUTS || handling == Handling.EXACT_OUTPUTS;
  }

  public boolean atMostOnce() {
    return handling == Handling.AT_MOST_ONCE;
  }

  /** Whether a message that fails is tried again. */
  public boolean triesAgain() {
    return mode != Mode.BROADCAST && !atMostOnce();
  }

  /** How often a message is tried that fails always. */
  public int attempts() {
    return 1 + RETRY_DELAYS_MILLIS.size();
  }

  public boolean takes(String messageTag) {
    return tag == null || tag.equals(messageTag);
  }

  /** Whether members may consume over HTTP. */
  public boolean goesOverHttp() {
    return (mode == Mode.SHARDED || mode == Mode.LEVEL)
        && handling == Handling.SINGLE
        && dedup == Dedup.OFF
        && limit == Limit.NONE
        && !push
        && !care;
  }

  /** What a session over HTTP is opened with. */
  JsonObject session(String member, List<String> topics) {
    JsonObject json =
        new JsonObject()
            .put("topics", new JsonArray(topics))
            .put("member", member)
            .put("mode", word(mode))
            .put("from", earliest ? "earliest" : "latest")
            .put("retryDelaysMillis", new JsonArray(RETRY_DELAYS_MILLIS))
            .put("expiresMs", 5_000);
    if (mode == Mode.SHARDED) {
      json.put("order", word(order));
    }
    if (mode == Mode.LEVEL) {
      json.put("range", RANGE);
    }
    return tag == null ? json : json.put("filter", new JsonArray().add(filter()));
  }

  private String filter() {
    return "header:" + TAG + "=" + tag;
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** The settings that are in effect with it, for the matrix. */
  public List<String> settings() {
    List<String> settings = new ArrayList<>();
    settings.add("mode " + word(mode));
    if (mode == Mode.SHARDED) {
      settings.add("order " + word(order));
    }
    settings.add(earliest ? "start earliest" : "start latest");
    settings.add("handler " + word(handling));
    if (tag != null) {
      settings.add("filter");
    }
    if (pattern) {
      settings.add("pattern");
    }
    if (dedup != Dedup.OFF) {
      settings.add("dedup");
    }
    if (limit != Limit.NONE) {
      settings.add("limit " + word(limit));
    }
    if (push) {
      settings.add("push");
    }
    if (care) {
      settings.add("care");
    }
    return settings;
  }

  public ConsumerOptions options(String group, String member, List<String> topics) {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup(group)
            .setMember(member)
            .setTopics(topics)
            .setMode(mode)
            .setStart(earliest ? StartAt.EARLIEST : StartAt.LATEST)
            .setHeartbeatMillis(250)
            .setMemberTimeoutMillis(3_000);
    if (mode == Mode.SHARDED || mode == Mode.BROADCAST) {
      options.setOrder(order);
    }
    if (mode == Mode.LEVEL) {
      options.setRange(RANGE);
    }
    if (!atMostOnce()) {
      options.setRetryDelaysMillis(RETRY_DELAYS_MILLIS);
    }
    if (tag != null) {
      options.setFilter(MessageFilter.of(filter()));
    }
    if (dedup != Dedup.OFF) {
      options.setDedup(dedup);
    }
    if (push) {
      options.setStrategy(Strategy.PUSH);
    }
    if (care) {
      options.setCrashesMax(CRASHES_MAX);
    }
    if (isHeldUp()) {
      options.setLockTimeMillis(LOCK_MILLIS);
    }
    switch (handling) {
      case BATCHES -> options.setBatchMessages(BATCH_MESSAGES);
      case WORKER -> options.setWorker(true);
      case AT_MOST_ONCE -> options.setDelivery(DeliveryPolicy.AT_MOST_ONCE);
      case EXACT_STATE, COMMITTED_STATE, EXACT_OUTPUTS ->
          options.setDelivery(DeliveryPolicy.EFFECTIVELY_ONCE);
      default -> {}
    }
    switch (limit) {
      case RATE -> options.setRate(RATE);
      case KEY_RATE -> options.setKeyRate(KEY_RATE);
      case DROP_NEWEST -> options.setKeyRate(KEY_RATE).setOverRate(OverRate.DROP_NEWEST);
      case DROP_OLDEST -> options.setKeyRate(KEY_RATE).setOverRate(OverRate.DROP_OLDEST);
      case GROUP_RATE -> options.setGroupRate(RATE);
      default -> {}
    }
    return options;
  }

  @Override
  public String toString() {
    return String.join(", ", settings());
  }
}
