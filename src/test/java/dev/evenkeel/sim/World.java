package dev.evenkeel.sim;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.Pending;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.core.Cause;
import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.dispatcher.core.TestSettings;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A cluster with one group that is judged, a producer, and whatever the seed decides to go wrong.
 */
final class World extends Cluster implements SimGroup, Arrivals {
  /** How soon a handler ends. */
  enum Pace {
    AT_ONCE,
    QUICK,
    SLOW,
    HANGS
  }

  /** Which messages were begun of a shard since a reset. */
  private record Begun(Shard shard, int generation) {}

  static final String GROUP = "g";

  /** A group that has consumed whatever there is, without members that a dispatcher knows. */
  static final String QUICK = "quick";

  /** A group that consumes nothing. */
  static final String STOPPED = "stopped";

  private static final List<String> TOPICS = List.of("t", "u", "v");

  static final long MEMBER_TIMEOUT_MILLIS = 3_000;
  static final long LOCK_TIME_MILLIS = 4_000;

  /** How often a message is tried. */
  static final int ATTEMPTS = 3;

  final Ledger ledger;

  /** Messages that are not delayed. */
  final Sent sent;

  final Setup setup;
  final Features features;

  /** When members were heard. */
  final Absence absence;

  /** What handlers publish; null: nothing. */
  final Outputs outputs;

  /** Delayed messages; null: there are none. */
  final Delays delays;

  /** Leases as they were before they were granted to others while their owners could start work. */
  private final List<Lease> takenEarly = new ArrayList<>();

  private final ConsumerOptions.Order order;
  private final int keepsStatePercent;
  private final boolean skewed;
  private final int slowPercent;
  private final int hangPercent;
  private final int failPercent;
  private final int poisonPercent;
  private final int strikePerMille;
  private final int members;
  private final long rebalanceMillis;

  /** What members want the group to be. */
  private final GroupPolicy policy;

  private final Map<Begun, BitSet> begun = new HashMap<>();

  /** The machine that messages come from. */
  final Machine producer;

  World(long seed, Setup setup, boolean tracing) {
    this(Features.of(seed, setup), setup, tracing, new SplittableRandom(seed));
  }

  private World(Features features, Setup setup, boolean tracing, SplittableRandom random) {
    super(random, setup.bug(), tracing, trouble(features, random.nextInt(10)));
    this.setup = setup;
    this.features = features;
    ledger = new Ledger(logs, true);
    ledgers.put(GROUP, ledger);
    sent = new Sent(logs);
    delays = features.delays() ? new Delays(logs) : null;
    absence = new Absence(this);
    order = ConsumerOptions.Order.values()[random.nextInt(3)];
    keepsStatePercent = List.of(0, 100, 100, 70).get(random.nextInt(4));
    if (isMixed()) {
      ledger.expectMixedMembers();
    }
    skewed = faulty() && random.nextInt(3) == 0;
    producer = new Machine(time, 0, clockOffset());
    nodes = new SimNodes(this, random.nextBoolean());
    slowPercent = random.nextInt(15);
    hangPercent = faulty() ? random.nextInt(3) : 0;
    failPercent = faulty() ? random.nextInt(12) : 0;
    poisonPercent = faulty() && random.nextInt(2) == 0 ? random.nextInt(6) : 0;
    strikePerMille = faulty() && random.nextInt(3) > 0 ? random.nextInt(6) : 0;
    members = 2 + random.nextInt(4);
    int slower = random.nextInt(4_000);
    rebalanceMillis = 1_000 + (features.focus() == Focus.GROUPS_COME_AGAIN ? slower / 8 : slower);
    policy = GroupPolicy.of(singleton() ? GroupPolicy.MODE_SINGLETON : GroupPolicy.MODE_SHARDED);
    int messages = 40 + random.nextInt(160);
    int dataGroups = 1 + random.nextInt(2);
    boolean needsTwo = features.focus() == Focus.TOPICS_COME_AGAIN;
    long retention = drops() ? 1 : TopicConfig.DEFAULT.retentionMillis();
    TopicConfig config = new TopicConfig(retention, DataGroup.AGE_MILLIS_MAX, -1);
    brokers = new Brokers(needsTwo ? 2 : dataGroups, this, config);
    if (drops()) {
      brokers.declare(QUICK, TOPICS);
      if (random.nextBoolean()) {
        brokers.declare(STOPPED, TOPICS);
      }
    }
    for (String topic : TOPICS.subList(0, 1 + random.nextInt(3))) {
      brokers.create(topic, 1 + random.nextInt(4));
    }
    outputs = features.publishes() ? outputs() : null;
    ledger.expect(outputs);
    time.note(
        () ->
            trouble
                + ", "
                + features
                + ", order "
                + order
                + ", "
                + members
                + " members, topics "
                + brokers.inputTopics());
    newDispatcher(0);
    for (int i = 0; i < members; i++) {
      String member = "m" + i;
      time.in(
          random.nextInt(4_000),
          null,
          null,
          () -> {
            if (runs(member) == 0) {
              join(member);
            }
          });
    }
    new SimProducer(this, producer, messages);
  }

  private static Trouble trouble(Features features, int kind) {
    return switch (features.focus()) {
      case NONE -> kind < 2 ? Trouble.NONE : kind < 4 ? Trouble.ONE_DISPATCHER : Trouble.EVERYTHING;
      case LOST_REGISTRY -> Trouble.ONE_DISPATCHER;
      default -> Trouble.EVERYTHING;
    };
  }

  private Outputs outputs() {
    brokers.create(Brokers.OUTPUTS, 2);
    TopicInfo topic = brokers.topic(Brokers.OUTPUTS);
    return new Outputs(ledger, topic.id(), topic.shards());
  }

  /** Whatever follows from one event is checked as it happens: by the {@link Ledger} mostly. */
  @Override
  void afterEach() {
    for (SimConsumer consumer : consumers) {
      if (consumer.core.running() < 0 || Pending.messages(consumer.core) < 0) {
        throw new SimulationFailure("a consumer counts wrong: " + consumer);
      }
    }
  }

  @Override
  public int retriesMax() {
    return features.retriesMax();
  }

  @Override
  public Arrivals arrivals() {
    return this;
  }

  @Override
  public boolean flies() {
    return false;
  }

  @Override
  public boolean retains() {
    return faulty();
  }

  @Override
  public boolean mayDrop(Shard shard) {
    return drops() && !reads(STOPPED, shard);
  }

  @Override
  public boolean mayDropUnread(Shard shard) {
    return false;
  }

  @Override
  public int level() {
    return deadly() ? FeatureLevel.CRASHES : 0;
  }

  @Override
  public boolean drops() {
    return features.focus() == Focus.CONSUMED_IS_DROPPED;
  }

  @Override
  public boolean reads(String group, Shard shard) {
    return brokers.reads(group, shard);
  }

  // ---- What the seed has decided

  @Override
  DispatcherSettings settings() {
    return TestSettings.withGroupForget(
        TestSettings.withTimes(
            DispatcherOptions.DEFAULTS, rebalanceMillis, MEMBER_TIMEOUT_MILLIS, 300),
        forgetMillis());
  }

  /** How long a group is kept that has no members. */
  long forgetMillis() {
    return features.focus() == Focus.GROUPS_COME_AGAIN ? 20_000 : 40_000;
  }

  @Override
  Assignor assignor() {
    return setup.assignor();
  }

  ConsumerOptions.Order order() {
    return order;
  }

  int members() {
    return members;
  }

  @Override
  public boolean keepsState() {
    return random.nextInt(100) < keepsStatePercent;
  }

  /** The shards from which keys come to this one. */
  List<Shard> parents(Shard shard) {
    TopicInfo topic = brokers.topic(shard.topicId());
    return topic == null
        ? List.of()
        : topic.parents(shard.shard()).stream().map(each -> new Shard(topic.id(), each)).toList();
  }

  /** Whether some members keep state, and others do not. */
  private boolean isMixed() {
    return keepsStatePercent > 0 && keepsStatePercent < 100;
  }

  /** Whether every member keeps state, and each state is exact. */
  boolean statesAreAllThere() {
    return keepsStatePercent == 100 && statesAreExact();
  }

  /** Whether what a state says must be what was committed with it. */
  boolean statesAreExact() {
    return order == ConsumerOptions.Order.SHARD || setup.parallelReleasesAreExact();
  }

  @Override
  long clockOffset() {
    return skewed ? random.nextInt(2 * Delays.SKEW_MILLIS_MAX) - Delays.SKEW_MILLIS_MAX : 0;
  }

  /** The time as far as the cluster can know it. */
  long knownMillis() {
    return !features.clocks() || nodes.knowTheTime() ? time.now() : Long.MAX_VALUE / 2;
  }

  /** Whether wall clocks may jump now. */
  boolean clocksJump() {
    return faulty() && features.clocks();
  }

  @Override
  public boolean delays() {
    return delays != null;
  }

  /** A third of all members ask for a longer one than is usual. */
  private long memberTimeoutMillis() {
    if (features.focus() == Focus.LOST_REGISTRY) {
      return MEMBER_TIMEOUT_MILLIS + random.nextInt(9_000);
    }
    return MEMBER_TIMEOUT_MILLIS + (random.nextInt(3) == 0 ? random.nextInt(6_000) : 0);
  }

  /** Whether one member leads, and has all shards. */
  boolean singleton() {
    return features.focus() == Focus.LEADERS_FOLLOW;
  }

  @Override
  public ConsumerOptions options() {
    return new ConsumerOptions()
        .setGroup(GROUP)
        .setMode(singleton() ? ConsumerOptions.Mode.SINGLETON : ConsumerOptions.Mode.SHARDED)
        .setOrder(order)
        .setParallel(1 + random.nextInt(20))
        .setRetryDelaysMillis(List.of(100L + random.nextInt(400), 500L + random.nextInt(500)))
        .setPendingMessagesMax(1 + random.nextInt(100))
        .setHeartbeatMillis(300 + random.nextInt(700))
        .setMemberTimeoutMillis(memberTimeoutMillis())
        .setLockTimeMillis(LOCK_TIME_MILLIS)
        .setFetchWaitMillis(500 + random.nextInt(8_000))
        // Where everything goes wrong, members die again and again during messages that do not
        // kill them.
        .setCrashesMax(deadly() ? 5 : 0)
        .setCommitDelayMillis(1 + random.nextInt(500))
        .setCommitMillis(50 + random.nextInt(2_000))
        .setCommitMessages(1 + random.nextInt(50));
  }

  Pace pace() {
    int luck = random.nextInt(100);
    if (luck < 30) {
      return Pace.AT_ONCE;
    }
    if (faulty() && luck < 30 + hangPercent) {
      return Pace.HANGS;
    }
    return faulty() && luck < 30 + hangPercent + slowPercent ? Pace.SLOW : Pace.QUICK;
  }

  /** Whether a message fails whatever happens: it is decided by what it is. */
  boolean poison(Shard shard, long offset) {
    long weight = Tally.weight(shard.topicId(), shard.shard(), offset);
    return !oddMembers() && Long.remainderUnsigned(weight, 100) < poisonPercent;
  }

  private boolean deadly() {
    return features.focus() == Focus.DEADLY_MESSAGES;
  }

  /** Whether a message ends the process that handles it: it is decided by what it is. */
  @Override
  public boolean deadly(Shard shard, long offset) {
    long weight = Tally.weight(shard.topicId(), shard.shard(), offset) >>> 20;
    return deadly() && !oddMembers() && Long.remainderUnsigned(weight, 100) < 3;
  }

  /** A message ends the process of a consumer. Somebody starts it again. */
  void dies(SimConsumer consumer) {
    consumer.crash();
    time.in(
        random.nextInt(2_000),
        null,
        consumer.member + " is started again",
        () -> join(consumer.member));
  }

  /** Whether deadly messages end processes now. */
  boolean kills(Shard shard, long offset) {
    return faulty() && deadly(shard, offset);
  }

  /**
   * Some keep a state and some do not: what those without have moved out of the window comes to
   * those with state beside what they handle again. So nothing fails there; see ADR 12.
   */
  private boolean oddMembers() {
    return keepsStatePercent % 100 > 0 && order != ConsumerOptions.Order.SHARD;
  }

  boolean fails() {
    return !oddMembers() && faulty() && random.nextInt(100) < failPercent;
  }

  // ---- Consumers

  /** Somebody sets the clock of a machine that is no node. */
  void setAnyClock() {
    List<Machine> all = machines();
    all.add(producer);
    Machine machine = all.get(random.nextInt(all.size()));
    long ahead = machine.wallAheadMillis() + SimNodes.jump(random);
    machine.set(random.nextInt(3) == 0 ? clockOffset() : ahead);
  }

  void join(String member) {
    List<String> names = new ArrayList<>();
    brokers.inputTopics().forEach(topic -> names.add(topic.name()));
    if (names.isEmpty()) {
      time.in(500, null, member + " joins", () -> join(member));
      return;
    }
    if (names.size() > 1 && !singleton() && random.nextInt(3) == 0) {
      names.remove(random.nextInt(names.size()));
    }
    time.note(() -> member + " joins");
    join(this, member, List.copyOf(names));
  }

  /** Somebody looks after it, as systemd would. */
  @Override
  void endedUnasked(SimConsumer consumer) {
    time.in(
        500 + random.nextInt(2_000),
        null,
        consumer.member + " is started again",
        () -> {
          if (runs(consumer.member) == 0) {
            join(consumer.member);
          }
        });
  }

  long runs(String member) {
    return consumers.stream().filter(consumer -> consumer.member.equals(member)).count();
  }

  @Override
  void forgetMissingTopics(SimConsumer consumer) {
    List<String> names = new ArrayList<>();
    brokers.inputTopics().forEach(topic -> names.add(topic.name()));
    List<String> kept = consumer.topics.stream().filter(names::contains).toList();
    if (!names.isEmpty()) {
      consumer.topics = singleton() ? names : kept.isEmpty() ? List.of(names.get(0)) : kept;
      time.note(() -> consumer + " reads " + consumer.topics);
    }
  }

  /** Nobody who was silent for the member timeout starts anything after its shard was given on. */
  void checkOverlap(SimConsumer consumer, Shard shard, long epoch) {
    if (trouble != Trouble.ONE_DISPATCHER || !ledger.isPast(shard, epoch)) {
      return;
    }
    for (MoveRecord move : moves()) {
      if (isNext(move, shard, epoch) && Cause.TIMEOUT.word().equals(move.reason())) {
        throw new SimulationFailure(consumer + " begins something after it timed out: " + move);
      }
    }
  }

  @Override
  public void taken(Lease before) {
    for (SimConsumer consumer : consumers) {
      boolean owner = consumer.instance.equals(before.instance());
      if (trouble == Trouble.ONE_DISPATCHER
          && owner
          && consumer.mayStart(before.shard(), before.epoch())) {
        takenEarly.add(before);
      }
    }
  }

  /** Nobody who may still start handlers loses a shard because it was silent. */
  private void checkTaken() {
    for (Lease each : takenEarly) {
      for (MoveRecord move : moves()) {
        if (isNext(move, each.shard(), each.epoch())
            && Cause.TIMEOUT.word().equals(move.reason())) {
          throw new SimulationFailure(each + " was taken from one who may start handlers: " + move);
        }
      }
    }
  }

  private boolean isNext(MoveRecord move, Shard shard, long epoch) {
    return move.epoch() == epoch + 1
        && move.shard().equals(shard)
        && topicName(shard).equals(move.topic());
  }

  /** Of all dispatchers that ever were. */
  private List<MoveRecord> moves() {
    List<MoveRecord> moves = new ArrayList<>();
    all.forEach(each -> moves.addAll(each.core.moves().recent(GROUP, Integer.MAX_VALUE)));
    return moves;
  }

  private String topicName(Shard shard) {
    return brokers.activeTopics().stream()
        .filter(topic -> topic.id() == shard.topicId())
        .map(TopicInfo::name)
        .findFirst()
        .orElse("");
  }

  /** A handler begins. Where members only come and go in good order, none sees a message again. */
  void begun(Shard shard, long offset, long epoch) {
    Begun since = new Begun(shard, ledger.generation(shard, epoch));
    BitSet offsets = begun.computeIfAbsent(since, any -> new BitSet());
    // One that keeps a state begins where the last state stands, however far others have come.
    boolean once = trouble == Trouble.NONE && !isMixed() && statesAreExact();
    if (once && offsets.get((int) offset)) {
      throw new SimulationFailure("a graceful move redelivers offset " + offset + " of " + shard);
    }
    offsets.set((int) offset);
  }

  // ---- The end of all faults

  @Override
  void calm() {
    super.calm();
    checkTaken();
    if (consumers.stream().allMatch(consumer -> consumer.closing)) {
      join("last");
    }
  }

  // ---- What the cluster asks

  @Override
  int strikePerMille() {
    return strikePerMille;
  }

  @Override
  void heard(Heartbeat beat) {
    absence.heard(beat);
  }

  @Override
  MetaCommand asked(MetaCommand command, Machine machine) {
    return absence.asked(command, machine);
  }

  @Override
  public void taken(AppendBody.Item item, long before, long after, long told) {
    sent.taken(item, before, after, told);
  }

  @Override
  public void delayed(Batch batch) {
    delays.taken(batch);
  }

  @Override
  public void delivered(Shard shard, Batch batch, long base, long clockMillis) {
    delays.delivered(shard, batch, base, clockMillis);
  }

  @Override
  public void published(Shard to, Batch batch, long told) {
    ledger.published(to, batch);
  }

  // ---- What members ask

  @Override
  public String name() {
    return GROUP;
  }

  @Override
  public GroupPolicy policy() {
    return policy;
  }

  @Override
  public StartAt start() {
    return StartAt.EARLIEST;
  }

  @Override
  public Ledger ledger() {
    return ledger;
  }

  @Override
  public boolean publishes() {
    return features.publishes();
  }

  @Override
  public long publisher(Shard shard) {
    return outputs.publisher(shard);
  }

  @Override
  public SimHandling handling(SimConsumer consumer, boolean keepsState) {
    return new SimHandler(this, consumer, keepsState);
  }
}
