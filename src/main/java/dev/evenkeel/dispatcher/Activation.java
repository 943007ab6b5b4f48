package dev.evenkeel.dispatcher;

import dev.evenkeel.assign.Assignors;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.LocalPauses;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.maps.OwnershipEntry;
import dev.evenkeel.bus.maps.RegistryEntry;
import dev.evenkeel.bus.share.HeavyWork;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.dispatcher.core.DispatcherAction;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.MoveLog;
import dev.evenkeel.dispatcher.core.StallGuard;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.util.SteadyClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One activation of the dispatcher: it reads the log, then carries out what the {@link
 * DispatcherCore} decides. Everything happens on one context; answers that come after {@link #stop}
 * are dropped.
 */
final class Activation {
  private static final Logger LOG = LoggerFactory.getLogger(Activation.class);
  private static final long START_RETRY_MILLIS = 100;
  private static final long PUSH_DELAY_MILLIS = 3;

  /**
   * The registry is a hint, and part of it may be on a node that hangs; perhaps that is why this
   * node became the dispatcher.
   */
  private static final long REGISTRY_MILLIS_MAX = 1_000;

  private static final long TALLIES_MILLIS = 1_000;

  /** About what a plan takes while it waits. */
  static final long PLAN_BYTES = 64 << 10;

  private static final int EARLY_CHANGES_MAX = 10_000;

  private final Vertx vertx;
  private final DispatcherOptions options;
  private final Brokers brokers;
  private final ClusterMember cluster;
  private final DispatcherMeters meters;
  private final SteadyClock clock = new SteadyClock();
  private final StallGuard stalls = new StallGuard();
  private final DispatcherCore core;
  private final SharedMapMirror registry;
  private final SharedMapMirror ownership;
  private final GroupLooks looks;
  private final LiveLook live;
  private final LevelGroups levels;
  private final SessionEnds sessions;
  private final MemberReports members = new MemberReports();
  private final DedupSweeper sweeper;
  private final Map<Long, Message<?>> requests = new HashMap<>();

  /** The pauses that members heard of last, by group; without groups that have none. */
  private final Map<String, Set<Pause>> toldPauses = new HashMap<>();

  private final List<LeaseChange> early = new ArrayList<>();
  private long nextRequest;
  private long reconcileAtMillis;
  private long talliesAtMillis;
  private boolean ready;
  private boolean stopped;
  private boolean pushSet;

  /** Groups that members have joined or left since {@link LevelGroups#sync} was called. */
  private final Set<String> membersChanged = new HashSet<>();

  /** When the core is to be woken, or {@link Long#MAX_VALUE}. */
  private long wakeMillis = Long.MAX_VALUE;

  /** Why it has not begun yet, as logged last. */
  private String waitingFor;

  Activation(
      Vertx vertx,
      Context context,
      DispatcherOptions options,
      Brokers brokers,
      ClusterMember cluster,
      DispatcherMeters meters,
      LevelGroups levels,
      SessionEnds sessions,
      long term,
      long revision,
      BooleanSupplier alone) {
    this.vertx = vertx;
    this.options = options;
    this.brokers = brokers;
    this.cluster = cluster;
    this.meters = meters;
    AssignorTable assignors = new AssignorTable(Assignors.all(), meters.plans::increment);
    this.core =
        new DispatcherCore(
            options.settings(),
            assignors::named,
            assignors.names(),
            term,
            revision,
            cluster.members());
    core.aloneIf(alone);
    core.weigh(Shares.of(vertx)::weight);
    this.looks = new GroupLooks(vertx, context, this);
    this.live = new LiveLook(vertx, this, clock);
    this.levels = levels;
    this.sessions = sessions;
    levels.activate(core, (group, instance) -> run(core.appoint(group, instance, clock.millis())));
    this.sweeper = new DedupSweeper(cluster, context, sessions, meters);
    this.registry = new SharedMapMirror(cluster.registry(), context);
    this.ownership = new SharedMapMirror(cluster.ownership(), context);
  }

  /** Begins to read the log; {@link #ready()} when that is done. */
  void start() {
    attempt(clock.millis() + options.get(DispatcherOptions.START_MILLIS_MAX));
  }

  private void attempt(long patientUntilMillis) {
    if (stopped) {
      return;
    }
    Future<ClusterView> view = brokers.view();
    Future<List<GroupInfo>> groups = view.compose(v -> brokers.groups());
    Future<List<GroupLease>> groupLeases = groups.compose(g -> brokers.groupLeases());
    Future<List<MoveRecord>> moves = groupLeases.compose(g -> brokers.moves());
    // Leases after moves: moves that are not recorded show in the leases.
    Future<Brokers.Shards> shards = moves.compose(m -> brokers.shards(null));
    Future<Map<String, JsonObject>> entries =
        shards.compose(
            s ->
                cluster
                    .registry()
                    .all()
                    .timeout(REGISTRY_MILLIS_MAX, TimeUnit.MILLISECONDS)
                    .otherwise(Map.of()));
    entries.onComplete(
        result -> {
          if (stopped) {
            return;
          }
          boolean enough =
              result.succeeded()
                  && (shards.result().complete() || clock.millis() >= patientUntilMillis);
          if (enough) {
            core.groupLeasesRead(groupLeases.result(), clock.millis());
            core.recall(moves.result());
            begin(view.result(), groups.result(), shards.result(), entries.result());
          } else {
            logWaiting(
                result.failed() ? result.cause().getMessage() : "a data group has no leader");
            vertx.setTimer(START_RETRY_MILLIS, timer -> attempt(patientUntilMillis));
          }
        });
  }

  private void logWaiting(String reason) {
    if (!reason.equals(waitingFor)) {
      waitingFor = reason;
      LOG.info("the dispatcher cannot begin yet: {}", reason);
    }
  }

  private void begin(
      ClusterView view,
      List<GroupInfo> groups,
      Brokers.Shards shards,
      Map<String, JsonObject> entries) {
    long nowMillis = clock.millis();
    Set<String> known = new HashSet<>();
    groups.forEach(group -> known.add(group.name()));
    List<UnheardMember> unheard = new ArrayList<>();
    entries.forEach(
        (key, entry) -> {
          UnheardMember run = Registrations.unheard(key, entry, nowMillis);
          if (run != null && known.contains(run.group())) {
            unheard.add(run);
            registry.adopt(key, entry);
          }
        });
    // Whoever knows only a part of the groups takes the leases of the others for left over.
    List<DispatcherAction> first =
        core.recover(topics(view), groups, shards.statuses(), unheard, nowMillis);
    ready = true;
    LOG.info(
        "active dispatcher of term {}: {} groups, {} recorded moves, {} members by the registry",
        core.term(),
        groups.size(),
        core.moves().recent(null, MoveLog.MAX).size(),
        unheard.size());
    run(first);
    early.forEach(change -> run(core.leaseChanged(change, clock.millis())));
    early.clear();
    clusterChanged();
    // Those that ended while there was no dispatcher, or not this one.
    sessions.recent().forEach(this::sessionReported);
  }

  boolean ready() {
    return ready && !stopped;
  }

  long term() {
    return core.term();
  }

  long revision() {
    return core.revision();
  }

  // ---- Inputs

  void heartbeat(Message<?> message, Heartbeat beat) {
    if (beat.leaving()) {
      members.observe(core);
      members.leaving(beat);
    }
    if (beat.clusterMember() != null && core.hasLeft(beat.clusterMember())) {
      sessionHeard(beat.clusterMember());
    }
    run(core.heartbeat(request(message), beat, clock.millis()));
  }

  /** Ends a member as if it had timed out. Returns whether there was one of that name. */
  boolean expire(String group, String member) {
    boolean there = core.find(group) != null && core.find(group).members().live(member) != null;
    if (there) {
      run(core.expire(group, member, clock.millis()));
    }
    return there;
  }

  private List<TopicInfo> topics(ClusterView view) {
    core.featureLevel(view.featureLevel());
    return view.topics();
  }

  /** The number that the core knows the request by. */
  private long request(Message<?> message) {
    requests.put(nextRequest, message);
    return nextRequest++;
  }

  /** Resets a group on some shards; {@code message} is answered with the result of each. */
  void reset(Message<?> message, String group, List<Shard> shards, StartAt to, boolean force) {
    run(core.reset(request(message), group, shards, to, force, clock.millis()));
  }

  /** Forgets a group, or a topic of it if not null; {@code message} is answered with nothing. */
  void forget(Message<?> message, String group, String topic, String leaver) {
    run(core.forget(request(message), group, topic, leaver, clock.millis()));
  }

  private JsonArray resetReport(DispatcherAction.ResetDone done) {
    JsonArray report = new JsonArray();
    done.leases()
        .forEach(
            (shard, lease) ->
                report.add(
                    new JsonObject()
                        .put("topic", core.topics().name(shard.topicId()))
                        .put("shard", shard.shard())
                        .put("state", lease == null ? "PENDING" : "DONE")
                        .put("waitsFor", done.waits().get(shard))
                        .put("to", lease == null ? null : (Long) lease.committed())
                        .put("epoch", lease == null ? null : (Long) lease.epoch())
                        .put(
                            "generation",
                            lease == null ? null : (Long) lease.generation().number())));
    return report;
  }

  void leaseChanged(LeaseChange change) {
    if (ready) {
      run(core.leaseChanged(change, clock.millis()));
    } else if (early.size() < EARLY_CHANGES_MAX) {
      early.add(change);
    }
  }

  void topicsChanged() {
    if (ready) {
      run(core.topicsChanged(clock.millis()));
    }
  }

  void clusterChanged() {
    if (ready) {
      run(core.clusterMembers(cluster.members(), clock.millis()));
    }
  }

  /**
   * A node has lost the last connection of a session. Its members have ended if no other node has
   * one.
   */
  void sessionReported(String session) {
    // Sessions of producers do not matter.
    if (!ready || !core.anyMemberIn(session)) {
      return;
    }
    sessions
        .ended(session)
        .onSuccess(
            ended -> {
              if (ended && !stopped) {
                run(core.sessionEnded(session, clock.millis()));
              }
            });
  }

  /**
   * A session that was taken for ended sends heartbeats. They may be late; but if a node has a
   * connection of it, it lives. That happens if a connection broke and the client did not notice.
   */
  private void sessionHeard(String session) {
    sessions
        .somewhere(session)
        .onSuccess(
            there -> {
              if (there) {
                core.sessionFound(session);
              }
            });
  }

  void tick() {
    if (!ready) {
      return;
    }
    long nowMillis = clock.millis();
    if (stalls.mayJudge(nowMillis)) {
      run(core.tick(nowMillis));
    }
    tellPauses();
    levels.sync(nowMillis);
    sweeper.tick(core, nowMillis);
    if (nowMillis >= talliesAtMillis) {
      talliesAtMillis = nowMillis + TALLIES_MILLIS;
      members.observe(core);
    }
    meters.observe(core);
    if (nowMillis >= reconcileAtMillis) {
      reconcileAtMillis = nowMillis + options.get(DispatcherOptions.REBALANCE_MILLIS);
      registry.reconcile();
      ownership.reconcile();
      sweeper.reconcile();
      // In case a change of the cluster was missed.
      clusterChanged();
    }
  }

  /**
   * What {@code report} returns after a fresh read of the leases of a group, or of all groups if
   * null.
   */
  <T> Future<T> look(String group, BiFunction<DispatcherCore, GroupReports, T> report) {
    DispatcherAction.ReadLeases read = core.look(group);
    return brokers
        .shards(group)
        .map(shards -> report.apply(core, reports(read, shards, groups(group))));
  }

  private List<GroupState> groups(String group) {
    GroupState one = group == null ? null : core.find(group);
    return one != null ? List.of(one) : group == null ? core.all() : List.of();
  }

  /**
   * Reports after a fresh read of the leases of some groups.
   *
   * @param topics numbers of the topics that these groups read, and of others that are to be read
   */
  Future<GroupReports> reports(Set<Integer> topics, List<GroupState> groups) {
    if (topics.isEmpty()) {
      return Future.succeededFuture(reports(List.of(), groups));
    }
    Set<String> names = groups.stream().map(GroupState::name).collect(Collectors.toSet());
    DispatcherAction.ReadLeases read = core.look(topics, names);
    return brokers.shards(null, topics).map(shards -> reports(read, shards, groups));
  }

  private GroupReports reports(
      DispatcherAction.ReadLeases read, Brokers.Shards shards, List<GroupState> groups) {
    run(core.answered(read, shards.statuses(), clock.millis()));
    return reports(shards.statuses(), groups);
  }

  private GroupReports reports(List<ShardStatus> statuses, List<GroupState> groups) {
    members.observe(groups);
    return new GroupReports(core, statuses, members, levels::figures, pauses(), clock.millis());
  }

  /** What is known of the groups in a scope. */
  Future<GroupsSeen> looks(GroupScope scope) {
    return looks.look(scope);
  }

  /** What a live view shows; see {@link LiveLook}. */
  Future<Buffer> live(String tag, GroupScope scope) {
    return live.answer(tag, scope);
  }

  DispatcherCore core() {
    return core;
  }

  void stop(Refusal refusal, String detail) {
    run(core.stop(refusal, detail));
    meters.observe(core);
    stopped = true;
    levels.abandon();
    registry.close();
    ownership.close();
    sweeper.close();
  }

  // ---- Actions

  private void run(List<DispatcherAction> actions) {
    if (stopped) {
      return;
    }
    List<DispatcherAction.Write> writes = new ArrayList<>();
    for (DispatcherAction action : actions) {
      if (action instanceof DispatcherAction.Write write) {
        writes.add(write);
      } else {
        run(action);
      }
    }
    brokers.joined(writes, DispatcherAction.Write::shard).forEach(this::write);
    if (!membersChanged.isEmpty() && ready) {
      List<String> changed = List.copyOf(membersChanged);
      membersChanged.clear();
      levels.sync(changed, clock.millis());
    }
    if (!pushSet && core.pushesDue()) {
      pushSet = true;
      vertx.setTimer(
          PUSH_DELAY_MILLIS,
          timer -> {
            pushSet = false;
            run(core.pushes());
          });
    }
    setWake();
  }

  private void setWake() {
    long due = core.dueMillis();
    if (due >= wakeMillis) {
      return;
    }
    wakeMillis = due;
    vertx.setTimer(
        Math.max(1, due - clock.millis()),
        timer -> {
          // Before the core runs: it may set the next timer.
          if (wakeMillis == due) {
            wakeMillis = Long.MAX_VALUE;
          }
          run(core.wake(clock.millis()));
        });
  }

  /** Every member must keep to the rate of its group, and to its pauses. */
  private Assignment told(Assignment of) {
    Assignment assignment = of.withPauses(pauses().of(of.group()));
    LocalBroker broker = LocalBroker.of(vertx);
    Quota rate =
        broker == null ? null : broker.quotas().quota(QuotaKind.GROUP_RATE, assignment.group());
    return rate == null ? assignment : assignment.withGroupRate(rate.limits());
  }

  /** Tells members of pauses at once. Those that miss it hear of them with their next heartbeat. */
  private void tellPauses() {
    for (GroupState group : core.all()) {
      Set<Pause> now = Set.copyOf(pauses().of(group.name()));
      if (!now.equals(toldPauses.getOrDefault(group.name(), Set.of()))) {
        if (now.isEmpty()) {
          toldPauses.remove(group.name());
        } else {
          toldPauses.put(group.name(), now);
        }
        run(core.pushAgain(group.name()));
      }
    }
  }

  private LocalPauses pauses() {
    LocalBroker broker = LocalBroker.of(vertx);
    return broker == null ? LocalPauses.NONE : broker.pauses();
  }

  private void run(DispatcherAction action) {
    if (action instanceof DispatcherAction.Answer a) {
      requests.remove(a.request()).reply(JsonBodies.answer(told(a.assignment()).toJson()));
    } else if (action instanceof DispatcherAction.Refuse a) {
      meters.refused(a.refusal());
      requests.remove(a.request()).reply(Frames.refusal(a.refusal(), a.detail()));
    } else if (action instanceof DispatcherAction.ResetDone a) {
      requests.remove(a.request()).reply(Frames.answer(resetReport(a).toBuffer().getBytes()));
    } else if (action instanceof DispatcherAction.Forgotten a) {
      requests.remove(a.request()).reply(JsonBodies.answer(new JsonObject()));
    } else if (action instanceof DispatcherAction.Push a) {
      vertx
          .eventBus()
          .send(
              Addresses.member(a.assignment().instance()),
              told(a.assignment()).toJson().toBuffer());
    } else if (action instanceof DispatcherAction.WriteMeta a) {
      answer(a, brokers.submitMeta(a.command()));
    } else if (action instanceof DispatcherAction.ForgetLeases a) {
      answer(a, brokers.submitEverywhere(a.command()));
    } else if (action instanceof DispatcherAction.PlanShards a) {
      // Groups take turns, as users do.
      answer(
          a, HeavyWork.of(vertx).run("group " + a.group(), PLAN_BYTES, a::plan).otherwiseEmpty());
    } else if (action instanceof DispatcherAction.ReadView a) {
      answer(a, brokers.view().map(this::topics).otherwiseEmpty());
    } else if (action instanceof DispatcherAction.ReadLeases a) {
      answer(a, brokers.shards(a.group(), a.topics()).map(Brokers.Shards::statuses));
    } else if (action instanceof DispatcherAction.ReadGroups a) {
      answer(a, brokers.groups().otherwiseEmpty());
    } else if (action instanceof DispatcherAction.Holds a) {
      levels.holds(a.group(), a.instance(), a.term());
    } else if (action instanceof DispatcherAction.ReadGroupLeases) {
      brokers
          .groupLeases()
          .otherwiseEmpty()
          .onSuccess(leases -> run(core.groupLeasesRead(leases, clock.millis())));
    } else if (action instanceof DispatcherAction.TopicsLeftOut a) {
      LOG.warn(
          "group '{}' does not read all topics that its members subscribe to: {}",
          a.group(),
          a.detail());
    } else if (action instanceof DispatcherAction.Register a) {
      membersChanged.add(a.member().beat().group());
      registry.put(
          RegistryEntry.key(a.member().beat().group(), a.member().name()),
          Registrations.of(a.member(), core.term()));
    } else if (action instanceof DispatcherAction.Unregister a) {
      membersChanged.add(a.group());
      registry.remove(RegistryEntry.key(a.group(), a.member()));
    } else if (action instanceof DispatcherAction.Ownership a) {
      int shard = a.shard().shard();
      String key = OwnershipEntry.key(a.group(), a.topic(), shard);
      if (a.lease() == null || a.lease().stage() == Lease.Stage.FINISHED) {
        ownership.remove(key);
      } else {
        ownership.put(
            key,
            OwnershipEntry.of(a.group(), a.topic(), shard, a.lease(), core.term(), clock.millis()));
      }
    } else {
      throw new AssertionError(action);
    }
  }

  private void write(List<DispatcherAction.Write> writes) {
    List<DataCommand.Step> steps = writes.stream().map(DispatcherAction.Write::step).toList();
    brokers.take(steps).onSuccess(replies -> run(core.answered(writes, replies, clock.millis())));
  }

  private <R> void answer(DispatcherAction.Request<R> request, Future<R> answer) {
    answer.onSuccess(read -> run(core.answered(request, read, clock.millis())));
  }
}
