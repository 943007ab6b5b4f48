package dev.evenkeel.sim;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A small cluster in virtual time: brokers, dispatchers, consumers, and the maps that Hazelcast
 * would hold. Who extends it says which groups there are, and what goes wrong.
 */
abstract class Cluster implements DataGroup.Surroundings {
  /** What may go wrong. */
  enum Trouble {
    /** Nothing: members come and go in good order. */
    NONE,
    /** One dispatcher at a time, that keeps its word: an owner that times out has stopped. */
    ONE_DISPATCHER,
    EVERYTHING
  }

  /** In 2023: clocks that are set back by days stay after 1970. */
  static final long START = 1_700_000_000_000L;

  /** While time flies, what is done often is done so much more rarely. */
  private static final long FLYING_MILLIS = 1_000;

  /** A suspension need not be noticed if it is shorter. */
  private static final long UNNOTICED_MILLIS_MAX = 100;

  final Timeline time;
  final SplittableRandom random;
  final Network network;
  final Bug bug;
  final Trouble trouble;
  final ShardLogs logs;
  SimNodes nodes;
  Brokers brokers;
  final List<SimDispatcher> dispatchers = new ArrayList<>();

  /** Every one that ever was. */
  final List<SimDispatcher> all = new ArrayList<>();

  /** Every run that has not ended. */
  final List<SimConsumer> consumers = new ArrayList<>();

  final Map<String, Ledger> ledgers = new TreeMap<>();

  /** Nobody becomes the dispatcher before, unless the faults are over. */
  private long noDispatcherUntil;

  private final TreeSet<String> places = new TreeSet<>();
  private final Map<String, UnheardMember> registry = new TreeMap<>();
  private final Map<String, Machine> machines = new TreeMap<>();
  private boolean faulty;
  private long nextTerm = 1;
  private int nextInstance = 1;
  private int nextPlace = 1;

  Cluster(SplittableRandom random, Bug bug, boolean tracing, Trouble trouble) {
    this.random = random;
    this.bug = bug;
    this.trouble = trouble;
    faulty = trouble != Trouble.NONE;
    time = new Timeline(START, tracing, this::afterEach);
    logs = new ShardLogs(time::now);
    network = new Network(time, random, faulty);
  }

  /** Called after each event. */
  abstract void afterEach();

  abstract DispatcherSettings settings();

  abstract Assignor assignor();

  /** Clocks of machines that are about right differ by so much. */
  abstract long clockOffset();

  /** How many of a thousand steps are the last of whoever takes them. */
  abstract int strikePerMille();

  /** A dispatcher has answered a heartbeat. */
  abstract void heard(Heartbeat beat);

  /** A dispatcher has a command written to the meta log; returns what is written. */
  abstract MetaCommand asked(MetaCommand command, Machine machine);

  /** Some topics that a member reads are gone, and the member has heard so. */
  abstract void forgetMissingTopics(SimConsumer consumer);

  /** A member has ended although nobody closed it. */
  abstract void endedUnasked(SimConsumer consumer);

  @Override
  public boolean faulty() {
    return faulty;
  }

  @Override
  public SimNodes nodes() {
    return nodes;
  }

  @Override
  public Map<String, Ledger> ledgers() {
    return ledgers;
  }

  /** How long something waits that is done often. */
  long oftenMillis(long usualMillis) {
    return flies() ? Math.max(FLYING_MILLIS, usualMillis) : usualMillis;
  }

  @Override
  public boolean isPaused(String group, Shard shard) {
    return brokers.isPaused(group, shard);
  }

  @Override
  public boolean reads(String group, Shard shard) {
    return brokers.reads(group, shard);
  }

  /** Whether somebody crashes right after what it has just done. */
  boolean strikes() {
    return faulty && random.nextInt(1_000) < strikePerMille();
  }

  /** Whether the dispatcher has crashed right after what it has just done. */
  boolean dispatcherStrikes(SimDispatcher dispatcher) {
    if (trouble != Trouble.EVERYTHING || !faulty || random.nextInt(200) >= strikePerMille()) {
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

  List<Machine> machines() {
    return new ArrayList<>(machines.values());
  }

  /** A run of a member begins. */
  SimConsumer join(SimGroup group, String member, List<String> topics) {
    SimConsumer consumer = new SimConsumer(this, group, member, "i" + nextInstance++, topics);
    consumers.add(consumer);
    return consumer;
  }

  /** A consumer has ended: it was closed, or the dispatcher ended it. */
  void ended(SimConsumer consumer) {
    consumers.remove(consumer);
    time.in(random.nextInt(50), null, null, () -> placeGone(consumer.place));
    if (!consumer.closing) {
      endedUnasked(consumer);
    }
  }

  void crashed(SimConsumer consumer) {
    consumers.remove(consumer);
    int luck = random.nextInt(10);
    long noticed = luck < 4 ? random.nextInt(100) : luck < 8 ? random.nextInt(6_000) : 20_000;
    time.in(noticed, null, null, () -> placeGone(consumer.place));
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
    brokers.metaLed(nextTerm);
    nextTerm++;
    time.note(() -> dispatcher + " is the dispatcher");
    dispatchers.add(dispatcher);
    all.add(dispatcher);
  }

  /**
   * Another node becomes the dispatcher.
   *
   * @param noticedMillis when the former one notices
   */
  void replaceDispatcher(long noticedMillis) {
    SimDispatcher old = newest();
    newDispatcher(0);
    if (old != null) {
      time.in(
          noticedMillis,
          old,
          null,
          () -> {
            old.stop();
            dispatchers.remove(old);
          });
    }
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

  void topicsChanged() {
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
            beat.wishes(),
            null);
    network.message(
        from, null, null, () -> registry.put(beat.group() + "/" + beat.member(), entry));
  }

  void unregister(SimDispatcher from, String group, String member) {
    network.message(from, null, null, () -> registry.remove(group + "/" + member));
  }

  // ---- The end of all faults

  void calm() {
    time.note(() -> "---- no faults from here on");
    faulty = false;
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
  }
}
