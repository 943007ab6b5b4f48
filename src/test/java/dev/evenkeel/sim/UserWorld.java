package dev.evenkeel.sim;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.StickyAssignor;
import dev.evenkeel.broker.node.ClusterClock;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.dispatcher.core.TestSettings;
import dev.evenkeel.model.Content;
import dev.evenkeel.model.UserModel;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** A cluster for users who do what they like: any topics and groups, judged by the model. */
final class UserWorld extends Cluster implements Arrivals {
  /** The cluster forgets a group that has had no members for this long. */
  static final long FORGET_MILLIS = 36 * 3_600_000L;

  private static final long REBALANCE_MILLIS = 2_000;
  private static final long RETRY_MILLIS = 300;
  private static final long TEND_MILLIS = 1_000;

  /** The longest jump of time that log groups count; see {@code LogTime}. */
  private static final long LEAP_MILLIS = 100_000;

  /** Between two leaps members are heard, and leaders look at what is too old. */
  private static final long BETWEEN_LEAPS_MILLIS = 1_500;

  final UserModel model;
  private final SimDelayedMoves moves;
  private final boolean skewed;
  private boolean flies;

  /** Groups by the topic that their handlers publish to. */
  private final Map<Integer, UserModel.Group> publishers = new HashMap<>();

  private final Map<Integer, UserModel.Topic> topics = new HashMap<>();

  /** Handlers that begin before then hang until then. */
  long hangUntilMillis;

  /**
   * @param lossy messages between programs are lost, late and doubled
   */
  UserWorld(long seed, boolean lossy, Bug bug, UserModel model, boolean tracing) {
    super(new SplittableRandom(seed), bug, tracing, lossy ? Trouble.EVERYTHING : Trouble.NONE);
    this.model = model;
    skewed = random.nextBoolean();
    nodes = new SimNodes(this, false);
    brokers = new Brokers(2, this, TopicConfig.DEFAULT);
    brokers.submit(new MetaCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
    moves = new SimDelayedMoves(brokers);
    newDispatcher(0);
    time.in(TEND_MILLIS, null, null, this::tend);
  }

  @Override
  void afterEach() {}

  private void tend() {
    moves.look();
    brokers.forgetSealed();
    time.in(TEND_MILLIS, null, null, this::tend);
  }

  // ---- Time

  /** Hours pass in a moment: most of the time everybody stands still. */
  void letTimePass(long millis) {
    long end = time.now() + millis;
    flies = true;
    while (time.now() < end) {
      time.leap(Math.min(LEAP_MILLIS, end - time.now()));
      time.runUntil(time.now() + BETWEEN_LEAPS_MILLIS);
    }
    flies = false;
  }

  @Override
  public boolean flies() {
    return flies;
  }

  /** By how much handlers may get a message before its time, by true time. */
  static long earlyMillisMax() {
    return Delays.SKEW_MILLIS_MAX + ClusterClock.APART_MILLIS_MAX;
  }

  @Override
  long clockOffset() {
    return skewed ? random.nextInt(2 * Delays.SKEW_MILLIS_MAX) - Delays.SKEW_MILLIS_MAX : 0;
  }

  // ---- What the cluster asks

  @Override
  DispatcherSettings settings() {
    return TestSettings.withGroupForget(
        TestSettings.withTimes(
            DispatcherOptions.DEFAULTS,
            REBALANCE_MILLIS,
            UserGroup.MEMBER_TIMEOUT_MILLIS,
            RETRY_MILLIS),
        FORGET_MILLIS);
  }

  @Override
  Assignor assignor() {
    return new StickyAssignor();
  }

  @Override
  int strikePerMille() {
    return 0;
  }

  @Override
  void heard(Heartbeat beat) {}

  @Override
  MetaCommand asked(MetaCommand command, Machine machine) {
    return command;
  }

  /** A subscription stays when its topic goes: another one of its name may come. */
  @Override
  void forgetMissingTopics(SimConsumer consumer) {}

  @Override
  void endedUnasked(SimConsumer consumer) {
    ((UserGroup) consumer.group).group.shaken = true;
  }

  @Override
  public void taken(Lease before) {}

  @Override
  public boolean retains() {
    return true;
  }

  @Override
  public boolean delays() {
    return true;
  }

  @Override
  public boolean drops() {
    return false;
  }

  @Override
  public boolean mayDrop(Shard shard) {
    return true;
  }

  /** Users have made a topic. */
  void made(UserModel.Topic topic, TopicInfo info) {
    topics.put(info.id(), topic);
  }

  @Override
  public boolean mayDropUnread(Shard shard) {
    UserModel.Topic topic = topics.get(shard.topicId());
    return topic == null || topic.limited;
  }

  @Override
  public int retriesMax() {
    return Limits.RETRIES_MAX;
  }

  @Override
  public int level() {
    return FeatureLevel.NEWEST;
  }

  @Override
  public boolean deadly(Shard shard, long offset) {
    return true;
  }

  // ---- What the log takes

  @Override
  public Arrivals arrivals() {
    return this;
  }

  @Override
  public void taken(AppendBody.Item item, long before, long after, long told) {
    if (after > before) {
      appended(item.shard(), item.batch());
    }
  }

  @Override
  public void delayed(Batch batch) {}

  @Override
  public void delivered(Shard shard, Batch batch, long base, long clockMillis) {
    appended(shard, batch);
  }

  private void appended(Shard shard, Batch batch) {
    BatchReader reader = batch.reader(0);
    while (reader.hasNext()) {
      Message message = reader.next();
      logs.appended(shard, message.keyText(), message.timestampMillis());
    }
  }

  /** Handlers of a group publish to this topic. */
  void publishes(UserModel.Group group, TopicInfo topic) {
    publishers.put(topic.id(), group);
  }

  @Override
  public void published(Shard to, Batch batch, long told) {
    UserModel.Group group = publishers.get(to.topicId());
    BatchReader reader = batch.reader(told);
    while (reader.hasNext()) {
      long offset = reader.nextOffset();
      int id = Content.id(reader.next());
      model.published(group, id, logs.name(to), to.shard(), offset);
    }
  }
}
