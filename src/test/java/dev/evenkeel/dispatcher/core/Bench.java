package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.AverageAssignor;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** A core with a log that answers at once, and a clock to be set. */
final class Bench {
  static final String GROUP = "g";

  final ModelLog log;

  /** Without a window for joins: what follows from each is seen at once. */
  DispatcherSettings settings = TestSettings.atOnce();

  DispatcherCore core;
  long now = 1_000_000;
  long term = 1;
  Set<String> clusterMembers = Set.of("c1", "c2");

  /** The feature level of the cluster; 0: leases begin with their first owner. */
  int level;

  final Map<String, Assignor> assignors = new TreeMap<>();
  int plans;

  /** What the core wanted, in order, since {@link #clear()}. */
  final List<DispatcherAction> actions = new ArrayList<>();

  final Map<Long, Object> answers = new HashMap<>();
  final Map<String, Assignment> told = new TreeMap<>();

  /** Runs that do nothing about what they are told. */
  final Set<String> ignoring = new TreeSet<>();

  /** What the log refuses next, instead of applying; it always takes active time. */
  Refusal refuseNext;

  /** The log takes the next request, and nobody learns of it. */
  boolean loseNextAnswer;

  /** The dispatcher dies at its request of this number, counted down; -1: it lives. */
  int diesAtWrite = -1;

  /** Whether the log still takes the request at which the dispatcher dies. */
  boolean lastWriteArrives;

  private boolean dead;

  /** What the log refuses commands of the history with, or null. */
  Refusal refuseMoves;

  /** No group is recorded that is not recorded yet. */
  boolean groupsFull;

  /** Dispatchers do not learn for how long there were any. */
  boolean loseTime;

  /** No request to drop leases reaches the data groups. */
  boolean loseForgets;

  /** No request that new leases have epochs above some number reaches the data groups. */
  boolean loseRaises;

  /** Requests to forget leases are applied, and answered by {@link #answerNextForget}. */
  boolean holdForgets;

  private final Deque<Runnable> heldForgets = new ArrayDeque<>();

  /** Plans of large groups are answered by {@link #answerNextPlan}. */
  boolean holdPlans;

  final Deque<DispatcherAction.PlanShards> heldPlans = new ArrayDeque<>();

  /** Reads of the topics are answered by {@link #answerNextView}. */
  boolean holdViews;

  private final Deque<DispatcherAction.ReadView> heldViews = new ArrayDeque<>();

  /** Commands about shards are applied, but nobody learns of it. */
  boolean loseAnswers;

  /** Commands about that shard are refused: no node leads its log group. */
  int leaderless = -1;

  /** Commands about that shard are applied, and answered by {@link #answerLate}. */
  int lateShard = -1;

  private final List<Runnable> late = new ArrayList<>();
  private long nextRequest;

  Bench(ModelLog log) {
    this.log = log;
    assignors.put("average", counting(new AverageAssignor()));
    assignors.put("sticky", counting(new AverageAssignor()));
  }

  Assignor counting(Assignor assignor) {
    return new Assignor() {
      @Override
      public String name() {
        return assignor.name();
      }

      @Override
      public Map<Shard, String> assign(Snapshot snapshot) {
        plans++;
        return assignor.assign(snapshot);
      }
    };
  }

  static Bench withShards(int shards) {
    Bench bench = new Bench(new ModelLog().topic(1, "t", shards));
    bench.activate(List.of());
    return bench;
  }

  void activate(List<UnheardMember> ghosts) {
    dead = false;
    log.metaTerm = term;
    core =
        new DispatcherCore(settings, assignors::get, assignors.keySet(), term++, 0, clusterMembers);
    core.featureLevel(level);
    core.recall(List.copyOf(log.moves.values()));
    run(core.groupLeasesRead(List.copyOf(log.groupLeases.values()), now));
    run(core.recover(log.topics, log.groups(), log.statuses(null), ghosts, now));
  }

  /** A run that asks for nothing out of the ordinary, as the registry has it. */
  static UnheardMember ghost(
      String group,
      String name,
      String instance,
      Long bornMillis,
      List<String> topics,
      String clusterMember,
      String host,
      long untilMillis) {
    return new UnheardMember(
        group,
        name,
        instance,
        bornMillis,
        topics,
        clusterMember,
        host,
        untilMillis,
        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
        Heartbeat.Wishes.NONE,
        null);
  }

  /** A dispatcher of which every group uses the average assignor, by whatever name. */
  static DispatcherCore core(DispatcherSettings settings, long term, Set<String> clusterMembers) {
    Assignor assignor = new AverageAssignor();
    return new DispatcherCore(
        settings, name -> assignor, Set.of(assignor.name()), term, 0, clusterMembers);
  }

  Heartbeat beat(String member) {
    return beat(member, member + "1", 100);
  }

  Heartbeat beat(String member, String instance, long born) {
    return Heartbeats.beat(GROUP, member, instance, born);
  }

  static Heartbeat leaving(Heartbeat beat) {
    return Heartbeats.with(beat, "leaving", true);
  }

  static Heartbeat in(Heartbeat beat, String mode, List<String> topics, String clusterMember) {
    GroupPolicy policy = GroupPolicy.of(mode);
    return Heartbeats.with(
        beat, "policy", policy, "topics", topics, "clusterMember", clusterMember);
  }

  /** The answer: an Assignment, an Action.Refuse, or null while there is none. */
  Object send(Heartbeat beat) {
    if (dead) {
      return null;
    }
    long request = nextRequest++;
    run(core.heartbeat(request, marked(beat), now));
    return answers.get(request);
  }

  /** Several, one after another. */
  Bench send(Heartbeat first, Heartbeat second, Heartbeat... more) {
    send(first);
    return after(second).after(more);
  }

  /** Sends these, whatever is answered. */
  Bench after(Heartbeat... beats) {
    Stream.of(beats).forEach(this::send);
    return this;
  }

  /** A member names what it was told that it owns, unless the test has it name something. */
  private Heartbeat marked(Heartbeat beat) {
    Assignment last = told.get(beat.instance());
    if (last == null || !beat.marks().isEmpty() || ignoring.contains(beat.instance())) {
      return beat;
    }
    return beat.withMarks(
        last.shards().stream()
            .map(
                owned ->
                    new ShardProgress(
                        owned.shard(), owned.epoch(), null, null, null, null, null, null, null))
            .toList());
  }

  /** Asks to reset the group; {@link #answer} has what came of it. */
  long reset(boolean force, long offset, int... shards) {
    long request = nextRequest++;
    List<Shard> named = java.util.Arrays.stream(shards).mapToObj(i -> new Shard(1, i)).toList();
    run(core.reset(request, GROUP, named, StartAt.offset(offset), force, now));
    return request;
  }

  /** Asks to forget the group, or a topic of it; {@link #answer} has what came of it. */
  long forget(String topic, String leaver) {
    long request = nextRequest++;
    run(core.forget(request, GROUP, topic, leaver, now));
    return request;
  }

  /** Of a heartbeat or a reset; null while there is none. */
  Object answer(long request) {
    return answers.get(request);
  }

  Refusal refusal(Heartbeat beat) {
    return ((DispatcherAction.Refuse) send(beat)).refusal();
  }

  /** Time passes in ticks, with heartbeats of these members every second. */
  Bench pass(long millis, Heartbeat... beating) {
    for (long end = now + millis; now < end; ) {
      now += 250;
      if (now % 1_000 == 0) {
        for (Heartbeat beat : beating) {
          send(beat);
        }
      }
      if (!dead) {
        run(core.tick(now));
      }
    }
    return this;
  }

  Bench release(int... shards) {
    for (int shard : shards) {
      Lease lease = lease(shard);
      Reply reply =
          log.apply(new DataCommand.Release(GROUP, lease.shard(), lease.epoch(), 0, -1, null));
      if (!dead) {
        run(core.leaseChanged(LeaseChange.of(((Reply.OfLease) reply).lease()), now));
      }
    }
    return this;
  }

  Lease lease(int shard) {
    return log.lease(GROUP, new Shard(1, shard));
  }

  /** Owners of topic t's shards, in order: "aab-". */
  String owners() {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < log.topics.get(0).shards(); i++) {
      Lease lease = lease(i);
      out.append(lease == null || !lease.owned() ? "-" : lease.owner());
    }
    return out.toString();
  }

  /** Checks who owns the shards, as in {@link #owners}. */
  Bench owned(String owners) {
    assertThat(owners()).isEqualTo(owners);
    return this;
  }

  /** Checks why the last move was. */
  void by(Cause cause) {
    assertThat(core.moves().recent(null, 1).get(0).reason()).isEqualTo(cause.word());
  }

  Set<String> writes() {
    Set<String> writes = new TreeSet<>();
    for (DispatcherAction action : actions) {
      if (action instanceof DispatcherAction.Write write) {
        writes.add(write.command().getClass().getSimpleName() + " " + write.shard().shard());
      }
    }
    return writes;
  }

  /** But for those of the history, and active time. */
  List<MetaCommand> metaWrites() {
    List<MetaCommand> writes = new ArrayList<>();
    for (DispatcherAction action : actions) {
      if (action instanceof DispatcherAction.WriteMeta write
          && !(write.command() instanceof MetaCommand.RecordMoves)
          && !(write.command() instanceof MetaCommand.AddActiveTime)) {
        writes.add(write.command());
      }
    }
    return writes;
  }

  /**
   * @param fails whether no thread was free for it
   */
  void answerNextPlan(boolean fails) {
    DispatcherAction.PlanShards plan = heldPlans.remove();
    run(core.answered(plan, fails ? null : plan.plan(), now));
  }

  void clear() {
    actions.clear();
  }

  Bench run(List<DispatcherAction> wanted) {
    for (DispatcherAction action : wanted) {
      if (dead) {
        return this;
      }
      actions.add(action);
      act(action);
    }
    List<DispatcherAction> pushes = dead ? List.of() : core.pushes();
    if (!pushes.isEmpty() || !dead && core.pushesDue()) {
      run(pushes);
    }
    return this;
  }

  private void act(DispatcherAction action) {
    if (action instanceof DispatcherAction.Answer a) {
      answers.put(a.request(), a.assignment());
      tell(a.assignment());
    } else if (action instanceof DispatcherAction.Refuse a) {
      answers.put(a.request(), a);
    } else if (action instanceof DispatcherAction.ResetDone a) {
      answers.put(a.request(), a);
    } else if (action instanceof DispatcherAction.Forgotten a) {
      answers.put(a.request(), a);
    } else if (action instanceof DispatcherAction.Push a) {
      tell(a.assignment());
    } else if (action instanceof DispatcherAction.Write a) {
      write(a);
    } else if (action instanceof DispatcherAction.WriteMeta a) {
      boolean no = refuseMoves != null && a.command() instanceof MetaCommand.RecordMoves;
      Reply reply;
      if (groupsFull && isFresh(a.command())) {
        reply = Reply.refused(Refusal.TOO_LARGE, "too many groups");
      } else if (no) {
        reply = Reply.refused(refuseMoves, "as told");
      } else if (a.command() instanceof MetaCommand.AddActiveTime) {
        reply =
            loseTime
                ? Reply.refused(Refusal.INDETERMINATE, "as told")
                : log.apply(a.command(), now);
      } else {
        reply = refuse(() -> log.apply(a.command(), now));
      }
      run(core.answered(a, reply, now));
    } else if (action instanceof DispatcherAction.ForgetLeases a) {
      boolean raise = a.command().topicId() == DataCommand.ForgetLeases.NO_TOPIC;
      boolean lost = raise ? loseRaises : loseForgets;
      Reply reply = lost ? Reply.refused(Refusal.UNAVAILABLE, "as told") : log.apply(a.command());
      if (holdForgets) {
        heldForgets.add(() -> run(core.answered(a, reply, now)));
      } else {
        run(core.answered(a, reply, now));
      }
    } else if (action instanceof DispatcherAction.ReadView a) {
      if (holdViews) {
        heldViews.add(a);
      } else {
        core.featureLevel(level);
        run(core.answered(a, List.copyOf(log.topics), now));
      }
    } else if (action instanceof DispatcherAction.PlanShards a) {
      if (holdPlans) {
        heldPlans.add(a);
      } else {
        run(core.answered(a, a.plan(), now));
      }
    } else if (action instanceof DispatcherAction.ReadLeases a) {
      run(core.answered(a, log.statuses(a.group()), now));
    } else if (action instanceof DispatcherAction.ReadGroups a) {
      run(core.answered(a, log.groups(), now));
    } else if (action instanceof DispatcherAction.ReadGroupLeases) {
      run(core.groupLeasesRead(List.copyOf(log.groupLeases.values()), now));
    }
  }

  private void write(DispatcherAction.Write write) {
    if (write.shard().shard() == leaderless) {
      run(core.answered(write, Reply.refused(Refusal.NOT_LEADER, "as told"), now));
      return;
    }
    if (diesAtWrite >= 0 && diesAtWrite-- == 0) {
      if (lastWriteArrives) {
        log.apply(write.command());
      }
      dead = true;
      return;
    }
    Reply reply = refuse(() -> log.apply(write.command()));
    if (loseNextAnswer || loseAnswers) {
      loseNextAnswer = false;
      reply = Reply.refused(Refusal.INDETERMINATE, "no answer");
    }
    Reply answer = reply;
    if (write.shard().shard() == lateShard) {
      late.add(() -> run(core.answered(write, answer, now)));
    } else {
      run(core.answered(write, answer, now));
    }
  }

  void answerLate() {
    lateShard = -1;
    late.forEach(Runnable::run);
    late.clear();
  }

  /** Answers one read of the topics with what is there now. */
  void answerNextView() {
    run(core.answered(heldViews.remove(), List.copyOf(log.topics), now));
  }

  void answerNextForget() {
    heldForgets.remove().run();
  }

  /** Whether the dispatcher has died; {@link #activate} makes another. */
  boolean dead() {
    return dead;
  }

  private boolean isFresh(MetaCommand command) {
    MetaCommand plain = command instanceof MetaCommand.ByUser by ? by.command() : command;
    return plain instanceof MetaCommand.DeclareGroup c
        && log.groups().stream().noneMatch(group -> group.name().equals(c.name()));
  }

  private Reply refuse(java.util.function.Supplier<Reply> apply) {
    if (refuseNext == null) {
      return apply.get();
    }
    Reply refused = Reply.refused(refuseNext, "as told");
    refuseNext = null;
    return refused;
  }

  private void tell(Assignment assignment) {
    Assignment last = told.get(assignment.instance());
    if (last == null || assignment.laterThan(last.term(), last.revision())) {
      told.put(assignment.instance(), assignment);
    }
  }
}
