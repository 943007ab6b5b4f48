package dev.evenkeel.sim;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.ElapsedTime;
import dev.evenkeel.client.internal.consume.HandlerKind;
import dev.evenkeel.client.internal.consume.HeartbeatPlan;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.util.Backoff;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * One run of a member: the production core and its plan of heartbeats, with the simulation around
 * them where the shell is in life.
 */
final class SimConsumer extends Actor {
  private static final long HEARTBEAT_TIMEOUT_MILLIS = 1_000;

  final String member;
  final String instance;
  final ConsumerCore core;
  final SimHandling handler;
  final SimGroup group;
  private final Cluster world;
  private final ConsumerOptions options;
  private final HeartbeatPlan plan;
  private final SplittableRandom random;
  final Machine machine;
  private final ElapsedTime elapsed;
  private final long bornMillis;
  final SimCalls calls;
  List<String> topics;

  /** What it has subscribed to, by the last answer that said so: its group reads all of it. */
  List<String> reads = List.of();

  String place;

  /** At which epochs it has released shards. */
  private final Set<Long> released = new HashSet<>();

  /** What it was told last to own. */
  Assignment told;

  boolean closing;
  boolean linkUp = true;
  private boolean leaving;
  private boolean everAnswered;
  private boolean turning;
  private long closeDeadline;
  private long lastAnsweredSent;

  /** The same in virtual time, which no machine misses. */
  private long lastAnsweredSentTruly;

  SimConsumer(Cluster world, SimGroup group, String member, String instance, List<String> topics) {
    super(member + "(" + instance + ")");
    this.world = world;
    this.group = group;
    this.member = member;
    this.instance = instance;
    this.topics = topics;
    random = new SplittableRandom(world.random.nextLong());
    options = group.options().setMember(member).setTopics(topics);
    machine = world.machine(member);
    elapsed = new ElapsedTime(nanos(machine.monotonicMillis()), machine.wallMillis());
    pausedUntil = machine.suspendedUntil();
    bornMillis = machine.wallMillis();
    boolean keepsState = group.keepsState();
    boolean publishes = group.publishes();
    HandlerKind kind = new HandlerKind(keepsState, group.givesState(), publishes, false);
    core = new ConsumerCore(options, instance, kind, random);
    core.shardGroups(ShardGroups.formed(world.brokers.groups().size()));
    handler = group.handling(this, keepsState);
    calls = new SimCalls(world, this);
    plan = new HeartbeatPlan(options.getHeartbeatMillis(), clock());
    place = world.newPlace(instance);
    world.time.in(0, this, "starts", this::tick);
  }

  private static long nanos(long millis) {
    return millis * 1_000_000;
  }

  /** The time by its own machine, as the product counts it. */
  long clock() {
    long monotonic = nanos(machine.monotonicMillis());
    long now =
        world.bug.noticesSuspensions()
            ? elapsed.nanos(monotonic, machine.wallMillis())
            : elapsed.nanos(monotonic);
    return now / 1_000_000;
  }

  private void tick() {
    long now = clock();
    if (world.bug.feelsAlive() && everAnswered) {
      core.heartbeatAnswered(now);
    }
    core.tick(now);
    if (linkUp && !leaving) {
      beatIfDue();
    }
    turn();
    world.time.in(world.oftenMillis(ConsumerCore.TICK_MILLIS), this, null, this::tick);
  }

  // ---- Heartbeats

  private void beatIfDue() {
    long sent = clock();
    long sentTruly = world.time.now();
    if (!plan.due(sent)) {
      return;
    }
    plan.sent(sent);
    List<String> sentTopics = topics;
    ask(
        heartbeat(false),
        assignment -> {
          if (!assignment.opening()) {
            reads = sentTopics;
          }
          plan.answered(clock());
          lastAnsweredSent = everAnswered ? Math.max(lastAnsweredSent, sent) : sent;
          lastAnsweredSentTruly = Math.max(lastAnsweredSentTruly, sentTruly);
          everAnswered = true;
          core.heartbeatAnswered(world.bug.answeredSent(sent, clock()));
          told(assignment);
        },
        this::heartbeatFailed);
  }

  private void ask(
      Heartbeat beat, Consumer<Assignment> answered, Consumer<RefusedException> refused) {
    SimDispatcher dispatcher = world.dispatcherFor();
    if (dispatcher == null || !linkUp) {
      world.time.in(
          linkUp ? 1 : HEARTBEAT_TIMEOUT_MILLIS,
          this,
          null,
          () -> refused.accept(new RefusedException(Refusal.UNAVAILABLE, "no dispatcher")));
      return;
    }
    world.network.<Assignment>call(
        this,
        dispatcher,
        world.time.text(() -> "heartbeat of " + name),
        HEARTBEAT_TIMEOUT_MILLIS,
        answer -> dispatcher.heartbeat(beat, answer),
        answered,
        refused);
  }

  private void heartbeatFailed(RefusedException refused) {
    boolean retriable = refused.refusal().retriable();
    plan.failed(clock(), retriable ? Backoff.soon(random) : options.getHeartbeatMillis());
    if (refused.refusal() == Refusal.MEMBER_REPLACED
        || refused.refusal() == Refusal.GROUP_MISMATCH) {
      world.time.note(() -> name + " ends: " + refused);
      end(refused.toString());
    } else if (refused.refusal() == Refusal.UNKNOWN_TOPIC) {
      world.forgetMissingTopics(this);
    } else if (refused.refusal() == Refusal.INVALID && !leaving) {
      throw new SimulationFailure(name + " is refused: " + refused);
    }
  }

  private Heartbeat heartbeat(boolean leave) {
    Heartbeat beat =
        new Heartbeat(
            group.name(),
            member,
            instance,
            bornMillis,
            group.policy(),
            topics,
            group.start(),
            place,
            "host",
            options.getMemberTimeoutMillis(),
            options.getLockTimeMillis());
    beat = Heartbeats.with(beat, "leaving", leave);
    beat = Heartbeats.with(beat, "closing", closing);
    beat = Heartbeats.with(beat, "consumed", core.consumed());
    beat = Heartbeats.with(beat, "joining", !everAnswered);
    if (!options.getFilter().isAll()) {
      beat =
          beat.withWishes(
              new Heartbeat.Wishes(
                  null,
                  null,
                  0,
                  null,
                  null,
                  null,
                  null,
                  0,
                  options.getFilter().texts(),
                  Limits.CRASHES_MAX_DEFAULT));
    }
    return beat.withMarks(world.bug.marks(core.progress(clock()), told));
  }

  /** After so long without an answer it starts nothing. */
  long silentMillisMax() {
    return options.getMemberTimeoutMillis() - 1_000;
  }

  /** The machine is suspended: it runs nothing, and its monotonic clock stands still. */
  void suspend(long millis) {
    long until = world.time.now() + millis;
    world.time.note(() -> "the machine of " + name + " is suspended for " + millis + " ms");
    machine.suspend(until);
    world.consumers.stream()
        .filter(each -> each.machine == machine)
        .forEach(each -> each.pausedUntil = until);
  }

  /** Whether it may start handlers of that epoch now, as far as it knows. */
  boolean mayStart(Shard shard, long epoch) {
    boolean heard = everAnswered && clock() - lastAnsweredSent <= silentMillisMax();
    return heard && linkUp && !closing && owns(shard, epoch);
  }

  private boolean owns(Shard shard, long epoch) {
    return told.shards().stream()
        .anyMatch(each -> each.shard().equals(shard) && each.epoch() == epoch);
  }

  /** An assignment came, as an answer or pushed. */
  void told(Assignment assignment) {
    for (Assignment.Owned owned : assignment.shards()) {
      group.ledger().mustBeGranted(owned.shard(), owned.epoch(), instance);
    }
    if (told == null || assignment.laterThan(told.term(), told.revision())) {
      told = assignment;
    }
    core.assigned(world.bug.assigned(assignment, released), clock());
    core.paused(assignment, clock());
    turn();
  }

  /** The application changes what it subscribes to. */
  void subscribe(List<String> now) {
    topics = List.copyOf(now);
    hurry();
  }

  private void hurry() {
    if (!leaving) {
      plan.hurry(clock());
      if (linkUp) {
        beatIfDue();
      }
    }
  }

  // ---- Work

  /** Does everything that can be done now. */
  void turn() {
    if (turning || gone) {
      return;
    }
    turning = true;
    try {
      while (!gone) {
        act();
        Task task = core.next(clock());
        if (task == null) {
          break;
        }
        world.checkMayStart(this, linkUp, everAnswered, world.time.now() - lastAnsweredSentTruly);
        handler.start(task);
      }
    } finally {
      turning = false;
    }
    if (closing) {
      leaveIfDone();
    }
  }

  private void act() {
    ConsumerAction action;
    while (!gone && (action = core.poll()) != null) {
      carryOut(action);
      if (world.strikes()) {
        crash();
      }
    }
  }

  private void carryOut(ConsumerAction action) {
    if (action instanceof ConsumerAction.ReadLease read) {
      calls.readLease(read);
    } else if (action instanceof ConsumerAction.OpenPublisher open) {
      calls.open(open);
    } else if (action instanceof ConsumerAction.ReadParents read) {
      calls.readParents(read);
    } else if (action instanceof ConsumerAction.CallAssign call) {
      handler.assign(call);
    } else if (action instanceof ConsumerAction.Fetch fetch) {
      calls.fetch(fetch);
    } else if (action instanceof ConsumerAction.GiveBack back) {
      core.failed(back.task(), new GivenBackException("it has not begun"), clock());
    } else if (action instanceof ConsumerAction.FetchRetries fetch) {
      calls.fetchRetries(fetch);
    } else if (action instanceof ConsumerAction.RecordOutcomes record) {
      calls.submit(record, record.command());
    } else if (action instanceof ConsumerAction.Publish publish) {
      calls.publish(publish);
    } else if (action instanceof ConsumerAction.Commit commit) {
      calls.submit(commit, commit.command());
    } else if (action instanceof ConsumerAction.CommitPositions batch) {
      calls.commit(batch);
    } else if (action instanceof ConsumerAction.CallRelease call) {
      handler.release(call);
    } else if (action instanceof ConsumerAction.Release release) {
      released.add(release.command().epoch());
      calls.submit(release, release.command());
    } else if (action instanceof ConsumerAction.CallLost lost) {
      world.time.note(() -> name + " lost " + lost.shard());
      handler.lost(lost.shard());
    } else if (action instanceof ConsumerAction.HeartbeatNow) {
      hurry();
    } else if (action instanceof ConsumerAction.HeartbeatSoon) {
      plan.soon(clock());
    } else if (action instanceof ConsumerAction.Stop stop) {
      throw new SimulationFailure(name + " shall stop: " + stop.text());
    } else if (action instanceof ConsumerAction.Report report) {
      world.time.note(() -> name + ": " + report.text());
    }
  }

  // ---- Its connection, and its end

  void link(boolean up) {
    if (linkUp != up && !gone) {
      world.time.note(() -> name + (up ? " is connected" : " has lost its connection"));
      linkUp = up;
      core.link(up, clock());
      turn();
    }
  }

  /** It has joined the cluster afresh. */
  void rejoined() {
    place = world.newPlace(instance);
    link(true);
  }

  void close() {
    if (!closing && !gone) {
      world.time.note(() -> name + " closes");
      closing = true;
      closeDeadline = clock() + options.getLockTimeMillis();
      core.close(clock(), Long.MAX_VALUE);
      turn();
    }
  }

  private void leaveIfDone() {
    if (leaving || gone || !core.drained() && clock() < closeDeadline) {
      return;
    }
    leaving = true;
    Runnable finish = () -> end("closed");
    ask(
        heartbeat(true),
        done -> finish.run(),
        no -> ask(heartbeat(true), d -> finish.run(), n -> finish.run()));
  }

  /** Ends in its own time: nothing more is started. */
  private void end(String why) {
    core.replaced(why, clock());
    act();
    stop();
    world.ended(this);
  }

  /** From one moment to the next it is not there any more. */
  void crash() {
    if (!gone) {
      world.time.note(() -> name + " crashes");
      stop();
      world.crashed(this);
    }
  }

  private void stop() {
    gone = true;
    handler.stopped();
  }
}
