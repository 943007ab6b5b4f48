package dev.evenkeel.consumer;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.consumer.core.Action;
import dev.evenkeel.consumer.core.ConsumerCore;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.SplittableRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer at work: carries out what {@link ConsumerCore} wants and tells it what came of it. All
 * of it happens on one context.
 */
final class ConsumerShell implements Consumer, HeartbeatLoop.Listener, ActionRunner.Surroundings {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /** How often what waits for its time is looked at. */
  private static final long TICK_MILLIS = 50;

  private static final long START_MILLIS_MAX = 60_000;

  private final Link link;
  private final ClusterDirectory directory;
  private final ConsumerOptions options;
  private final String instance;
  private final String host;
  private final long bornMillis = System.currentTimeMillis();
  private final OwnContext context;
  private final ConsumerCore core;
  private final ActionRunner actions;
  private final HeartbeatLoop heartbeats;
  private final MessageLoop messages;
  private final ApplicationEvents events;
  private final Promise<Consumer> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();

  private LinkRelay linkStates;
  private Link.Listening pushes;
  private long ticker = -1;
  private long startDeadlineMillis;
  private long closeDeadlineMillis;
  private long lostSinceMillis;
  private boolean linkLost;
  private boolean closing;
  private boolean leaving;
  private boolean ended;
  private boolean turning;
  private String lastRefusal;

  /** Read from any thread. */
  private volatile int owned;

  private volatile long consumed;

  ConsumerShell(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      ConsumerHandler handler,
      String instance,
      String host) {
    this.link = link;
    this.directory = directory;
    this.options = options;
    this.instance = instance;
    this.host = host;
    context = new OwnContext(link.vertx());
    SplittableRandom random = new SplittableRandom();
    core = new ConsumerCore(options, instance, handler.keepsState(), handler.givesState(), random);
    ShardCalls calls = new ShardCalls(link, directory, options.getGroup());
    actions = new ActionRunner(core, calls, handler, this);
    messages = new MessageLoop(core, handler, options.getMember(), context, this::turn);
    events = new ApplicationEvents(actions::safely);
    heartbeats =
        new HeartbeatLoop(
            link, directory, options.getHeartbeatMillis(), random, this, this::onContext);
  }

  Future<Consumer> start() {
    onContext(
        () -> {
          startDeadlineMillis = Clock.millis() + START_MILLIS_MAX;
          linkStates = LinkRelay.of(link, state -> onContext(() -> linkState(state)));
          linkState(link.state());
          if (ended) {
            return;
          }
          pushes = link.listen(Addresses.member(instance), body -> onContext(() -> pushed(body)));
          ticker = link.vertx().setPeriodic(TICK_MILLIS, id -> onContext(this::tick));
          // Whoever pushes must find somebody who listens; a heartbeat says where.
          pushes
              .registered()
              .onComplete(
                  done -> directory.view().onComplete(view -> onContext(heartbeats::hurry)));
        });
    return started.future();
  }

  /** Runs {@code action} on the consumer's context: now if this is it. */
  @Override
  public void onContext(Runnable action) {
    context.run(action);
  }

  // Messages

  /** Does everything that can be done now. */
  @Override
  public void turn() {
    if (turning || ended) {
      return;
    }
    turning = true;
    try {
      messages.run(this::act);
      consumed = core.consumed();
    } finally {
      turning = false;
    }
    if (closing) {
      leaveIfDone();
    }
  }

  /** Carries out what the core wants; false once the consumer has ended. */
  private boolean act() {
    Action action;
    while (!ended && (action = core.poll()) != null) {
      actions.perform(action);
    }
    return !ended;
  }

  // Shards

  @Override
  public void ownedChanged(int now) {
    owned = now;
    events.assigned(now);
  }

  @Override
  public void heartbeatNow() {
    // After the last one, another would bring the member back.
    if (!leaving) {
      heartbeats.hurry();
    }
  }

  @Override
  public void heartbeatSoon() {
    heartbeats.soon();
  }

  // Membership

  @Override
  public Heartbeat heartbeat(boolean leave) {
    return new Heartbeat(
        options.getGroup(),
        options.getMember(),
        instance,
        bornMillis,
        leave,
        closing,
        "sharded",
        options.getTopics(),
        options.getStart(),
        link.clusterMember(),
        host,
        core.consumed(),
        options.getMemberTimeoutMillis(),
        options.getLockTimeMillis(),
        new Heartbeat.Wishes(
            options.getAssignor(),
            options.getStuckTimeoutMillis(),
            options.getCrashLockTimeMillis()),
        core.marks(Clock.millis()));
  }

  @Override
  public void answered(long sentMillis, Assignment assignment) {
    if (ended) {
      return;
    }
    core.heartbeatAnswered(sentMillis);
    core.assigned(assignment, Clock.millis());
    started.tryComplete(this);
    turn();
  }

  @Override
  public void refused(RefusedException refused) {
    boolean fatal =
        refused.refusal() == Refusal.MEMBER_REPLACED || refused.refusal() == Refusal.GROUP_MISMATCH;
    if (fatal || !started.future().isComplete()) {
      endBecause(refused);
    } else if (!leaving && !refused.toString().equals(lastRefusal)) {
      lastRefusal = refused.toString();
      LOG.error("{}: its heartbeat is refused, it is repeated: {}", this, lastRefusal);
    }
  }

  private void pushed(Buffer body) {
    if (ended) {
      return;
    }
    try {
      core.assigned(Assignment.fromJson(new JsonObject(body)), Clock.millis());
    } catch (RuntimeException e) {
      LOG.warn("{}: a malformed assignment was pushed: {}", this, e.toString());
    }
    turn();
  }

  private void linkState(Link.State state) {
    if (ended) {
      return;
    }
    boolean up = state == Link.State.CONNECTED;
    if (!up && !linkLost) {
      lostSinceMillis = Clock.millis();
    }
    linkLost = !up;
    core.link(up, Clock.millis());
    turn();
    if (state == Link.State.CLOSED) {
      endBecause(new RefusedException(Refusal.UNAVAILABLE, "the connection was closed"));
    }
  }

  private void tick() {
    if (ended) {
      return;
    }
    long now = Clock.millis();
    if (!started.future().isComplete() && now >= startDeadlineMillis) {
      endBecause(
          new RefusedException(
              Refusal.UNAVAILABLE,
              "no dispatcher answered within " + START_MILLIS_MAX / 1000 + " s"));
      return;
    }
    actions.checkLeaders();
    core.tick(now);
    if (!linkLost && !leaving) {
      heartbeats.tick();
    }
    turn();
  }

  // Ends

  /** Ends against its own will: nothing is released. */
  private void endBecause(Throwable cause) {
    if (ended) {
      return;
    }
    core.replaced(String.valueOf(cause.getMessage()), Clock.millis());
    Action action;
    while ((action = core.poll()) != null) {
      actions.perform(action);
    }
    stop();
    if (!started.tryFail(cause)) {
      LOG.warn("{} has ended: {}", this, cause.toString());
      events.ended(cause);
    }
    closed.tryComplete();
  }

  @Override
  public Future<Void> close() {
    return close(options.getLockTimeMillis());
  }

  @Override
  public Future<Void> close(long timeoutMillis) {
    onContext(
        () -> {
          long now = Clock.millis();
          long deadline = now + Math.min(timeoutMillis, options.getLockTimeMillis());
          closeDeadlineMillis = closing ? Math.min(deadline, closeDeadlineMillis) : deadline;
          if (!closing && !ended) {
            closing = true;
            core.close(now, timeoutMillis);
          }
          turn();
        });
    return closed.future();
  }

  private void leaveIfDone() {
    long now = Clock.millis();
    boolean givenUp =
        now >= closeDeadlineMillis
            // Without a connection nothing can be released, and by now we count as dead.
            || linkLost
                && core.running() == 0
                && now - lostSinceMillis >= options.getMemberTimeoutMillis();
    if (leaving || ended || !core.drained() && !givenUp) {
      return;
    }
    leaving = true;
    if (!core.drained()) {
      LOG.warn("{}: closed with {} shards that could not be released", this, core.owned());
    }
    heartbeats.leave().onComplete(done -> onContext(this::finishClose));
  }

  private void finishClose() {
    if (!ended) {
      core.replaced("the consumer was closed", Clock.millis());
      Action action;
      while ((action = core.poll()) != null) {
        actions.perform(action);
      }
      stop();
    }
    closed.tryComplete();
  }

  private void stop() {
    ended = true;
    consumed = core.consumed();
    owned = 0;
    if (linkStates != null) {
      linkStates.end();
    }
    if (ticker >= 0) {
      link.vertx().cancelTimer(ticker);
    }
    if (pushes != null) {
      pushes.end();
    }
  }

  // For the application

  @Override
  public String member() {
    return options.getMember();
  }

  @Override
  public int ownedShards() {
    return owned;
  }

  @Override
  public long consumed() {
    return consumed;
  }

  @Override
  public void pause() {
    onContext(() -> core.pause(true, Clock.millis()));
  }

  @Override
  public void resume() {
    onContext(
        () -> {
          core.pause(false, Clock.millis());
          turn();
        });
  }

  @Override
  public Consumer onEnd(Handler<Throwable> handler) {
    onContext(() -> events.onEnd(handler));
    return this;
  }

  @Override
  public Consumer onAssignment(Handler<Integer> handler) {
    onContext(() -> events.onAssignment(handler, core.owned()));
    return this;
  }

  @Override
  public String toString() {
    return "consumer " + options.getGroup() + "/" + options.getMember();
  }
}
