package dev.evenkeel.consumer;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.consumer.core.Action;
import dev.evenkeel.consumer.core.ConsumerCore;
import dev.evenkeel.consumer.core.Task;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer at work: carries out what {@link ConsumerCore} wants and tells it what came of it. All
 * of it happens on one context.
 *
 * <p>A handler that is over when it returns costs no hop and no timer: messages are taken in a
 * loop, which gives the event loop back after {@link #TURN_MESSAGES_MAX} messages or {@link
 * #TURN_NANOS_MAX}.
 */
final class ConsumerShell implements Consumer, HeartbeatLoop.Listener, ActionRunner.Surroundings {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /** Messages that are handled before the event loop gets its turn. */
  private static final int TURN_MESSAGES_MAX = 1_000;

  private static final long TURN_NANOS_MAX = 5_000_000;

  /** How often what waits for its time is looked at. */
  private static final long TICK_MILLIS = 50;

  private static final long START_MILLIS_MAX = 60_000;

  private final Link link;
  private final ClusterDirectory directory;
  private final ConsumerOptions options;
  private final ConsumerHandler handler;
  private final String instance;
  private final String host;
  private final long bornMillis = System.currentTimeMillis();
  private final ContextInternal context;
  private final ConsumerCore core;
  private final ActionRunner actions;
  private final HeartbeatLoop heartbeats;
  private final Promise<Consumer> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();

  /** What the link calls; emptied at the end, because the link keeps its handlers. */
  private final AtomicReference<java.util.function.Consumer<Link.State>> onLinkState =
      new AtomicReference<>();

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
  private boolean turnScheduled;
  private Throwable end;
  private String lastRefusal;
  private Handler<Throwable> endHandler;
  private Handler<Integer> assignmentHandler;

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
    this.handler = handler;
    this.instance = instance;
    this.host = host;
    context = context(link.vertx());
    SplittableRandom random = new SplittableRandom();
    core = new ConsumerCore(options, instance, handler.keepsState(), random);
    ShardCalls calls = new ShardCalls(link, directory, options.getGroup());
    actions = new ActionRunner(core, calls, handler, this);
    heartbeats =
        new HeartbeatLoop(
            link, directory, options.getHeartbeatMillis(), random, this, this::onContext);
  }

  private static ContextInternal context(Vertx vertx) {
    Context current = Vertx.currentContext();
    return current != null && current.isEventLoopContext() && current.owner() == vertx
        ? ((ContextInternal) current).unwrap()
        : ((VertxInternal) vertx).createEventLoopContext();
  }

  Future<Consumer> start() {
    onContext(
        () -> {
          startDeadlineMillis = Clock.millis() + START_MILLIS_MAX;
          onLinkState.set(state -> onContext(() -> linkState(state)));
          AtomicReference<java.util.function.Consumer<Link.State>> relay = onLinkState;
          link.onState(
              state -> {
                java.util.function.Consumer<Link.State> target = relay.get();
                if (target != null) {
                  target.accept(state);
                }
              });
          linkState(link.state());
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
    if (context.isRunningOnContext() || isOurs(ContextInternal.current())) {
      action.run();
    } else {
      context.runOnContext(ignored -> action.run());
    }
  }

  /** Also a duplicate of our context runs on its event loop. */
  private boolean isOurs(ContextInternal current) {
    return current != null && current.unwrap() == context && current.inThread();
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
      long begin = System.nanoTime();
      long now = begin;
      int messages = 0;
      while (!ended) {
        Action action;
        while ((action = core.poll()) != null) {
          actions.perform(action);
        }
        Task task = core.next(now / 1_000_000);
        if (task == null) {
          break;
        }
        handle(task);
        now = System.nanoTime();
        if (++messages >= TURN_MESSAGES_MAX || now - begin >= TURN_NANOS_MAX) {
          scheduleTurn();
          break;
        }
      }
      consumed = core.consumed();
    } finally {
      turning = false;
    }
    if (closing) {
      leaveIfDone();
    }
  }

  private void scheduleTurn() {
    if (!turnScheduled) {
      turnScheduled = true;
      context.runOnContext(
          ignored -> {
            turnScheduled = false;
            turn();
          });
    }
  }

  private void handle(Task task) {
    Future<Void> result;
    try {
      result = handler.handle(task.delivery(options.getMember()));
    } catch (Throwable e) {
      done(task, e);
      return;
    }
    if (result == null) {
      done(task, new NullPointerException("the handler returned null instead of a future"));
    } else if (result.isComplete()) {
      done(task, result.cause());
    } else {
      result.onComplete(
          ended ->
              onContext(
                  () -> {
                    done(task, ended.cause());
                    turn();
                  }));
    }
  }

  private void done(Task task, Throwable failure) {
    if (failure == null) {
      core.finished(task, Clock.millis());
    } else {
      core.failed(task, failure, Clock.millis());
    }
  }

  // Shards

  @Override
  public void ownedChanged(int now) {
    owned = now;
    if (assignmentHandler != null) {
      actions.safely("the assignment handler", () -> assignmentHandler.handle(now));
    }
  }

  @Override
  public void heartbeatNow() {
    // After the last one, another would bring the member back.
    if (!leaving) {
      heartbeats.hurry();
    }
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
        options.getLockTimeMillis());
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
    core.replaced(String.valueOf(cause.getMessage()));
    Action action;
    while ((action = core.poll()) != null) {
      actions.perform(action);
    }
    stop();
    if (!started.tryFail(cause)) {
      LOG.warn("{} has ended: {}", this, cause.toString());
      end = cause;
      if (endHandler != null) {
        actions.safely("the end handler", () -> endHandler.handle(cause));
      }
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
            core.close(now);
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
      core.replaced("the consumer was closed");
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
    onLinkState.set(null);
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
    onContext(
        () -> {
          endHandler = handler;
          if (end != null && handler != null) {
            actions.safely("the end handler", () -> handler.handle(end));
          }
        });
    return this;
  }

  @Override
  public Consumer onAssignment(Handler<Integer> handler) {
    onContext(
        () -> {
          assignmentHandler = handler;
          if (handler != null && core.owned() > 0) {
            actions.safely("the assignment handler", () -> handler.handle(core.owned()));
          }
        });
    return this;
  }

  @Override
  public String toString() {
    return "consumer " + options.getGroup() + "/" + options.getMember();
  }
}
