package dev.evenkeel.sim;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.dispatcher.core.DispatcherAction;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.StallGuard;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * One activation of a dispatcher: the production core, with the simulation around it where the
 * verticle is in life. A deposed one goes on until it notices: it may write to data groups, but not
 * to meta, and it sees topics and groups as they were.
 */
final class SimDispatcher extends Actor {
  private static final long REQUEST_MILLIS = 3_000;
  private static final long TICK_MILLIS = 250;
  private static final long PUSH_DELAY_MILLIS = 3;
  private static final long PATIENCE_MILLIS = 3_000;

  final DispatcherCore core;
  private final Cluster world;
  private final boolean first;
  final SimNode node;
  private final long wallAheadMillis;
  private final Map<Long, Network.Answer<Assignment>> requests = new HashMap<>();

  /** Requests of members that close, and runs whose closing was answered: they get no more. */
  private final Map<Long, String> closings = new HashMap<>();

  /** The pauses that members heard of last, by group. */
  private final Map<String, Set<Pause>> toldPauses = new HashMap<>();

  private final ResetRequests resets;
  private final Set<String> closed = new HashSet<>();

  /** Requests to forget groups and subscriptions. */
  private final Map<Long, Network.Answer<Reply>> deletions = new HashMap<>();

  private final List<LeaseChange> early = new ArrayList<>();
  private List<TopicInfo> topicsWhenDeposed;
  private List<GroupInfo> groupsWhenDeposed;
  private List<GroupLease> groupLeasesWhenDeposed;
  private final StallGuard stalls = new StallGuard();
  private long nextRequest;
  private boolean ready;
  private boolean pushSet;

  SimDispatcher(Cluster world, long term, long revision, boolean first) {
    super("dispatcher-" + term);
    this.world = world;
    this.first = first;
    node = world.nodes.any();
    wallAheadMillis = node.machine.wallMillis() - node.machine.monotonicMillis();
    resets = new ResetRequests(world);
    core =
        new DispatcherCore(
            world.settings(),
            name -> world.assignor(),
            Set.of(world.assignor().name()),
            term,
            revision,
            world.clusterMembers());
    long patientUntil = world.time.now() + PATIENCE_MILLIS;
    world.time.in(world.random.nextInt(50), this, "begins", () -> attempt(patientUntil));
  }

  /** As the product's: the wall clock when it began, and what has passed since. */
  private long clock() {
    return node.machine.monotonicMillis() + wallAheadMillis;
  }

  private void attempt(long patientUntil) {
    if (!world.brokers.allLed() && world.time.now() < patientUntil) {
      world.time.in(100, this, null, () -> attempt(patientUntil));
      return;
    }
    List<TopicInfo> topics = topics();
    List<GroupInfo> groups = groups();
    List<GroupLease> leases = groupLeases();
    List<ShardStatus> statuses = statuses(null);
    // Reading takes a while, in which things change.
    world.time.in(
        world.random.nextInt(40), this, "has read", () -> begin(topics, groups, leases, statuses));
  }

  private void begin(
      List<TopicInfo> topics,
      List<GroupInfo> groups,
      List<GroupLease> leases,
      List<ShardStatus> statuses) {
    List<UnheardMember> ghosts = new ArrayList<>();
    Set<String> names = groups.stream().map(GroupInfo::name).collect(Collectors.toSet());
    for (UnheardMember entry : world.registry()) {
      if (names.contains(entry.group())) {
        ghosts.add(
            new UnheardMember(
                entry.group(),
                entry.name(),
                entry.instance(),
                entry.bornMillis(),
                entry.topics(),
                entry.clusterMember(),
                entry.host(),
                clock() + entry.timeoutMillis(),
                entry.timeoutMillis(),
                entry.wishes(),
                null));
      }
    }
    ready = true;
    core.featureLevel(world.bug.level());
    run(core.groupLeasesRead(leases, clock()));
    run(core.recover(topics, groups, statuses, ghosts, clock()));
    early.forEach(change -> run(core.leaseChanged(change, clock())));
    early.clear();
    clusterChanged();
    world.time.in(TICK_MILLIS, this, null, this::tick);
  }

  /** As the product: those that miss it hear of them with their next heartbeat. */
  private void tellPauses() {
    for (GroupState group : core.all()) {
      Set<Pause> now = world.brokers.pauses(group.name());
      if (!now.equals(toldPauses.getOrDefault(group.name(), Set.of()))) {
        toldPauses.put(group.name(), now);
        run(core.pushAgain(group.name()));
      }
    }
  }

  private Assignment withPauses(Assignment assignment) {
    return assignment.withPauses(world.brokers.pauses(assignment.group()));
  }

  private void tick() {
    if (stalls.mayJudge(clock())) {
      run(core.tick(clock()));
    }
    tellPauses();
    world.time.in(world.oftenMillis(TICK_MILLIS), this, null, this::tick);
  }

  // ---- Leadership

  /** Another leads meta now; this one has not noticed. */
  void depose() {
    topicsWhenDeposed = world.brokers.activeTopics();
    groupsWhenDeposed = world.brokers.groupInfos();
    groupLeasesWhenDeposed = world.brokers.groupLeases();
  }

  boolean deposed() {
    return groupsWhenDeposed != null;
  }

  /** From one moment to the next it is not there any more. */
  void crash() {
    world.time.note(() -> name + " crashes");
    gone = true;
  }

  /** It has noticed. */
  void stop() {
    if (!gone) {
      world.time.note(() -> name + " stops");
      run(core.stop(Refusal.NOT_LEADER, ""));
      gone = true;
    }
  }

  private List<TopicInfo> topics() {
    return deposed() ? topicsWhenDeposed : world.brokers.activeTopics();
  }

  private List<GroupInfo> groups() {
    return deposed() ? groupsWhenDeposed : world.brokers.groupInfos();
  }

  private List<GroupLease> groupLeases() {
    return deposed() ? groupLeasesWhenDeposed : world.brokers.groupLeases();
  }

  private List<ShardStatus> statuses(String group) {
    List<ShardStatus> statuses = world.bug.statuses(world.brokers.statuses(group), first);
    return statuses.stream().map(this::seen).toList();
  }

  private ShardStatus seen(ShardStatus status) {
    return new ShardStatus(
        status.shard(),
        status.startOffset(),
        status.endOffset(),
        status.bytes(),
        status.messagesDropped(),
        status.leases().stream().map(this::seen).toList(),
        List.of(),
        ShardStatus.Delayed.NONE);
  }

  private Lease seen(Lease lease) {
    return new Lease(
        lease.group(),
        lease.shard(),
        lease.epoch(),
        lease.owner(),
        lease.instance(),
        lease.committed(),
        lease.stateOffset(),
        lease.state(),
        lease.drain(),
        termSeen(lease.group(), lease.groupTerm()),
        lease.generation(),
        lease.ownerTimeoutMillis(),
        lease.stage(),
        lease.crashes(),
        lease.skipped());
  }

  private long termSeen(String of, long term) {
    GroupState group = core.find(of);
    return world.bug.termSeen(term, group == null ? 0 : group.term());
  }

  // ---- Inputs

  void heartbeat(Heartbeat beat, Network.Answer<Assignment> answer) {
    if (!ready) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the dispatcher is starting");
    }
    long request = nextRequest++;
    requests.put(request, answer);
    if (beat.closing()) {
      closings.put(request, beat.instance());
    }
    resets.heard(request, beat);
    run(core.heartbeat(request, beat, clock()));
  }

  void leaseChanged(LeaseChange told) {
    LeaseChange change =
        new LeaseChange(
            told.group(),
            told.shard(),
            told.epoch(),
            told.owner(),
            told.instance(),
            told.committed(),
            told.stateOffset(),
            termSeen(told.group(), told.groupTerm()),
            told.ownerTimeoutMillis(),
            told.stage(),
            told.crashes(),
            told.skipped(),
            told.forgotten());
    if (ready) {
      run(core.leaseChanged(change, clock()));
    } else {
      early.add(change);
    }
  }

  void topicsChanged() {
    if (ready) {
      run(core.topicsChanged(clock()));
    }
  }

  void clusterChanged() {
    if (ready) {
      run(core.clusterMembers(world.clusterMembers(), clock()));
    }
  }

  void sessionEnded(String session) {
    if (ready) {
      run(core.sessionEnded(session, clock()));
    }
  }

  /** Somebody wants a group to be reset on some shards. */
  void reset(
      String group,
      List<Shard> shards,
      StartAt to,
      boolean force,
      Network.Answer<Map<Shard, Lease>> answer) {
    if (!ready) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the dispatcher is starting");
    }
    long request = nextRequest++;
    boolean forced = world.bug.resetsByForce(force);
    resets.begun(request, group, shards, force, answer);
    run(core.reset(request, group, shards, to, forced, clock()));
  }

  // ---- Actions

  private void run(List<DispatcherAction> actions) {
    resets.ending(actions);
    Map<DataGroup, List<DispatcherAction.Write>> writes = new LinkedHashMap<>();
    for (DispatcherAction action : actions) {
      if (action instanceof DispatcherAction.Write write) {
        DataGroup group = world.brokers.of(write.shard());
        writes.computeIfAbsent(group, fresh -> new ArrayList<>()).add(write);
      } else {
        act(action);
      }
    }
    for (Map.Entry<DataGroup, List<DispatcherAction.Write>> each : writes.entrySet()) {
      if (!write(each.getKey(), each.getValue())) {
        return;
      }
    }
    if (!pushSet && core.pushesDue()) {
      pushSet = true;
      world.time.in(PUSH_DELAY_MILLIS, this, null, this::push);
    }
  }

  /**
   * Together, or one by one as to a node of a former version. Returns false if it dies meanwhile.
   */
  private boolean write(DataGroup group, List<DispatcherAction.Write> writes) {
    writes.forEach(write -> check(write.command()));
    if (writes.size() > 1 && world.joinsSteps()) {
      take(group, writes);
      return !world.dispatcherStrikes(this);
    }
    for (DispatcherAction.Write write : writes) {
      world.network.<Reply>call(
          this,
          null,
          "write",
          REQUEST_MILLIS,
          answer ->
              group.submit(write.step().group(), write.shard(), write.command(), null, answer),
          reply -> {
            taken(write, reply);
            run(core.answered(write, reply, clock()));
          },
          no -> run(core.answered(write, refused(no), clock())));
      if (world.dispatcherStrikes(this)) {
        return false;
      }
    }
    return true;
  }

  private void take(DataGroup group, List<DispatcherAction.Write> writes) {
    List<DataCommand.Step> steps = writes.stream().map(DispatcherAction.Write::step).toList();
    world.network.<List<Reply>>call(
        this,
        null,
        "write together",
        REQUEST_MILLIS,
        answer -> group.take(steps, answer),
        replies -> {
          times(replies.size(), i -> taken(writes.get(i), replies.get(i)));
          run(core.answered(writes, replies, clock()));
        },
        no -> {
          List<Reply> refused = Collections.nCopies(writes.size(), refused(no));
          run(core.answered(writes, refused, clock()));
        });
  }

  private void check(DataCommand command) {
    if (command instanceof DataCommand.Grant grant && closed.contains(grant.instance())) {
      throw new SimulationFailure("granted to one that is known to close: " + grant);
    }
    resets.check(command);
  }

  private void taken(DispatcherAction.Write write, Reply reply) {
    if (reply instanceof Reply.OfLease) {
      resets.taken(write.command());
    }
  }

  private void push() {
    pushSet = false;
    // Who is told first is of no meaning, but every run of a seed must do the same.
    List<DispatcherAction> pushes = new ArrayList<>(core.pushes());
    pushes.sort(Comparator.comparing(SimDispatcher::addressee));
    run(pushes);
  }

  private static String addressee(DispatcherAction push) {
    Assignment told = ((DispatcherAction.Push) push).assignment();
    return told.member() + " " + told.instance();
  }

  private void act(DispatcherAction action) {
    if (action instanceof DispatcherAction.Answer a) {
      if (closings.containsKey(a.request())) {
        closed.add(closings.remove(a.request()));
      }
      world.heard(resets.answered(a.request()));
      requests.remove(a.request()).give(withPauses(a.assignment()));
    } else if (action instanceof DispatcherAction.ResetDone a) {
      resets.done(a);
    } else if (action instanceof DispatcherAction.Refuse a && resets.refused(a)) {
      world.time.note(() -> name + " refuses a reset: " + a.detail());
    } else if (action instanceof DispatcherAction.Forgotten a) {
      deletions.remove(a.request()).give(Reply.DONE);
    } else if (action instanceof DispatcherAction.Refuse a && deletions.containsKey(a.request())) {
      world.time.note(() -> name + " refuses a deletion: " + a.detail());
      deletions.remove(a.request()).refuse(new RefusedException(a.refusal(), a.detail()));
    } else if (action instanceof DispatcherAction.Refuse a) {
      requests.remove(a.request()).refuse(new RefusedException(a.refusal(), a.detail()));
    } else if (action instanceof DispatcherAction.Push a) {
      world.push(this, withPauses(a.assignment()));
    } else if (action instanceof DispatcherAction.WriteMeta a) {
      world.network.<Reply>call(
          this,
          null,
          "write to meta",
          REQUEST_MILLIS,
          new Network.Server<>() {
            private boolean written;

            @Override
            public void handle(Network.Answer<Reply> answer) {
              if (deposed()) {
                throw new RefusedException(Refusal.NOT_LEADER, "");
              }
              // The log is on its own node: what it writes there may come late, but not again.
              if (!written) {
                written = true;
                answer.give(world.brokers.submit(world.asked(a.command(), node.machine)));
              }
            }
          },
          reply -> run(core.answered(a, reply, clock())),
          no -> run(core.answered(a, refused(no), clock())));
    } else if (action instanceof DispatcherAction.ReadLeases a) {
      world.network.<List<ShardStatus>>call(
          this,
          null,
          "read leases",
          REQUEST_MILLIS,
          answer -> answer.give(statuses(a.group())),
          statuses -> run(core.answered(a, statuses, clock())),
          no -> run(core.answered(a, null, clock())));
    } else if (action instanceof DispatcherAction.ReadView a) {
      world.network.<List<TopicInfo>>call(
          this,
          null,
          "read topics",
          REQUEST_MILLIS,
          answer -> answer.give(topics()),
          topics -> run(core.answered(a, topics, clock())),
          no -> run(core.answered(a, null, clock())));
    } else if (action instanceof DispatcherAction.ReadGroups a) {
      world.network.<List<GroupInfo>>call(
          this,
          null,
          "read groups",
          REQUEST_MILLIS,
          answer -> answer.give(groups()),
          groups -> run(core.answered(a, groups, clock())),
          no -> run(core.answered(a, null, clock())));
    } else if (action instanceof DispatcherAction.Register a) {
      world.register(this, a.member());
    } else if (action instanceof DispatcherAction.Unregister a) {
      world.unregister(this, a.group(), a.member());
    } else if (action instanceof DispatcherAction.ForgetLeases a) {
      forgetLeases(a);
    } else if (action instanceof DispatcherAction.ReadGroupLeases) {
      world.network.<List<GroupLease>>call(
          this,
          null,
          "read group leases",
          REQUEST_MILLIS,
          answer -> answer.give(groupLeases()),
          leases -> run(core.groupLeasesRead(leases, clock())),
          no -> run(core.groupLeasesRead(null, clock())));
    }
  }

  /** As the product: the highest number of all data groups, or a refusal. */
  private void forgetLeases(DispatcherAction.ForgetLeases action) {
    List<Reply> replies = new ArrayList<>();
    List<DataGroup> groups = world.brokers.groups();
    Consumer<Reply> replied =
        reply -> {
          replies.add(reply);
          if (replies.size() == groups.size()) {
            run(core.answered(action, highest(replies), clock()));
          }
        };
    for (DataGroup group : groups) {
      world.network.<Reply>call(
          this,
          null,
          "forget leases",
          REQUEST_MILLIS,
          answer -> group.forget(action.command(), answer),
          replied,
          no -> replied.accept(refused(no)));
      world.repeatLate(() -> group.forget(action.command(), Network.nobody()));
    }
  }

  private static Reply highest(List<Reply> replies) {
    long highest = 0;
    for (Reply reply : replies) {
      if (!(reply instanceof Reply.OfNumber of)) {
        return reply;
      }
      highest = Math.max(highest, of.number());
    }
    return new Reply.OfNumber(highest);
  }

  /**
   * Somebody has a group deleted, or its subscription to a topic.
   *
   * @param topic null: the whole group
   * @param leaver a member that has said that it unsubscribes, or null
   */
  void forget(String group, String topic, String leaver, Network.Answer<Reply> answer) {
    if (!ready) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the dispatcher is starting");
    }
    long request = nextRequest++;
    deletions.put(request, answer);
    run(core.forget(request, group, topic, leaver, clock()));
  }

  /** A member counts as dead, though it runs. */
  void expire(String group, String member) {
    if (ready) {
      run(core.expire(group, member, clock()));
    }
  }

  private static Reply refused(RefusedException no) {
    return Reply.refused(no.refusal(), no.getMessage());
  }
}
