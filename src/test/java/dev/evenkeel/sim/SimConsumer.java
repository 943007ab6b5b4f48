package dev.evenkeel.sim;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.consumer.ConsumerOptions;
import dev.evenkeel.consumer.core.Action;
import dev.evenkeel.consumer.core.Backoff;
import dev.evenkeel.consumer.core.ConsumerCore;
import dev.evenkeel.consumer.core.HeartbeatPlan;
import dev.evenkeel.consumer.core.Task;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.GroupPolicy;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.StartAt;
import dev.evenkeel.wire.RetryAnswer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * One run of a member: the production core and its plan of heartbeats, with the simulation around
 * them where the shell is in life.
 */
final class SimConsumer extends Actor {
  private static final long TICK_MILLIS = 50;
  private static final long HEARTBEAT_TIMEOUT_MILLIS = 1_000;
  private static final long CONTROL_TIMEOUT_MILLIS = 3_000;
  private static final long FETCH_GRACE_MILLIS = 2_000;

  final String member;
  final String instance;
  final ConsumerCore core;
  final SimHandler handler;
  private final World world;
  private final ConsumerOptions options;
  private final HeartbeatPlan plan;
  private final SplittableRandom random;
  private final long clockOffset;
  private final long bornMillis;
  private final Map<Shard, Long> begun = new HashMap<>();
  List<String> topics;
  String place;

  /** What it was told last to own. */
  Assignment told;

  boolean closing;
  boolean linkUp = true;
  private boolean leaving;
  private boolean everAnswered;
  private boolean turning;
  private long closeDeadline;
  private long lastAnsweredSent;

  SimConsumer(World world, String member, String instance, List<String> topics) {
    super(member + "(" + instance + ")");
    this.world = world;
    this.member = member;
    this.instance = instance;
    this.topics = topics;
    random = new SplittableRandom(world.random.nextLong());
    options = world.consumerOptions().setMember(member).setTopics(topics);
    clockOffset = world.random.nextInt(1_000_000);
    bornMillis = world.time.now() + world.clockOffset();
    boolean keepsState = world.keepsState();
    core = new ConsumerCore(options, instance, keepsState, random);
    handler = new SimHandler(world, this, keepsState);
    plan = new HeartbeatPlan(options.getHeartbeatMillis(), clock());
    place = world.newPlace(instance);
    world.time.in(0, this, "starts", this::tick);
  }

  /** Its own monotonic clock. */
  long clock() {
    return world.time.now() + clockOffset;
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
    world.time.in(TICK_MILLIS, this, null, this::tick);
  }

  // ---- Heartbeats

  private void beatIfDue() {
    long sent = clock();
    if (!plan.due(sent)) {
      return;
    }
    plan.sent(sent);
    ask(
        heartbeat(false),
        assignment -> {
          plan.answered(clock());
          lastAnsweredSent = everAnswered ? Math.max(lastAnsweredSent, sent) : sent;
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
        "heartbeat of " + name,
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
    return new Heartbeat(
        World.GROUP,
        member,
        instance,
        bornMillis,
        leave,
        closing,
        GroupPolicy.SHARDED,
        topics,
        StartAt.EARLIEST,
        place,
        "host",
        core.consumed(),
        options.getMemberTimeoutMillis(),
        options.getLockTimeMillis(),
        Heartbeat.Wishes.NONE,
        core.marks(clock()));
  }

  /** An assignment came, as an answer or pushed. */
  void told(Assignment assignment) {
    for (Assignment.Owned owned : assignment.shards()) {
      world.ledger.mustBeGranted(owned.shard(), owned.epoch(), instance);
    }
    if (told == null || assignment.laterThan(told.term(), told.revision())) {
      told = assignment;
    }
    core.assigned(assignment, clock());
    turn();
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
        world.checkMayStart(this, linkUp, everAnswered, clock() - lastAnsweredSent);
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
    Action action;
    while (!gone && (action = core.poll()) != null) {
      perform(action);
      if (world.strikes()) {
        crash();
      }
    }
  }

  /** An offset of a shard was begun. */
  void noteBegun(Shard shard, long offset) {
    begun.merge(shard, offset + 1, Math::max);
  }

  private void perform(Action action) {
    if (action instanceof Action.Fetch f) {
      this.<FetchAnswer>request(
          "fetch of " + f.hold(),
          f.request().waitMillis() + FETCH_GRACE_MILLIS,
          answer -> world.brokers.of(f.hold().shard).fetch(f.request(), answer),
          answer -> core.fetched(f.hold(), f.request(), answer, clock()),
          no -> core.fetchFailed(f.hold(), f.request(), no, clock()));
    } else if (action instanceof Action.ReadLease r) {
      Shard shard = r.hold().shard;
      this.<Lease>request(
          "read of the lease of " + r.hold(),
          CONTROL_TIMEOUT_MILLIS,
          answer -> world.brokers.of(shard).readLease(World.GROUP, shard, answer),
          lease ->
              core.leaseRead(
                  r.hold(), world.bug.leaseRead(lease, begun.getOrDefault(shard, 0L)), clock()),
          no -> core.leaseFailed(r.hold(), no, clock()));
    } else if (action instanceof Action.Commit c) {
      submit(
          "commit of " + c.hold(),
          c.hold().shard,
          c.command(),
          reply -> core.committed(c.hold(), c.command().offset()),
          no -> core.commitFailed(c.hold(), no, clock()));
    } else if (action instanceof Action.RecordOutcomes r) {
      submit(
          "outcomes of " + r.hold(),
          r.hold().shard,
          r.command(),
          reply ->
              core.recorded(r.hold(), r.command(), ((Reply.OfOffsets) reply).offsets(), clock()),
          no -> core.recordFailed(r.hold(), r.command(), no, clock()));
    } else if (action instanceof Action.FetchRetries f) {
      this.<RetryAnswer>request(
          "retries of " + f.hold(),
          CONTROL_TIMEOUT_MILLIS,
          answer -> world.brokers.of(f.hold().shard).fetchRetries(f.request(), answer),
          answer -> core.retriesFetched(f.hold(), f.request(), answer, clock()),
          no -> core.retriesFailed(f.hold(), f.request(), no, clock()));
    } else if (action instanceof Action.Release r) {
      submit(
          "release of " + r.hold(),
          r.hold().shard,
          r.command(),
          reply -> core.released(r.hold()),
          no -> core.releaseFailed(r.hold(), no, clock()));
    } else if (action instanceof Action.CallAssign a) {
      handler.assign(a);
    } else if (action instanceof Action.CallRelease r) {
      handler.release(r);
    } else if (action instanceof Action.CallLost l) {
      world.time.note(() -> name + " lost " + l.shard());
    } else if (action instanceof Action.HeartbeatNow) {
      hurry();
    } else if (action instanceof Action.HeartbeatSoon) {
      plan.soon(clock());
    } else if (action instanceof Action.Report report) {
      world.time.note(() -> name + ": " + report.text());
    }
  }

  private void submit(
      String what,
      Shard shard,
      DataCommand command,
      Consumer<Reply> done,
      Consumer<RefusedException> failed) {
    this.<Reply>request(
        what,
        CONTROL_TIMEOUT_MILLIS,
        answer -> world.brokers.of(shard).submit(World.GROUP, shard, command, instance, answer),
        reply -> {
          if (reply instanceof Reply.Refused refused) {
            failed.accept(refused.exception());
          } else {
            done.accept(reply);
          }
        },
        failed);
  }

  private <T> void request(
      String what,
      long timeoutMillis,
      Network.Server<T> server,
      Consumer<T> answered,
      Consumer<RefusedException> refused) {
    world.network.<T>call(
        this,
        null,
        what,
        timeoutMillis,
        linkUp ? server : Network.Answer::never,
        value -> {
          answered.accept(value);
          turn();
        },
        no -> {
          refused.accept(no);
          turn();
        });
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
      core.close(clock());
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
