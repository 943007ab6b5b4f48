package dev.evenkeel.sim;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.Pending;
import dev.evenkeel.dispatcher.core.Cause;
import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.TestSettings;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A small cluster in virtual time: brokers, dispatchers, consumers, a producer, and the maps that
 * Hazelcast would hold. The seed decides everything.
 */
final class World implements DataGroup.Surroundings {
  /** What may go wrong. */
  enum Trouble {
    /** Nothing: members come and go in good order. */
    NONE,
    /** One dispatcher at a time, that keeps its word: an owner that times out has stopped. */
    ONE_DISPATCHER,
    EVERYTHING
  }

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

  /** In 2023: clocks that are set back by days stay after 1970. */
  static final long START = 1_700_000_000_000L;

  static final long MEMBER_TIMEOUT_MILLIS = 3_000;
  static final long LOCK_TIME_MILLIS = 4_000;

  /** A suspension need not be noticed if it is shorter. */
  private static final long UNNOTICED_MILLIS_MAX = 100;

  /** How often a message is tried. */
  static final int ATTEMPTS = 3;

  final Timeline time;
  final SplittableRandom random;
  final Ledger ledger;
  final Network network;
  final SimNodes nodes;
  final Brokers brokers;
  final Bug bug;
  final Setup setup;
  final Trouble trouble;
  final Features features;

  /** When members were heard. */
  final Absence absence;

  /** What handlers publish; null: nothing. */
  final Outputs outputs;

  /** Delayed messages; null: there are none. */
  final Delays delays;

  final List<SimDispatcher> dispatchers = new ArrayList<>();

  private final List<SimDispatcher> all = new ArrayList<>();

  /** Leases as they were before they were granted to others while their owners could start work. */
  private final List<Lease> takenEarly = new ArrayList<>();

  /** Every run that has not ended. */
  final List<SimConsumer> consumers = new ArrayList<>();

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
  final GroupPolicy policy;

  /** Nobody becomes the dispatcher before, unless the faults are over. */
  private long noDispatcherUntil;

  private final TreeSet<String> places = new TreeSet<>();
  private final Map<String, UnheardMember> registry = new TreeMap<>();
  private final Map<Begun, BitSet> begun = new HashMap<>();
  private final Map<String, Machine> machines = new TreeMap<>();

  /** The machine that messages come from. */
  final Machine producer;

  private boolean faulty;
  private long nextTerm = 1;
  private int nextInstance = 1;
  private int nextPlace = 1;

  World(long seed, Setup setup, boolean tracing) {
    random = new SplittableRandom(seed);
    this.setup = setup;
    bug = setup.bug();
    features = Features.of(seed, setup);
    int kind = random.nextInt(10);
    trouble = trouble(kind);
    faulty = trouble != Trouble.NONE;
    time = new Timeline(START, tracing, this::afterEach);
    ledger = new Ledger(time::now);
    delays = features.delays() ? new Delays(ledger) : null;
    absence = new Absence(this);
    network = new Network(time, random, faulty);
    order = ConsumerOptions.Order.values()[random.nextInt(3)];
    keepsStatePercent = List.of(0, 100, 100, 70).get(random.nextInt(4));
    skewed = faulty && random.nextInt(3) == 0;
    producer = new Machine(time, 0, clockOffset());
    nodes = new SimNodes(this, random.nextBoolean());
    slowPercent = random.nextInt(15);
    hangPercent = faulty ? random.nextInt(3) : 0;
    failPercent = faulty ? random.nextInt(12) : 0;
    poisonPercent = faulty && random.nextInt(2) == 0 ? random.nextInt(6) : 0;
    strikePerMille = faulty && random.nextInt(3) > 0 ? random.nextInt(6) : 0;
    members = 2 + random.nextInt(4);
    int slower = random.nextInt(4_000);
    rebalanceMillis = 1_000 + (features.focus() == Focus.GROUPS_COME_AGAIN ? slower / 8 : slower);
    policy = GroupPolicy.of(singleton() ? GroupPolicy.MODE_SINGLETON : GroupPolicy.MODE_SHARDED);
    int messages = 40 + random.nextInt(160);
    int dataGroups = 1 + random.nextInt(2);
    boolean needsTwo = features.focus() == Focus.TOPICS_COME_AGAIN;
    brokers =
        new Brokers(
            needsTwo ? 2 : dataGroups, time, random, ledger, bug, this, this::topicsChanged);
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

  private Trouble trouble(int kind) {
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
  private void afterEach() {
    for (SimConsumer consumer : consumers) {
      if (consumer.core.running() < 0 || Pending.messages(consumer.core) < 0) {
        throw new SimulationFailure("a consumer counts wrong: " + consumer);
      }
    }
  }

  @Override
  public boolean faulty() {
    return faulty;
  }

  @Override
  public int retriesMax() {
    return features.retriesMax();
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

  DispatcherSettings settings() {
    return TestSettings.withGroupForget(
        TestSettings.withTimes(
            DispatcherSettings.DEFAULT, rebalanceMillis, MEMBER_TIMEOUT_MILLIS, 300),
        forgetMillis());
  }

  /** How long a group is kept that has no members. */
  long forgetMillis() {
    return features.focus() == Focus.GROUPS_COME_AGAIN ? 20_000 : 40_000;
  }

  Assignor assignor() {
    return setup.assignor();
  }

  ConsumerOptions.Order order() {
    return order;
  }

  int members() {
    return members;
  }

  boolean keepsState() {
    return random.nextInt(100) < keepsStatePercent;
  }

  /** The shards from which keys come to this one. */
  List<Shard> parents(Shard shard) {
    TopicInfo topic = brokers.topic(shard.topicId());
    return topic == null
        ? List.of()
        : topic.parents(shard.shard()).stream().map(each -> new Shard(topic.id(), each)).toList();
  }

  /** Whether every member keeps state, and each state is exact. */
  boolean statesAreAllThere() {
    return keepsStatePercent == 100 && statesAreExact();
  }

  /** Whether what a state says must be what was committed with it. */
  boolean statesAreExact() {
    return order == ConsumerOptions.Order.SHARD || setup.parallelReleasesAreExact();
  }

  /** Clocks of machines that are about right differ by so much. */
  long clockOffset() {
    return skewed ? random.nextInt(2 * Delays.SKEW_MILLIS_MAX) - Delays.SKEW_MILLIS_MAX : 0;
  }

  @Override
  public SimNodes nodes() {
    return nodes;
  }

  /** The time as far as the cluster can know it. */
  long knownMillis() {
    return !features.clocks() || nodes.knowTheTime() ? time.now() : Long.MAX_VALUE / 2;
  }

  /** Whether wall clocks may jump now. */
  boolean clocksJump() {
    return faulty && features.clocks();
  }

  @Override
  public Delays delays() {
    return delays;
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

  ConsumerOptions consumerOptions() {
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
    if (faulty && luck < 30 + hangPercent) {
      return Pace.HANGS;
    }
    return faulty && luck < 30 + hangPercent + slowPercent ? Pace.SLOW : Pace.QUICK;
  }

  /** Whether a message fails whatever happens: it is decided by what it is. */
  boolean poison(Shard shard, long offset) {
    long weight = Tally.weight(shard.topicId(), shard.shard(), offset);
    return !oddMembers() && Long.remainderUnsigned(weight, 100) < poisonPercent;
  }

  @Override
  public boolean deadly() {
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
    return faulty && deadly(shard, offset);
  }

  /**
   * Some keep a state and some do not: what those without have moved out of the window comes to
   * those with state beside what they handle again. So nothing fails there; see ADR 12.
   */
  private boolean oddMembers() {
    return keepsStatePercent % 100 > 0 && order != ConsumerOptions.Order.SHARD;
  }

  boolean fails() {
    return !oddMembers() && faulty && random.nextInt(100) < failPercent;
  }

  /** Whether somebody crashes right after what it has just done. */
  boolean strikes() {
    return faulty && random.nextInt(1_000) < strikePerMille;
  }

  /** Whether the dispatcher has crashed right after what it has just done. */
  boolean dispatcherStrikes(SimDispatcher dispatcher) {
    if (trouble != Trouble.EVERYTHING || !faulty || random.nextInt(200) >= strikePerMille) {
      return false;
    }
    dispatcherCrashes(dispatcher);
    return true;
  }

  /** Whether steps of shards travel together; not to a node of a former version. */
  boolean joinsSteps() {
    return random.nextInt(4) > 0;
  }

  void dispatcherCrashes(SimDispatcher dispatcher) {
    if (!dispatcher.gone) {
      dispatcher.crash();
      boolean last = dispatcher == newest();
      time.in(
          Math.max(300 + random.nextInt(2_500), noDispatcherUntil - time.now()),
          null,
          null,
          () -> {
            if (last && dispatcher == newest()) {
              newDispatcher(0);
            }
            dispatchers.remove(dispatcher);
          });
    }
  }

  /** Keeps every dispatcher from becoming active for {@code millis}. */
  void noDispatcher(long millis) {
    noDispatcherUntil = time.now() + millis;
    List.copyOf(dispatchers).forEach(this::dispatcherCrashes);
  }

  /** Carries a request once more, after its sender has ceased to wait for it. */
  void repeatLate(Runnable arrival) {
    if (faulty && random.nextInt(3) == 0) {
      Runnable unlessRefused =
          () -> {
            try {
              arrival.run();
            } catch (RefusedException no) {
              time.note(() -> "a repeated request is refused: " + no);
            }
          };
      time.in(random.nextInt(15_000), null, "a request that was held up", unlessRefused);
    }
  }

  // ---- Consumers

  /** A member comes back on its machine. */
  Machine machine(String member) {
    return machines.computeIfAbsent(
        member, any -> new Machine(time, random.nextInt(1_000_000), clockOffset()));
  }

  /** Somebody sets the clock of a machine that is no node. */
  void setAnyClock() {
    List<Machine> all = new ArrayList<>(machines.values());
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
    consumers.add(new SimConsumer(this, member, "i" + nextInstance++, List.copyOf(names)));
  }

  /** A consumer has ended in good order, or because it was told so. */
  void ended(SimConsumer consumer) {
    consumers.remove(consumer);
    time.in(random.nextInt(50), null, null, () -> placeGone(consumer.place));
    if (!consumer.closing) {
      // Somebody looks after it, as systemd would.
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
  }

  void crashed(SimConsumer consumer) {
    consumers.remove(consumer);
    int luck = random.nextInt(10);
    long noticed = luck < 4 ? random.nextInt(100) : luck < 8 ? random.nextInt(6_000) : 20_000;
    time.in(noticed, null, null, () -> placeGone(consumer.place));
  }

  long runs(String member) {
    return consumers.stream().filter(consumer -> consumer.member.equals(member)).count();
  }

  void forgetMissingTopics(SimConsumer consumer) {
    List<String> names = new ArrayList<>();
    brokers.inputTopics().forEach(topic -> names.add(topic.name()));
    List<String> kept = consumer.topics.stream().filter(names::contains).toList();
    if (!names.isEmpty()) {
      consumer.topics = singleton() ? names : kept.isEmpty() ? List.of(names.get(0)) : kept;
      time.note(() -> consumer + " reads " + consumer.topics);
    }
  }

  /** No handler starts when the last answered heartbeat was sent too long ago. */
  void checkMayStart(SimConsumer consumer, boolean linkUp, boolean answered, long agoMillis) {
    if (!linkUp || !answered || agoMillis > consumer.silentMillisMax() + UNNOTICED_MILLIS_MAX) {
      throw new SimulationFailure(
          consumer
              + " starts a handler "
              + agoMillis
              + " ms after the sending of its last answered heartbeat, connected: "
              + linkUp);
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
    boolean mixed = keepsStatePercent > 0 && keepsStatePercent < 100;
    boolean once = trouble == Trouble.NONE && !mixed && statesAreExact();
    if (once && offsets.get((int) offset)) {
      throw new SimulationFailure("a graceful move redelivers offset " + offset + " of " + shard);
    }
    offsets.set((int) offset);
  }

  // ---- The cluster's members

  /** Where consumers run now: members of the cluster and sessions. */
  Collection<String> places() {
    return places;
  }

  /** The members of the cluster alone. */
  Set<String> clusterMembers() {
    return places.stream().filter(place -> !isSession(place)).collect(Collectors.toSet());
  }

  private static boolean isSession(String place) {
    return place.startsWith("s");
  }

  /** Members of the cluster and sessions take turns. */
  String newPlace(String instance) {
    String place = (nextPlace % 2 == 0 ? "c" : "s") + nextPlace++ + "-" + instance;
    places.add(place);
    tellOf(place);
    return place;
  }

  void placeGone(String place) {
    if (places.remove(place)) {
      tellOf(place);
    }
  }

  private void tellOf(String place) {
    for (SimDispatcher dispatcher : dispatchers) {
      time.in(
          random.nextInt(60),
          dispatcher,
          "hears of " + place,
          () -> {
            if (!isSession(place)) {
              dispatcher.clusterChanged();
            } else if (!places.contains(place)) {
              dispatcher.sessionEnded(place);
            }
          });
    }
  }

  // ---- Dispatchers

  /**
   * A node becomes the dispatcher; one that was it before is not any more, which it need not have
   * noticed.
   *
   * @param revision where it goes on to number assignments
   */
  void newDispatcher(long revision) {
    dispatchers.stream().filter(d -> !d.deposed()).forEach(SimDispatcher::depose);
    SimDispatcher dispatcher =
        new SimDispatcher(this, nextTerm, revision, dispatchers.isEmpty() && nextTerm == 1);
    nextTerm++;
    time.note(() -> dispatcher + " is the dispatcher");
    dispatchers.add(dispatcher);
    all.add(dispatcher);
  }

  /** The same node again, in the same term: its leadership was in doubt for a moment. */
  void sameDispatcherAgain() {
    SimDispatcher former = newest();
    if (former == null || former.deposed()) {
      return;
    }
    former.stop();
    dispatchers.remove(former);
    nextTerm--;
    newDispatcher(former.core.revision());
  }

  SimDispatcher newest() {
    return dispatchers.isEmpty() ? null : dispatchers.get(dispatchers.size() - 1);
  }

  /** Whom a consumer takes for the dispatcher; null: it knows none. */
  SimDispatcher dispatcherFor() {
    if (dispatchers.isEmpty()) {
      return null;
    }
    boolean right = !faulty || random.nextInt(4) > 0;
    SimDispatcher chosen = right ? newest() : dispatchers.get(random.nextInt(dispatchers.size()));
    return chosen.gone ? null : chosen;
  }

  void push(SimDispatcher from, Assignment assignment) {
    for (SimConsumer consumer : consumers) {
      if (consumer.instance.equals(assignment.instance())) {
        network.message(from, consumer, "pushed assignment", () -> consumer.told(assignment));
      }
    }
  }

  @Override
  public void leaseChanged(LeaseChange change) {
    for (SimDispatcher dispatcher : List.copyOf(dispatchers)) {
      network.message(null, dispatcher, "lease change", () -> dispatcher.leaseChanged(change));
    }
  }

  private void topicsChanged() {
    for (SimDispatcher dispatcher : List.copyOf(dispatchers)) {
      network.message(null, dispatcher, "topics changed", dispatcher::topicsChanged);
    }
  }

  // ---- The registry

  Collection<UnheardMember> registry() {
    return List.copyOf(registry.values());
  }

  void clearMaps() {
    time.note(() -> "the maps are cleared");
    registry.clear();
  }

  void register(SimDispatcher from, Member member) {
    Heartbeat beat = member.beat();
    UnheardMember entry =
        new UnheardMember(
            beat.group(),
            beat.member(),
            beat.instance(),
            beat.bornMillis(),
            beat.topics(),
            beat.clusterMember(),
            beat.host(),
            0,
            beat.memberTimeoutMillis(),
            Heartbeat.Wishes.NONE);
    network.message(from, null, null, () -> registry.put(beat.member(), entry));
  }

  void unregister(SimDispatcher from, String member) {
    network.message(from, null, null, () -> registry.remove(member));
  }

  // ---- The end of all faults

  void calm() {
    time.note(() -> "---- no faults from here on");
    faulty = false;
    checkTaken();
    network.calm();
    nodes.calm();
    SimDispatcher last = newest();
    if (last == null || last.gone) {
      dispatchers.clear();
      newDispatcher(0);
      last = newest();
    }
    for (SimDispatcher dispatcher : List.copyOf(dispatchers)) {
      dispatcher.pausedUntil = 0;
      if (dispatcher != last) {
        dispatcher.stop();
        dispatchers.remove(dispatcher);
      }
    }
    machines.values().forEach(machine -> machine.suspend(time.now()));
    for (SimConsumer consumer : List.copyOf(consumers)) {
      consumer.pausedUntil = 0;
      consumer.cutOff = false;
      if (!places.contains(consumer.place)) {
        consumer.link(false);
        consumer.rejoined();
      }
      consumer.link(true);
      consumer.handler.wake();
      forgetMissingTopics(consumer);
    }
    if (consumers.stream().allMatch(consumer -> consumer.closing)) {
      join("last");
    }
  }
}
